"""The exact partition of windows: what a rank did in every nanosecond of them (DEFINITIONS 2)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.analysis.timeline import Timeline
from commscope.columns import NONE, Int64, int64, nullable
from commscope.intervals import measure

#: All in ns; ``compute + exposed_comm + exposed_copy + idle == window``, exactly.
PARTITION = (
    "window_ns",
    "compute_ns",
    "communication_ns",
    "hidden_comm_ns",
    "exposed_comm_ns",
    "exposed_copy_ns",
    "idle_ns",
)


def partition_windows(
    timeline: Timeline, rank: Int64, start_ns: Int64, end_ns: Int64
) -> dict[str, Int64]:
    """The columns of PARTITION for windows, each on one rank (an index), in its rank's clock."""
    shift = timeline.shift_ns[rank]
    start, end = start_ns + shift, end_ns + shift
    window = end - start
    compute, communication, exposed, copy, busy = (
        measure(of, start, end)
        for of in (
            *(timeline.compute, timeline.communication),
            *(timeline.exposed_comm, timeline.exposed_copy, timeline.busy),
        )
    )
    return {
        "window_ns": window,
        "compute_ns": compute,
        "communication_ns": communication,
        "hidden_comm_ns": communication - exposed,
        "exposed_comm_ns": exposed,
        "exposed_copy_ns": copy,
        "idle_ns": window - busy,
    }


def rank_partitions(timeline: Timeline) -> pa.Table:
    """One row a rank, from its first start to its last end: ``rank`` and PARTITION."""
    index = np.arange(len(timeline.ranks))
    columns = partition_windows(timeline, index, timeline.first_ns, timeline.last_ns)
    return pa.table({"rank": pa.array(timeline.ranks), **columns})


def step_partitions(timeline: Timeline, steps: pa.Table) -> pa.Table:
    """The rows of STEPS with PARTITION over their device windows; null where they have none.

    ``host_lag_ns`` is how long after the step's begin on the host its first activity began; null
    where that begin is not known.
    """
    start, end = int64(steps, "start_ns"), int64(steps, "end_ns")
    active = start != NONE
    index = timeline.index_of(int64(steps, "rank"))
    measured = partition_windows(timeline, index[active], start[active], end[active])
    for name, values in measured.items():
        column = np.full(len(start), NONE)
        column[active] = values
        steps = steps.append_column(name, nullable(column))
    begin = int64(steps, "host_start_ns")
    lag = np.where(active & (begin != NONE), start - begin, NONE)
    return steps.append_column("host_lag_ns", nullable(lag))


def outside_steps(timeline: Timeline, steps: pa.Table) -> Int64:
    """For each rank, how long it was busy outside all its device windows."""
    start, end = int64(steps, "start_ns"), int64(steps, "end_ns")
    active = start != NONE
    index = timeline.index_of(int64(steps, "rank"))[active]
    shift = timeline.shift_ns
    busy = measure(timeline.busy, timeline.first_ns + shift, timeline.last_ns + shift)
    inside = measure(timeline.busy, start[active] + shift[index], end[active] + shift[index])
    np.subtract.at(busy, index, inside)
    return busy
