"""Overlap gaps: when exactly communication was exposed, in which step, and what ran around it.

See DEFINITIONS 6. An *exposure* is a maximal interval of exposed communication on a rank. A *gap*
is a piece of it: cut where steps begin and end, and where a last member arrives, so that it is
either waiting, or transfer, or of collectives without partners. The gaps of a step add up to its
exposed communication, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.analysis.across import Across
from commscope.analysis.minima import Minima
from commscope.analysis.timeline import Timeline, on_axis
from commscope.analysis.windows import Windows
from commscope.classify import ActivityClass
from commscope.columns import Int64, at, where_equal
from commscope.intervals import cut

WAIT, TRANSFER, UNMATCHED = range(3)
#: Names of the parts of exposed communication, by their numbers.
PARTS = ("wait", "transfer", "unmatched")
#: Stamps of different queues differ by this much: what ends within it ends at once.
_STAMPS_NS = 1_000


@dataclass(frozen=True, slots=True)
class Exposures:
    """Maximal intervals of exposed communication, all ranks on the axis of the timeline.

    ``before`` is the compute activity that ended last before, ``after`` the first that is not
    communication to begin at the end or later: places in ``Timeline.activities``, -1 for none.
    """

    rank: Int64
    start: Int64
    end: Int64
    before: Int64
    after: Int64


@dataclass(frozen=True, slots=True)
class Gaps:
    """Arrays with an entry a gap, by rank and time on the axis.

    ``window`` is a place in the windows of steps, -1 outside of them; ``exposure`` a place in
    ``exposures``; ``call`` the collective that makes it a gap, a row of ``Across.calls``; ``part``
    one of ``PARTS``.
    """

    exposures: Exposures
    exposure: Int64
    rank: Int64
    start: Int64
    end: Int64
    part: Int64
    window: Int64
    call: Int64

    @property
    def length(self) -> Int64:
        """How long each is, in ns."""
        return self.end - self.start

    @property
    def exposed_since(self) -> Int64:
        """When the exposure of each began, on the axis."""
        return self.exposures.start[self.exposure]


def gaps_of(timeline: Timeline, across: Across, windows: Windows) -> Gaps:
    """All gaps of all ranks; ``windows`` are those of the steps."""
    waiting = across.waiting
    parts = (waiting.waits, waiting.transfers, waiting.unmatched)
    edges = np.unique(np.concatenate((*windows.axis(timeline), _arrivals(timeline, across))))
    pieces = [cut(part.starts, part.ends, edges) for part in parts]
    start, end = (np.concatenate([piece[side] for piece in pieces]) for side in (0, 1))
    part = np.repeat(np.arange(len(parts)), [len(piece[0]) for piece in pieces])
    order = np.argsort(start, kind="stable")
    start, end, part = start[order], end[order], part[order]
    exposures = _exposures(timeline)
    exposure = np.searchsorted(exposures.start, start, side="right") - 1
    return Gaps(
        exposures, exposure, exposures.rank[exposure], start, end, part,
        window=windows.at(timeline, start),
        call=_calls_at(timeline, across, start, part, exposures.end[exposure]),
    )  # fmt: skip


def _arrivals(timeline: Timeline, across: Across) -> Int64:
    """When the last member of each matched collective arrived, in the waiter's clock."""
    _, start, _ = on_axis(timeline, across.calls)
    matched = across.matching.instance >= 0
    return start[matched] + across.matching.wait_ns[matched]


def _exposures(timeline: Timeline) -> Exposures:
    exposed, found = timeline.exposed_comm, timeline.activities
    rank = timeline.rank_at(exposed.starts)
    start, end = timeline.activities_on_axis()
    ended = np.flatnonzero(found.of(ActivityClass.COMPUTE))
    ended = ended[np.argsort(end[ended], kind="stable")]
    last = np.searchsorted(end[ended], exposed.starts, side="right") - 1
    begun = np.flatnonzero(~found.of(ActivityClass.COMMUNICATION))
    begun = begun[np.argsort(start[begun], kind="stable")]
    first = np.searchsorted(start[begun], exposed.ends, side="left")
    return Exposures(
        rank, exposed.starts, exposed.ends,
        before=_of_rank(found.rank, np.append(ended, -1), last, rank),
        after=_of_rank(found.rank, np.append(begun, -1), first, rank),
    )  # fmt: skip


def _of_rank(rank_of: Int64, ordered: Int64, place: Int64, rank: Int64) -> Int64:
    """The activities at these places, whose last stands for none; -1 where of another rank."""
    found = ordered[place]
    return np.where((found >= 0) & (rank_of[found] == rank), found, -1)


def _calls_at(timeline: Timeline, across: Across, times: Int64, part: Int64, limit: Int64) -> Int64:
    """The collective that each gap, which begins then, is due to.

    Of several that run: in waiting the one that is complete first, for its last member ends the
    wait; else the last to end within the exposure, which ends by ``limit``: what runs on beside
    compute did not keep it; if all run on, the one that ends last. A gather goes before others that
    end with it, as it is what compute waits for.
    """
    _, start, end = on_axis(timeline, across.calls)
    arrival = start + across.matching.wait_ns
    alone = across.matching.instance < 0
    is_gather = where_equal(across.calls, "op", "all_gather")
    found = np.full(len(times), -1)
    for number, rows in ((TRANSFER, ~alone), (UNMATCHED, alone)):
        mine, row = part == number, np.flatnonzero(rows)
        ends = limit[mine] + _STAMPS_NS
        row = row[np.lexsort((~is_gather[row], -end[row]))]
        found[mine] = row[_last_to_end(arrival[row], end[row], times[mine], ends)]
    mine, row = part == WAIT, np.flatnonzero(arrival > start)
    found[mine] = row[_first_to_end(start[row], arrival[row], times[mine])]
    return found


def _last_to_end(start: Int64, end: Int64, times: Int64, limit: Int64) -> Int64:
    """Of the intervals that hold each time, the last to end by the limit; if none, the last.

    The intervals are in order of their ends, the last to end first.
    """
    behind, place = Minima(start), np.append(np.arange(len(end)), -1)
    # From the last to end on, the first begun by then; places behind the intervals are none.
    within, last = (
        place[behind.first_at_most(first, times)]
        for first in (np.searchsorted(-end, -limit, side="left"), np.zeros_like(times))
    )
    holds = (within >= 0) & (at(end, within, 0) > times)
    return np.where(holds, within, last)


def _first_to_end(start: Int64, end: Int64, times: Int64) -> Int64:
    """Of the intervals that hold each time, the one that ends first; there is one."""
    order = np.argsort(end, kind="stable")
    place = np.searchsorted(end[order], times, side="right")
    return np.asarray(order[Minima(start[order]).first_at_most(place, times)])
