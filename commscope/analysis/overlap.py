"""How much of each collective was hidden behind compute, one by one and by kind."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import group_rows, group_sums, is_among
from commscope.analysis.timeline import Timeline, counting, on_axis
from commscope.columns import Int64, codes, int64, nullable
from commscope.intervals import grouped_union, measure
from commscope.trace import Trace

#: What makes collectives one kind: they are counted and summed together.
KIND = ("communicator", "op", "dtype", "bytes", "group_size")


def collective_times(trace: Trace, timeline: Timeline) -> pa.Table:
    """COLLECTIVES that count, with ``step``, ``start_ns``, ``dur_ns`` and two parts of that.

    ``hidden_ns`` is the part during which compute ran on the same rank. Another collective hides
    nothing: it is all in ``exposed_ns``, whose sum over concurrent ones exceeds the exposed time.
    """
    counts = counting(trace.events)[int64(trace.collectives, "event")]
    table = trace.collectives.filter(pa.array(counts))
    events = trace.events.select(["rank", "step", "start_ns", "dur_ns"]).take(table.column("event"))
    _, start, end = on_axis(timeline, events)
    duration, hidden = end - start, measure(timeline.compute, start, end)
    return (
        table.append_column("step", nullable(int64(events, "step")))
        .append_column("start_ns", pa.array(int64(events, "start_ns")))
        .append_column("dur_ns", pa.array(duration))
        .append_column("hidden_ns", pa.array(hidden))
        .append_column("exposed_ns", pa.array(duration - hidden))
    )


def kind_of(calls: pa.Table) -> Int64:
    """The number of each call's kind, which is the same on all ranks."""
    return group_rows([_numbers(calls, name) for name in KIND])[0]


def collective_kinds(timeline: Timeline, calls: pa.Table, steps: pa.Table) -> pa.Table:
    """One row a rank and kind of collective: ``rank``, ``kind``, KIND, ``count``, times in ns.

    ``calls`` are the collectives with their communicator, see ``waiting.call_waits``; ``kind``
    numbers the kinds over all ranks, see ``kind_of``.
    ``communication_ns`` is the union of its kernels on that rank, ``hidden_ns`` and ``exposed_ns``
    its parts; ``step_count`` how many of them were launched in one of the steps.
    """
    of_call = kind_of(calls)
    kind, first = group_rows([int64(calls, "rank"), of_call])
    count = len(first)
    _, start, end = on_axis(timeline, calls)
    group, begins, ends = grouped_union(kind, start, end)
    total = group_sums(group, ends - begins, count)
    hidden = group_sums(group, measure(timeline.compute, begins, ends), count)
    in_step = is_among(int64(calls, "step"), int64(steps, "step"))
    columns = {
        "kind": of_call[first],
        "count": np.bincount(kind, minlength=count),
        "step_count": np.bincount(kind[in_step], minlength=count),
        "communication_ns": total,
        "hidden_ns": hidden,
        "exposed_ns": total - hidden,
    }
    table = calls.select(["rank", *KIND]).take(pa.array(first))
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table


def _numbers(table: pa.Table, name: str) -> Int64:
    """A column as numbers: its codes where it is text."""
    is_text = pa.types.is_dictionary(table.schema.field(name).type)
    return codes(table, name)[0] if is_text else int64(table, name)
