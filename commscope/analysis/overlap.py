"""How much of each collective was hidden behind compute, one by one and by kind."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.analysis.timeline import Timeline
from commscope.columns import Int64, codes, int64, nullable
from commscope.intervals import grouped_union, measure
from commscope.trace import Trace

#: What makes collectives one kind: they are counted and summed together.
KIND = ("comm", "description", "op", "dtype", "bytes", "group_size")


def collective_times(trace: Trace, timeline: Timeline) -> pa.Table:
    """COLLECTIVES with ``step``, ``start_ns``, ``dur_ns``, ``hidden_ns`` and ``exposed_ns`` of each.

    ``hidden_ns`` is the part during which compute ran on the same rank. Another collective hides
    nothing; so the sum of ``exposed_ns`` over collectives that run at once exceeds the exposed time.
    """
    rows = trace.collectives.column("event")
    events = trace.events.select(["rank", "step", "start_ns", "dur_ns"]).take(rows)
    start, duration = int64(events, "start_ns"), int64(events, "dur_ns")
    shift = timeline.shift_ns[timeline.index_of(int64(events, "rank"))]
    hidden = measure(timeline.compute, start + shift, start + shift + duration)
    return (
        trace.collectives.append_column("step", nullable(int64(events, "step")))
        .append_column("start_ns", pa.array(start))
        .append_column("dur_ns", pa.array(duration))
        .append_column("hidden_ns", pa.array(hidden))
        .append_column("exposed_ns", pa.array(duration - hidden))
    )


def collective_kinds(trace: Trace, timeline: Timeline, times: pa.Table) -> pa.Table:
    """One row a rank and kind of collective: ``rank``, KIND, ``count`` and times in ns.

    ``communication_ns`` is the union of its kernels on that rank, ``hidden_ns`` and ``exposed_ns``
    its parts; ``step_count`` how many of them were launched in a step.
    """
    kind, first = _kinds(times)
    start, end = int64(times, "start_ns"), int64(times, "start_ns") + int64(times, "dur_ns")
    shift = timeline.shift_ns[timeline.index_of(int64(times, "rank"))]
    group, begins, ends = grouped_union(kind, start + shift, end + shift)
    total, hidden = np.zeros(len(first), np.int64), np.zeros(len(first), np.int64)
    np.add.at(total, group, ends - begins)
    np.add.at(hidden, group, measure(timeline.compute, begins, ends))
    in_step = times.column("step").is_valid().to_numpy()
    table = times.select(["rank", *KIND]).take(pa.array(first))
    return (
        table.append_column("count", pa.array(np.bincount(kind, minlength=len(first))))
        .append_column("step_count", pa.array(np.bincount(kind[in_step], minlength=len(first))))
        .append_column("communication_ns", pa.array(total))
        .append_column("hidden_ns", pa.array(hidden))
        .append_column("exposed_ns", pa.array(total - hidden))
    )


def _kinds(times: pa.Table) -> tuple[Int64, Int64]:
    """The number of each collective's kind (with its rank), and the first row of each kind."""
    keys = [int64(times, "rank")]
    for name in KIND:
        is_text = pa.types.is_dictionary(times.schema.field(name).type)
        keys.append(codes(times, name)[0] if is_text else int64(times, name))
    if not times.num_rows:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    _, first, kind = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    return kind.reshape(-1), first
