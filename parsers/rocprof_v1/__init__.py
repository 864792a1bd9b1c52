"""rocprof (version 1): results.csv, results.json and results.db, three views of one run.

``csv`` has kernels only, ``json`` no launches, ``db`` all; of files of one name the one that tells
most is read. Files of sums (``*.stats.csv``) and of facts on the machine are recognised and
passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.counter_names import counters_of_rocprof
from commscope.parsers.csv_columns import counters_in, header_of
from commscope.parsers.opening import Source
from commscope.parsers.rocprof_v1.reader import KERNEL_COLUMNS, is_database, is_json, read_run

_STATS = ["Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage"]
_SYSTEM = b"CMD: rocminfo\n"
_ENDING = re.compile(r"\.(?:csv|json|db)(?:\.(?:gz|bz2|xz|zst))?$")


class RocprofV1Parser:
    """Reads what rocprof wrote before ROCm 6.2, and after if asked for."""

    name = "rocprof_v1"
    description = "rocprof (v1) csv, json or database"
    suffixes = ("results.csv", "results.json", "results.db")

    def match(self, head: bytes, source: Source) -> Match:  # noqa: ARG002
        """Judges by the columns, keys or tables that only rocprof has."""
        names = header_of(head)
        if names == _STATS:
            return Match(
                Confidence.MARKER, "has the columns of rocprof's sums",
                unread="sums of calls or kernels, no timeline",
            )  # fmt: skip
        if head.startswith(_SYSTEM):
            says = "facts on the machine (rocminfo), no timeline"
            return Match(Confidence.MARKER, "begins as rocprof's facts on the machine do", says)
        if set(names) >= KERNEL_COLUMNS:
            # While counters are read, kernels run one by one.
            counted = counters_in(names) or counters_of_rocprof(names)
            unread = "counters of kernels, no timeline" if counted else None
            return Match(Confidence.MARKER, "has the columns of rocprof's kernels", unread)
        if is_json(head):
            return Match(Confidence.MARKER, "has the sections of rocprof's JSON")
        if is_database(head):
            return Match(Confidence.MARKER, "is an SQLite database with rocprof's tables")
        return Match(Confidence.NONE, "has nothing of rocprof's files")

    def group(self, source: Source) -> str:
        """The name without what tells the view."""
        path = PurePosixPath(source.label)
        return str(path.with_name(_ENDING.sub("", path.name)))

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """One reading a run."""
        yield read_run(source, progress)
