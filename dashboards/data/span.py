"""From when to when a run is shown."""

from __future__ import annotations

from collections.abc import Sequence

from commscope.analysis.timeline import Timeline
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.lanes import Lane

#: How far before and after the devices' activity hosts are shown, as a share of that.
_ROUND_ABOUT = 20


def span_of(
    timeline: Timeline, lanes: Sequence[Lane], clocks: Sequence[RankClock], origin: int
) -> tuple[int, int]:
    """From the first to the last event of all ranks, on the common clock since the origin.

    Of hosts only what is near the devices' activity counts: some traces hold minutes of starting.
    """
    begin = min(
        clock.common_time(time - origin) for clock, time in zip(clocks, timeline.first_ns.tolist())
    )
    end = max(
        clock.common_time(time - origin) for clock, time in zip(clocks, timeline.last_ns.tolist())
    )
    room = (end - begin) // _ROUND_ABOUT
    of_lanes = [_of_lane(lane, clocks[lane.rank]) for lane in lanes if len(lane)]
    first = min((start for start, _ in of_lanes), default=begin)
    last = max((stop for _, stop in of_lanes), default=end)
    return (
        max(min(first, begin), begin - room),
        max(min(max(last, end), end + room), begin + 1),
    )


def _of_lane(lane: Lane, clock: RankClock) -> tuple[int, int]:
    first = int(lane.events.start[0])
    return clock.common_time(first), clock.common_time(int(lane.latest.max()))
