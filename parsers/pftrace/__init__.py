"""Perfetto traces (protobuf) that rocprofv3, rocprof-sys and omnitrace write.

Bytes become tables in steps, each a module that knows only the ones before:

    ``walk``, ``packets``: blocks of whole packets -> ``compressed``: the packets inside of others
    -> ``wire``, ``scan``: their fields, in NumPy -> ``state``: what they mean (``interning``,
    ``clocks``, tracks) -> ``events``, ``annotations``: columns -> ``slices``: begins with their
    ends -> ``rows`` -> ``reader``: Reading

Most packets are of few ``shapes``; those of one are read as one of the ``groups``, the others
field by field, with the same result. ``schema`` declares the messages. The few packets that change
what others mean are read by the protobuf library; the millions of events are not, as that makes an
object of every value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.opening import Source
from commscope.parsers.pftrace.packets import begins_with_packets
from commscope.parsers.pftrace.reader import read_pftrace

#: Words of AMD's profilers: categories of events and names of their tracks.
_MARKER = re.compile(
    rb"kernel_dispatch|hip_api|hsa_api|marker_api|rccl_api|rocm_|rocprof|omnitrace|HIP Activity|"
    rb"THREAD \d+ \(\d+\)|STREAM \["
)
#: As many packets in a row are not there by accident.
_SURE_PACKETS = 3


class PftraceParser:
    """Reads Perfetto traces with the categories of AMD's profilers."""

    name = "pftrace"
    description = "Perfetto trace (protobuf) of rocprofv3 or rocprof-sys"
    suffixes = (".pftrace", ".perfetto-trace")

    def match(self, head: bytes, source: Source) -> Match:
        """Judges by the packets that the file begins with, and the words in them."""
        is_named = source.label.removesuffix(".gz").endswith((*self.suffixes, ".proto"))
        if not begins_with_packets(head, _SURE_PACKETS):
            confidence = Confidence.NAME if is_named else Confidence.NONE
            return Match(confidence, "does not begin with Perfetto packets")
        if _MARKER.search(head):
            return Match(Confidence.MARKER, "is a Perfetto trace with AMD's categories")
        if is_named:
            return Match(Confidence.STRUCTURE, "begins with Perfetto packets and is named so")
        return Match(Confidence.NONE, "has none of the categories of AMD's profilers")

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """One reading a file."""
        yield read_pftrace(source, progress)
