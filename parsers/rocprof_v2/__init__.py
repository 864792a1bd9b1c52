"""rocprofv2: one csv file a domain and process, kernels, copies, calls and ranges.

The files of a process are told together by the number of the process in their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.csv_columns import counters_in, header_of
from commscope.parsers.opening import Source
from commscope.parsers.rocprof_v2.files import COUNTERS, KERNELS, NO_COUNTERS, kind_of
from commscope.parsers.rocprof_v2.reader import read_process

_PROCESS = re.compile(r"_(\d{1,10})\.csv(?:\.(?:gz|bz2|xz|zst))?$")


class RocprofV2Parser:
    """Reads the csv files that rocprofv2 wrote on ROCm 5.7 to 6.x."""

    name = "rocprof_v2"
    description = "rocprofv2 csv"
    suffixes = ()

    def match(self, head: bytes, source: Source) -> Match:  # noqa: ARG002
        """Judges by the columns."""
        names = header_of(head)
        kind = kind_of(names)
        if kind is None:
            return Match(Confidence.NONE, "has no columns of rocprofv2")
        has_counters = kind.what == KERNELS and bool(counters_in(names) - NO_COUNTERS)
        unread = COUNTERS if has_counters else kind.unread
        # Not sure: omniperf collects its counters in files with the same columns.
        return Match(Confidence.STRUCTURE, f"has the columns of rocprofv2's {kind.what}", unread)

    def group(self, source: Source) -> str:
        """The folder and the process; the file itself where its name tells none."""
        path = PurePosixPath(source.label)
        found = _PROCESS.search(path.name)
        return str(path.parent / found[1]) if found else source.label

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """One reading a process."""
        yield read_process(source, progress)
