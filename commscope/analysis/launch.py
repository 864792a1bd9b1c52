"""The host's side: how long activities waited on the device, and the device on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from commscope.analysis.timeline import Timeline
from commscope.columns import NONE, Bool, Int64, codes, int64
from commscope.schema import Flag
from commscope.trace import Trace

#: A kernel that seems to start before its launch by no more than this: noise of the two clocks.
CLOCK_NOISE_NS = 1_000


def launch_table(trace: Trace, timeline: Timeline) -> pa.Table:
    """One row a rank.

    ``launch_bound_share``: share of linked kernels whose stream was empty when the host launched
    them, so that the device waited for the host. ``queue_delay_p50_ns``, ``_p95_ns``: from launch
    to start. ``queue_depth_p50``, ``_p95``: kernels launched and not begun, at each launch.
    ``host_pause_ns``: idle time of the device that ended with an activity launched only after that
    idle began. ``graph_share``: share of kernels replayed by graphs. ``unlinked``: kernels without
    a launch in the file. ``early``: kernels that start before their launch. Null: no launches.
    """
    rows = [_rank_row(trace, timeline, index) for index in range(len(timeline.ranks))]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


_SCHEMA = pa.schema(
    [
        ("rank", pa.int64()),
        ("launch_bound_share", pa.float64()),
        ("queue_delay_p50_ns", pa.int64()),
        ("queue_delay_p95_ns", pa.int64()),
        ("queue_depth_p50", pa.int64()),
        ("queue_depth_p95", pa.int64()),
        ("host_pause_ns", pa.int64()),
        ("graph_share", pa.float64()),
        ("kernels", pa.int64()),
        ("unlinked", pa.int64()),
        ("early", pa.int64()),
    ]
)


def _rank_row(trace: Trace, timeline: Timeline, index: int) -> dict[str, Any]:
    found = timeline.activities
    rows = found.row[found.rank == index]
    events = trace.events.take(pa.array(rows))
    start = int64(events, "start_ns")
    end = start + int64(events, "dur_ns")
    launch, stream = int64(events, "launch_ns"), int64(events, "stream")
    kernel = _is_kernel(events)
    linked = kernel & (launch != NONE)
    flags = np.asarray(events.column("flags").to_numpy())
    row: dict[str, Any] = {
        "rank": int(timeline.ranks[index]),
        "graph_share": _share((flags & Flag.GRAPH != 0) & kernel, kernel),
        "kernels": int(kernel.sum()),
        "unlinked": int((kernel & ~linked).sum()),
        "early": int((linked & (start < launch - CLOCK_NOISE_NS)).sum()),
    }
    if not linked.any():
        return row
    delay = np.maximum(start[linked] - launch[linked], 0)
    depth = _depth(launch[linked], start[linked])
    bound = linked & (_previous_end(start, end, stream) <= launch)
    return {
        **row,
        "launch_bound_share": _share(bound, linked),
        "queue_delay_p50_ns": _percentile(delay, 50),
        "queue_delay_p95_ns": _percentile(delay, 95),
        "queue_depth_p50": _percentile(depth, 50),
        "queue_depth_p95": _percentile(depth, 95),
        "host_pause_ns": _host_pause(start, end, launch),
    }


def _is_kernel(events: pa.Table) -> Bool:
    kinds, words = codes(events, "kind")
    return np.array([word == "kernel" for word in words] + [False])[kinds]


def _share(part: Bool, whole: Bool) -> float | None:
    count = int(whole.sum())
    return int(part.sum()) / count if count else None


def _percentile(values: Int64, percent: int) -> int:
    return round(float(np.percentile(values, percent)))


def _depth(launch: Int64, start: Int64) -> Int64:
    """Kernels launched before each launch that have not begun by then."""
    order = np.sort(launch)
    begun = np.searchsorted(np.sort(start), order, side="right")
    return np.maximum(np.arange(len(order)) - begun, 0)


def _previous_end(start: Int64, end: Int64, stream: Int64) -> Int64:
    """When the activity before each one on its stream ended; ``NONE`` for the first."""
    order = np.lexsort((start, stream))
    previous = np.full(len(start), NONE)
    if len(order) > 1:
        same = stream[order[1:]] == stream[order[:-1]]
        previous[order[1:]] = np.where(same, end[order[:-1]], NONE)
    return previous


def _host_pause(start: Int64, end: Int64, launch: Int64) -> int:
    """Idle time before activities whose launch came only after the device had fallen idle."""
    order = np.argsort(start, kind="stable")
    start, end, launch = start[order], end[order], launch[order]
    reach = np.maximum.accumulate(end)[:-1]
    idle = start[1:] - reach
    late = (idle > 0) & (launch[1:] != NONE) & (launch[1:] > reach)
    return int(idle[late].sum())
