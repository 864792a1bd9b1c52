"""The host's side: how long activities waited on the device, and the device on the host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.analysis.chosen import in_chosen_steps
from commscope.analysis.groups import group_rows
from commscope.analysis.kernels import is_kernel
from commscope.analysis.percentiles import percentiles
from commscope.analysis.timeline import Timeline
from commscope.columns import NONE, Bool, Int64, flagged, int64, nullable, order_of_codes
from commscope.schema import Flag
from commscope.trace import Trace

#: A kernel that seems to start before its launch by no more than this: noise of the two clocks.
CLOCK_NOISE_NS = 1_000


@dataclass(frozen=True, slots=True)
class _Activities:
    """The activities that count, in order of rank and start."""

    rank: Int64  #: index in ``Timeline.ranks``
    start: Int64
    end: Int64
    launch: Int64
    stream: Int64
    kernel: Bool
    graph: Bool
    chosen: Bool  #: of a step that the user chose

    def of_rank(self, index: int) -> slice:
        """Where the activities of a rank lie."""
        first, end = np.searchsorted(self.rank, (index, index + 1))
        return slice(int(first), int(end))


def launch_table(trace: Trace, timeline: Timeline) -> pa.Table:
    """One row a rank.

    ``launch_bound_share``: share of linked kernels whose stream was empty when the host launched
    them, so that the device waited for the host. ``queue_delay_p50_ns``, ``_p95_ns``: from launch
    to start. ``queue_depth_p50``, ``_p95``: kernels launched and not begun, at each launch.
    ``host_pause_ns``: idle time of the device that ended with an activity launched only after that
    idle began. ``graph_share``: share of kernels replayed by graphs. ``unlinked``: kernels without
    a launch in the file. ``early``: kernels that start before their launch. Null: no launches.
    Where the user chose steps, only what was launched in these counts.
    """
    found = _activities(trace, timeline)
    count = len(timeline.ranks)
    linked = found.kernel & (found.launch != NONE)
    early = linked & (found.start < found.launch - CLOCK_NOISE_NS)
    bound = linked & (_previous_end(found) <= found.launch)

    def by_rank(rows: Bool) -> Int64:
        return np.bincount(found.rank[rows & found.chosen], minlength=count)

    columns = {
        "rank": pa.array(timeline.ranks),
        "launch_bound_share": _shares(by_rank(bound), by_rank(linked)),
        **_percentiles(found, linked, count),
        "host_pause_ns": nullable(np.where(by_rank(linked) > 0, _host_pause(found, count), NONE)),
        "graph_share": _shares(by_rank(found.kernel & found.graph), by_rank(found.kernel)),
        "kernels": pa.array(by_rank(found.kernel)),
        "unlinked": pa.array(by_rank(found.kernel & ~linked)),
        "early": pa.array(by_rank(early)),
    }
    return pa.table(columns)


def _activities(trace: Trace, timeline: Timeline) -> _Activities:
    counted, events = timeline.activities, trace.events
    row = counted.row
    rank, step = (int64(events, name)[row] for name in ("rank", "step"))
    return _Activities(
        rank=counted.rank,
        start=counted.start_ns,
        end=counted.end_ns,
        launch=int64(events, "launch_ns")[row],
        stream=int64(events, "stream")[row],
        kernel=is_kernel(events)[row],
        graph=flagged(events, Flag.GRAPH)[row],
        chosen=in_chosen_steps(trace, rank, step),
    )


def _shares(part: Int64, whole: Int64) -> pa.Array:
    return pa.array(part / np.maximum(whole, 1), mask=whole == 0)


def _percentiles(found: _Activities, linked: Bool, ranks: int) -> dict[str, pa.Array]:
    """Percentiles of queue delay and depth by rank; null where no kernel is linked."""
    names = [f"queue_{of}" for of in ("delay_p50_ns", "delay_p95_ns", "depth_p50", "depth_p95")]
    values = np.full((len(names), ranks), NONE)
    for index in range(ranks):
        mine = found.of_rank(index)
        start, launch = found.start[mine][linked[mine]], found.launch[mine][linked[mine]]
        chosen = found.chosen[mine][linked[mine]]
        if chosen.any():
            delay, depth = np.maximum(start - launch, 0), _depth(launch, start)
            both = [percentiles(of[chosen], (50, 95)) for of in (delay, depth)]
            values[:, index] = np.concatenate(both)
    return {name: nullable(row) for name, row in zip(names, values)}


def _depth(launch: Int64, start: Int64) -> Int64:
    """Kernels launched before each launch that have not begun by then; both of one rank."""
    order = np.argsort(launch, kind="stable")
    begun = np.searchsorted(np.sort(start), launch[order], side="right")
    depth = np.empty(len(order), np.int64)
    depth[order] = np.maximum(np.arange(len(order)) - begun, 0)
    return depth


def _previous_end(found: _Activities) -> Int64:
    """When the activity before each one on its stream ended; ``NONE`` for the first."""
    # Within a stream the order of start is kept.
    order = order_of_codes(group_rows([found.rank, found.stream])[0])
    here, before = order[1:], order[:-1]
    same = (found.stream[here] == found.stream[before]) & (found.rank[here] == found.rank[before])
    previous = np.full(len(order), NONE)
    previous[here] = np.where(same, found.end[before], NONE)
    return previous


def _host_pause(found: _Activities, ranks: int) -> Int64:
    """For each rank the idle time before activities launched only after the device fell idle."""
    pause = np.zeros(ranks, np.int64)
    for index in range(ranks):
        mine = found.of_rank(index)
        start, launch = found.start[mine][1:], found.launch[mine][1:]
        reach = np.maximum.accumulate(found.end[mine])[:-1]
        late = (launch != NONE) & (launch > reach)
        pause[index] = np.maximum(start - reach, 0)[late & found.chosen[mine][1:]].sum()
    return pause
