"""All ranks side by side on one axis, so that one pass over arrays measures them all at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import ActivityClass
from commscope.columns import Bool, Int64, flagged, int64
from commscope.errors import DataError
from commscope.intervals import Intervals, difference, union
from commscope.schema import Flag
from commscope.trace import Trace

_LATE = int(np.iinfo(np.int64).max)
#: Of all ranks in a row; the first of them begins within 4e18, and the sums must not wrap.
_LONGEST = 2**62
_DAY_NS = 86_400 * 10**9
#: Two ranks on the axis are 1 ms apart at least, and no host is taken to run for longer than 15
#: minutes before or after its device.
_LEAST_APART, _MOST_APART = 10**6, 900 * 10**9


@dataclass(frozen=True, slots=True)
class Activities:
    """The events that count, as arrays; times on their rank's clock.

    ``row`` is the row in ``Trace.events``, ``rank`` the index in ``Timeline.ranks``.
    """

    row: Int64
    rank: Int64
    start_ns: Int64
    end_ns: Int64
    kind: npt.NDArray[np.uint8]  #: values of ActivityClass

    def of(self, kind: ActivityClass) -> Bool:
        """Which of them are of a class."""
        return np.asarray(self.kind == kind)

    def take(self, rows: Int64) -> Activities:
        """Some of them."""
        return Activities(
            self.row[rows], self.rank[rows], self.start_ns[rows], self.end_ns[rows], self.kind[rows]
        )


@dataclass(frozen=True, slots=True)
class Timeline:
    """When what ran on all ranks, on one axis: rank i is moved by ``shift_ns[i]``.

    Compute, exposed communication, exposed copy and idle are disjoint and add up: DEFINITIONS 2.
    """

    ranks: Int64
    shift_ns: Int64
    first_ns: Int64  #: first start of each rank
    last_ns: Int64  #: last end of each rank
    activities: Activities
    communication: Intervals
    compute: Intervals
    exposed_comm: Intervals  #: communication without compute
    exposed_copy: Intervals  #: anything else without either
    busy: Intervals  #: any class
    idle: Intervals  #: none, between the first start and the last end of a rank

    def index_of(self, ranks: Int64) -> Int64:
        """Index of each rank number in ``ranks``."""
        return np.searchsorted(self.ranks, ranks)

    def rank_at(self, times: Int64) -> Int64:
        """Index of the rank that each time on the axis belongs to; before the first: -1."""
        return np.searchsorted(self.first_ns + self.shift_ns, times, side="right") - 1

    def activities_on_axis(self) -> tuple[Int64, Int64]:
        """Begin and end of each of the activities, on the axis."""
        found = self.activities
        shift = self.shift_ns[found.rank]
        return found.start_ns + shift, found.end_ns + shift


def on_axis(timeline: Timeline, table: pa.Table) -> tuple[Int64, Int64, Int64]:
    """Rank (an index), begin and end on the axis of each row, with ``start_ns`` and ``dur_ns``."""
    rank = timeline.index_of(int64(table, "rank"))
    start = int64(table, "start_ns") + timeline.shift_ns[rank]
    return rank, start, start + int64(table, "dur_ns")


def timeline_of(trace: Trace) -> Timeline:
    """The timeline of all ranks of a trace.

    Raises DataError where captures lie so far apart that 64 bits cannot hold the ranks in a row.
    """
    ranks = np.unique(int64(trace.ranks, "rank"))
    found = _activities(trace, ranks)
    first, last = _spans(found, len(ranks))
    _require_room(first, last)
    before, after = _room(trace, ranks, first, last)
    length = before + (last - first) + after
    shift = np.cumsum(length) - length + before - first
    start, end = found.start_ns + shift[found.rank], found.end_ns + shift[found.rank]
    is_comm, is_compute = (
        found.of(k) for k in (ActivityClass.COMMUNICATION, ActivityClass.COMPUTE)
    )

    def of(chosen: Bool) -> Intervals:
        return union(start[chosen], end[chosen])

    communication, compute, copy = of(is_comm), of(is_compute), of(~(is_comm | is_compute))
    busy = union(start, end)
    return Timeline(
        ranks, shift, first, last, found, communication, compute,
        exposed_comm=difference(communication, compute),
        exposed_copy=difference(difference(copy, compute), communication),
        busy=busy, idle=difference(Intervals(first + shift, last + shift), busy),
    )  # fmt: skip


def _require_room(first: Int64, last: Int64) -> None:
    total = sum(end - start + 1 for start, end in zip(first.tolist(), last.tolist()))
    if total > _LONGEST:
        raise DataError(
            f"the captures of {len(first)} ranks span {total / _DAY_NS:,.0f} days, added up: too "
            "long for one trace; show one capture at a time"
        )


def _room(trace: Trace, ranks: Int64, first: Int64, last: Int64) -> tuple[Int64, Int64]:
    """How far each rank keeps from the others, so that what its host did is apart from theirs."""
    start = int64(trace.host, "start_ns")
    end = start + int64(trace.host, "dur_ns")
    rank = np.searchsorted(ranks, int64(trace.host, "rank"))
    earliest, latest = first.copy(), last.copy()
    np.minimum.at(earliest, rank, start)
    np.maximum.at(latest, rank, end)
    before, after = (
        np.clip(of, _LEAST_APART, _MOST_APART) for of in (first - earliest, latest - last)
    )
    return before, after


def counting(events: pa.Table) -> Bool:
    """Which events count: not broken, and longer than nothing."""
    return np.asarray(~flagged(events, Flag.BROKEN) & (int64(events, "dur_ns") > 0))


def _activities(trace: Trace, ranks: Int64) -> Activities:
    events = trace.events
    row = np.flatnonzero(counting(events))
    start = int64(events, "start_ns")[row]
    return Activities(
        row=row,
        rank=np.searchsorted(ranks, int64(events, "rank")[row]),
        start_ns=start,
        end_ns=start + int64(events, "dur_ns")[row],
        kind=trace.classes.of_event[row],
    )


def _spans(found: Activities, ranks: int) -> tuple[Int64, Int64]:
    """First start and last end of each rank; an empty span if it has no activity."""
    first, last = np.full(ranks, _LATE), np.full(ranks, -_LATE)
    np.minimum.at(first, found.rank, found.start_ns)
    np.maximum.at(last, found.rank, found.end_ns)
    empty = first > last
    somewhere = 0 if empty.all() else first.min()
    return np.where(empty, somewhere, first), np.where(empty, somewhere, last)
