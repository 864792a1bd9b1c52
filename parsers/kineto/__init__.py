"""The PyTorch profiler's (Kineto) JSON.

Bytes become tables in steps, each a module that knows only the one before:

    blocks -> ``chunks``: whole events -> ``decode``: needed ones -> ``tables``: columns -> Reading

``decode`` has three ways through a chunk, each falling back on the next: ``scan`` finds the needed
events by the file's own ``layout`` and decodes only those; all are decoded; or ``tolerant`` goes
event by event through damage, ``mending`` what it can and counting what it loses.

The seam is ``decode_chunk(chunk, layout, is_final) -> Decoded`` on one side, ``TableBuilder.add``
on the other: a compiled scanner that fills column batches takes the place of what lies between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.kineto.reader import read_kineto
from commscope.parsers.opening import Source

_MARKER = re.compile(
    rb'"(?:schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:'
)
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')
_CATEGORY = re.compile(
    rb'"cat"\s*:\s*"(?:kernel|cpu_op|cuda_runtime|gpu_memcpy|user_annotation|Kernel|Operator|'
    rb'Runtime|python_function)"'
)
_EVENT = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\[\s*\{[^{}]*"(?:ph|ts)"\s*:')


class KinetoParser:
    """Reads traces that ``torch.profiler`` exports on ROCm and CUDA."""

    name = "kineto"
    description = "PyTorch profiler (Kineto) JSON, ROCm and CUDA"
    suffixes = (".pt.trace.json",)

    def match(self, head: bytes, source: Source) -> Match:
        """Judges by the keys of the document and the categories of the first events."""
        events, marker, category = (p.search(head) for p in (_EVENTS, _MARKER, _CATEGORY))
        if events and (marker or category):
            return Match(Confidence.MARKER, "has traceEvents with the PyTorch profiler's keys")
        if _EVENT.search(head) and category:
            return Match(Confidence.STRUCTURE, "is a bare array of PyTorch profiler events")
        if events or (marker and head.lstrip().startswith(b"{")):
            return Match(Confidence.STRUCTURE, "is a JSON document with traceEvents or its header")
        if source.label.removesuffix(".gz").endswith(self.suffixes):
            return Match(Confidence.NAME, "is named like a PyTorch profiler trace")
        return Match(Confidence.NONE, "no traceEvents and no PyTorch profiler categories")

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """One reading a file; a merged file holds the rank of each row in it."""
        yield read_kineto(source, progress)
