"""What each rank did, as sets of time on its own clock, of which windows are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.analysis.timeline import Timeline
from commscope.columns import Int64
from commscope.dashboards.data.categories import COMMUNICATION, EXPOSED_PARTS
from commscope.dashboards.data.covered import Covered
from commscope.dashboards.data.lanes import Lane
from commscope.intervals import EMPTY, Intervals

_NOTHING = Covered.of(EMPTY)


@dataclass(frozen=True, slots=True)
class RankSets:
    """Compute, communication and exposed copies of one rank, and its exposed communication."""

    compute: Covered
    communication: Covered
    exposed_copy: Covered
    exposed: tuple[Covered, ...]  #: its disjoint parts: wait, transfer, unmatched


def rank_sets(
    timeline: Timeline, origin: int, compute: Lane, communication: Lane, exposed: Lane
) -> RankSets:
    """The sets of the rank of these lanes."""
    rank = compute.rank
    alone = list(compute.covered.values()) if len(compute.covered) == 1 else []
    return RankSets(
        alone[0] if alone else _of_rank(timeline, timeline.compute, rank, origin),
        communication.covered.get(COMMUNICATION, _NOTHING),
        _of_rank(timeline, timeline.exposed_copy, rank, origin),
        tuple(exposed.covered.get(part, _NOTHING) for part in EXPOSED_PARTS),
    )


def _of_rank(timeline: Timeline, of: Intervals, rank: int, origin: int) -> Covered:
    """A rank's share of a set on the axis of the timeline."""
    begins: Int64 = timeline.first_ns + timeline.shift_ns
    bounds = np.append(begins, np.iinfo(np.int64).max)[[rank, rank + 1]]
    first, last = np.searchsorted(of.starts, bounds, side="left").tolist()
    by = int(timeline.shift_ns[rank]) + origin
    return Covered.of(Intervals(of.starts[first:last] - by, of.ends[first:last] - by))
