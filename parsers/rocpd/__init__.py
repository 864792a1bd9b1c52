"""rocpd: the SQLite databases that rocprofv3 (from ROCm 7) and rocprof-sys write.

A file becomes readings in steps, each a module that knows only the ones before:

    ``sqlite_file``: a connection -> ``layout``: its tables -> ``environment``: ranks
    -> ``info``: processes, devices, names -> ``select``: SQL -> ``sqlite_fetch``: columns
    -> ``rows``: activities and calls, ``arguments``: of RCCL -> ``reader``: one Reading a process

Of the environment in ``rocpd_info_process`` only variables that tell the rank are ever selected:
see ``environment``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.opening import Source, read_head
from commscope.parsers.rocpd.reader import read_rocpd
from commscope.parsers.sqlite_file import MAGIC

_TABLES = re.compile(rb"rocpd_(?:kernel_dispatch|memory_copy|region|string|info_[a-z])")
_HEAD_BYTES = 64 << 10
#: As far as a large schema, of which the first pages may not name a table, is looked at.
_FAR_BYTES = 1 << 20


class RocpdParser:
    """Reads rocpd databases of any schema version that has its views."""

    name = "rocpd"
    description = "rocpd database (SQLite) of rocprofv3 or rocprof-sys"
    suffixes = ("_results.db",)

    def match(self, head: bytes, source: Source) -> Match:
        """Judges by the names of the tables."""
        if not head.startswith(MAGIC):
            return Match(Confidence.NONE, "is no SQLite database")
        if _names_tables(source, head):
            return Match(Confidence.MARKER, "is an SQLite database with rocpd's tables")
        if source.label.removesuffix(".gz").endswith(self.suffixes):
            return Match(Confidence.NAME, "is named like a rocpd database")
        return Match(Confidence.NONE, "is an SQLite database without rocpd's tables")

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """One reading a process."""
        return read_rocpd(source, progress)


def _names_tables(source: Source, head: bytes) -> bool:
    """Whether the begin of the file names a table of rocpd."""
    if not _TABLES.search(head) and len(head) >= _HEAD_BYTES:
        head = read_head(source, _FAR_BYTES)
    return _TABLES.search(head) is not None
