"""The device windows of the steps that are shown, by rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import group_sums
from commscope.analysis.timeline import Timeline
from commscope.columns import NONE, Int64, at, int64


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows, each on one rank (an index), in that rank's clock."""

    rank: Int64
    start_ns: Int64
    end_ns: Int64

    def sums(self, values: Int64, ranks: int) -> Int64:
        """The sum over the windows of each of so many ranks."""
        return group_sums(self.rank, values, ranks)

    def axis(self, timeline: Timeline) -> tuple[Int64, Int64]:
        """Where they begin and end on the axis of the timeline."""
        shift = timeline.shift_ns[self.rank]
        return self.start_ns + shift, self.end_ns + shift

    def at(self, timeline: Timeline, times: Int64) -> Int64:
        """The window that holds each time on the axis, -1 for none; windows do not overlap."""
        start, end = self.axis(timeline)
        order = np.argsort(start, kind="stable")
        place = np.searchsorted(start[order], times, side="right") - 1
        row = at(order, place, -1)
        return np.where((row >= 0) & (times < at(end, row, NONE)), row, -1)


def windows_of(timeline: Timeline, steps: pa.Table) -> Windows:
    """The windows of rows of STEPS; steps without activity have none."""
    start = int64(steps, "start_ns")
    active = start != NONE
    rank = timeline.index_of(int64(steps, "rank"))[active]
    return Windows(rank, start[active], int64(steps, "end_ns")[active])
