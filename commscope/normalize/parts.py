"""One rank's share of one file: what ranks are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.columns import NONE, Bool, Int64, int64, with_column
from commscope.normalize.impossible import LATEST_NS, is_impossible
from commscope.parsers.base import Facts, Reading

#: Ranks are stored as int32.
MOST_RANKS = 2**31
#: No job is larger: a file that says so is damaged, or means harm.
MOST_BELIEVED = 2**24


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one process, as parsed; ``collectives.event`` is a row of ``events``."""

    events: pa.Table
    host: pa.Table
    collectives: pa.Table


@dataclass(frozen=True, slots=True)
class Part:
    """What one file says of one rank."""

    rank: int
    rank_source: str  #: given, metadata, records, file or assumed
    device: int
    reading: Reading
    tables: Tables

    @property
    def file(self) -> str:
        """The file's name, as shown."""
        return self.reading.input.file

    @property
    def base_ns(self) -> int:
        """What to add to its times for the wall clock: 0 where that cannot be true."""
        base = self.reading.facts.base_ns
        return base if is_base(base) else 0

    def has_activity(self) -> bool:
        """Whether any activity has a possible time and a length."""
        return bool((self._possible() & (int64(self.tables.events, "dur_ns") > 0)).any())

    def span_ns(self) -> tuple[int, int]:
        """First start and last end of its activities, on the wall clock if the file has one."""
        possible = self._possible()
        start = int64(self.tables.events, "start_ns")[possible]
        end = start + int64(self.tables.events, "dur_ns")[possible]
        return int(start.min()) + self.base_ns, int(end.max()) + self.base_ns

    def _possible(self) -> Bool:
        events = self.tables.events
        return ~is_impossible(int64(events, "start_ns"), int64(events, "dur_ns"))


def is_base(base_ns: int) -> bool:
    """Whether this can be the base of a file's times."""
    return -LATEST_NS <= base_ns <= LATEST_NS


def known_rank(value: int | None) -> int | None:
    """A rank that a file tells, null where none can have that number."""
    return value if value is not None and 0 <= value < MOST_RANKS else None


def world_size(facts: Facts) -> int | None:
    """The size of the job that a file tells, null where no job has that size."""
    size = facts.world_size
    return size if size is not None and 0 < size <= MOST_BELIEVED else None


def take(tables: Tables, event_rows: Int64, host_rows: Int64) -> Tables:
    """Some rows of the events and of the host, with the collectives of those events."""
    position = np.full(tables.events.num_rows, NONE, np.int64)
    position[event_rows] = np.arange(len(event_rows))
    moved = position[int64(tables.collectives, "event")]
    kept = np.flatnonzero(moved != NONE)
    collectives = tables.collectives.take(pa.array(kept))
    return Tables(
        tables.events.take(pa.array(event_rows)),
        tables.host.take(pa.array(host_rows)),
        with_column(collectives, "event", pa.array(moved[kept])),
    )


def constant_rank(table: pa.Table, rank: int) -> pa.Table:
    """The table with one rank on all rows."""
    return with_column(table, "rank", pa.array(np.full(table.num_rows, rank, np.int32)))


def distinct(table: pa.Table, name: str) -> list[int]:
    """The distinct values of a column that are not null, in order."""
    return sorted(v for v in pc.unique(table.column(name)).to_pylist() if v is not None)
