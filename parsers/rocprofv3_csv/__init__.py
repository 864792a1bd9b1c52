"""The csv files of rocprofv3: several a process, in all generations of their columns.

Files become a reading in steps, each a module that knows only the ones before:

    ``files``: what a file is -> ``table``: its rows, ``mending`` what is damaged -> ``separate``:
    what belongs together -> ``rows``: activities and calls -> ``reader``: one Reading a process
"""

from __future__ import annotations

from collections.abc import Iterable

from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.opening import Source
from commscope.parsers.rocprofv3_csv.files import group_of, header_of, kind_of
from commscope.parsers.rocprofv3_csv.reader import read_group
from commscope.parsers.rocprofv3_csv.table import FORMAT


class RocprofV3CsvParser:
    """Reads the traces that ``rocprofv3 --output-format csv`` and ``rocpd convert`` write."""

    name = FORMAT
    description = "rocprofv3 csv files, those of a process together"
    suffixes = ("_kernel_trace.csv", "_memory_copy_trace.csv", "_api_trace.csv", "_agent_info.csv")

    def match(self, head: bytes, source: Source) -> Match:
        """Judges by the names of the columns."""
        kind = kind_of(header_of(head) or [])
        if kind is not None and kind.is_read:
            return Match(Confidence.MARKER, f"has the columns of rocprofv3's {kind.what}")
        if kind is not None:
            return Match(Confidence.MARKER, "has columns of rocprofv3", unread=kind.what)
        if source.label.removesuffix(".gz").endswith(self.suffixes):
            return Match(Confidence.NAME, "is named like a csv file of rocprofv3")
        return Match(Confidence.NONE, "has no columns of rocprofv3")

    def group(self, source: Source) -> str:
        """What the names of the files of one process begin with."""
        return group_of(source)

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """One reading a process."""
        return read_group(source, progress)
