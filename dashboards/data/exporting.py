"""A selection as a file: its activities as a table, or all of it for Perfetto."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import rows_among
from commscope.classify import ActivityClass
from commscope.columns import NONE, Bool, Int64, at, int64, with_column
from commscope.convert.chrome import Document, write_chrome
from commscope.convert.tables import write_table
from commscope.dashboards.data.archive import Archive
from commscope.dashboards.data.checks import require
from commscope.dashboards.data.events import EventBook
from commscope.trace import SourceFile, Trace

KINDS = ("csv", "parquet", "perfetto")
_GZIP_LEVEL = 6
_NEVER = int(np.iinfo(np.int64).max)
#: By rank (an index), begin and end on its clock.
_Windows = dict[int, tuple[int, int]]
_CLASS_WORDS = [kind.name.lower() for kind in ActivityClass]
_SHOWN = (
    "rank",
    "device",
    "stream",
    "queue",
    "kind",
    "name",
    "correlation",
    "step",
    "bytes",
    "workgroups",
)


@dataclass(frozen=True, slots=True)
class Exporter:
    """What is written besides the activities and calls, which the book has packed."""

    ranks: pa.Table
    files: tuple[SourceFile, ...]
    collectives: Archive
    book: EventBook

    @classmethod
    def of(cls, trace: Trace, book: EventBook) -> Exporter:
        """Keeps what is small of a trace."""
        return cls(trace.ranks, trace.files, Archive.of(trace.collectives), book)

    def file(self, window: tuple[int, int], ranks: Sequence[int], kind: str) -> tuple[str, bytes]:
        """Name and content; UsageError where nothing runs in the window, or for another kind."""
        require(kind in KINDS, f"kind {kind!r}: one of {', '.join(KINDS)}")
        t0, t1 = window
        windows = {
            r: (self.book.clocks[r].own_time(t0), self.book.clocks[r].own_time(t1)) for r in ranks
        }
        rows = self._rows(windows, _CLASS_WORDS)
        require(len(rows) > 0, "no activity of these ranks runs in this window")
        events = self.book.events.take(rows)
        if kind == "perfetto":
            return f"selection_{t0}_{t1}.json.gz", self._perfetto(events, rows, windows)
        return f"selection_{t0}_{t1}.{kind}", self._table(events, kind)

    def _rows(self, windows: _Windows, kinds: Sequence[str]) -> Int64:
        """The rows in the table of lanes of some kinds, of what runs in the windows."""
        found = [
            lane.events.source[lane.places(lane.running(*windows[lane.rank]))].astype(np.int64)
            for lane in self.book.lanes
            if lane.rank in windows and lane.kind in kinds
        ]
        return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)

    def _table(self, events: pa.Table, kind: str) -> bytes:
        """The activities, with times since the origin on the common clock."""
        words = pa.DictionaryArray.from_arrays(
            pa.array(int64(events, "class").astype(np.int32)), pa.array(_CLASS_WORDS)
        )
        table = events.select(_SHOWN).append_column("start_ns", pa.array(self._common(events)))
        table = table.append_column("dur_ns", events.column("dur_ns"))
        sink = io.BytesIO()
        write_table(table.append_column("class", words), sink, kind)
        return sink.getvalue()

    def _common(self, events: pa.Table) -> Int64:
        rank, start = int64(events, "rank"), int64(events, "start_ns") - self.book.origin
        for number, clock in zip(self.book.ranks, self.book.clocks):
            mine = rank == number
            start[mine] = clock.to_common(start[mine])
        return start

    def _perfetto(self, events: pa.Table, rows: Int64, windows: _Windows) -> bytes:
        numbers = [self.book.ranks[rank] for rank in windows]
        document = Document(
            events=events.drop_columns(["class"]),
            host=self._calls(events, windows),
            collectives=self._collectives(rows),
            ranks=self.ranks.filter(pa.array(np.isin(int64(self.ranks, "rank"), numbers))),
            files=self.files,
        )
        sink = io.BytesIO()
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, sink, mtime=0) as packed:
            write_chrome(document, packed)
        return sink.getvalue()

    def _calls(self, events: pa.Table, windows: _Windows) -> pa.Table:
        """The calls that run in the windows, and those that launched one of the activities."""
        launch = int64(events, "launch_ns")
        first = int(launch[launch != NONE].min(initial=_NEVER)) - self.book.origin
        earlier = {rank: (min(start, first), end) for rank, (start, end) in windows.items()}
        host = self.book.host.take(self._rows(earlier, ("thread",)))
        runs = np.zeros(host.num_rows, np.bool_)
        rank, start = int64(host, "rank"), int64(host, "start_ns") - self.book.origin
        for number, (begin, _) in windows.items():
            runs |= (rank == self.book.ranks[number]) & (start + int64(host, "dur_ns") > begin)
        return host.filter(pa.array(runs | _with_correlation(host, events)))

    def _collectives(self, rows: Int64) -> pa.Table:
        """The collectives of these events, which are in order, as they are numbered now."""
        table = self.collectives.whole()
        place = np.searchsorted(rows, int64(table, "event"))
        kept = at(rows, np.where(place < len(rows), place, -1), -1) == int64(table, "event")
        return with_column(table.filter(pa.array(kept)), "event", pa.array(place[kept]))


def _with_correlation(host: pa.Table, events: pa.Table) -> Bool:
    """Which calls launched one of these activities."""
    keys = [[int64(table, name) for name in ("rank", "correlation")] for table in (host, events)]
    return np.asarray((keys[0][1] != NONE) & rows_among(*keys))
