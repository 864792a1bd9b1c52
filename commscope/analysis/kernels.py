"""Which kernels and copies took the time: by name and by family."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.analysis.timeline import Timeline
from commscope.classify import ActivityClass
from commscope.columns import Bool, Int64, codes, int64
from commscope.intervals import measure
from commscope.schema import Flag
from commscope.trace import Trace

_CLASS_WORDS = {kind.value: kind.name.lower() for kind in ActivityClass}


def kernel_table(trace: Trace, timeline: Timeline) -> pa.Table:
    """One row a name and class, most time first.

    Columns: ``name``, ``family``, ``class``, ``count``, ``total_ns``, ``p50_ns``, ``max_ns``, and
    ``hidden_ns``: of communication the part during which compute ran, else null. Durations are
    those of single activities: the sum over concurrent ones exceeds the time they took.
    """
    found = timeline.activities
    names, words = codes(trace.events, "name")
    duration = found.end_ns - found.start_ns
    key = names[found.row] * len(ActivityClass) + found.kind
    order = np.lexsort((duration, key))
    keys, first, count = np.unique(key[order], return_index=True, return_counts=True)
    sorted_ns = duration[order]
    total = np.add.reduceat(sorted_ns, first) if len(first) else sorted_ns
    name, kind = keys // len(ActivityClass), keys % len(ActivityClass)
    hidden = _hidden_by_key(timeline, key, keys)
    table = pa.table(
        {
            "name": [words[code] for code in name],
            "family": [trace.classes.family[c] for c in name],
            "class": [_CLASS_WORDS[int(code)] for code in kind],
            "count": count,
            "total_ns": total,
            "p50_ns": _middle(sorted_ns, first, count),
            "max_ns": sorted_ns[first + count - 1],
            "hidden_ns": pa.array(hidden, mask=kind != ActivityClass.COMMUNICATION),
        }
    )
    return table.sort_by([("total_ns", "descending"), ("name", "ascending")])


def _middle(values: Int64, first: Int64, count: Int64) -> Int64:
    """The median of each run of sorted values, halves rounded down."""
    low, high = first + (count - 1) // 2, first + count // 2
    return (values[low] + values[high]) // 2


def _hidden_by_key(timeline: Timeline, key: Int64, keys: Int64) -> Int64:
    found = timeline.activities
    comm = np.flatnonzero(found.of(ActivityClass.COMMUNICATION))
    shift = timeline.shift_ns[found.rank[comm]]
    inside = measure(timeline.compute, found.start_ns[comm] + shift, found.end_ns[comm] + shift)
    hidden = np.zeros(len(keys), np.int64)
    np.add.at(hidden, np.searchsorted(keys, key[comm]), inside)
    return hidden


def family_table(kernels: pa.Table) -> pa.Table:
    """``kernel_table`` summed by family: ``family``, ``class``, ``count``, ``total_ns``, ``share``."""
    grouped = kernels.group_by(["family", "class"]).aggregate(
        [("count", "sum"), ("total_ns", "sum")]
    )
    grouped = grouped.select(["family", "class", "count_sum", "total_ns_sum"]).rename_columns(
        ["family", "class", "count", "total_ns"]
    )
    total = np.asarray(grouped.column("total_ns").to_numpy(), np.int64)
    share = total / max(int(total.sum()), 1)
    return grouped.append_column("share", pa.array(share)).sort_by(
        [("total_ns", "descending"), ("family", "ascending")]
    )


def _is_kernel(trace: Trace) -> Bool:
    kinds, words = codes(trace.events, "kind")
    return np.array([word == "kernel" for word in words] + [False])[kinds]


def _counting_kernels(trace: Trace) -> Bool:
    """Kernels that count: not broken, longer than nothing."""
    events = trace.events
    kinds, words = codes(events, "kind")
    broken = (np.asarray(events.column("flags").to_numpy()) & Flag.BROKEN) != 0
    is_kernel = np.array([word == "kernel" for word in words] + [False])[kinds]
    return is_kernel & ~broken & (int64(events, "dur_ns") > 0)


def activity_counts(trace: Trace, timeline: Timeline) -> dict[int, dict[str, int]]:
    """For each rank how many kernels, collectives (kernels too) and copies count."""
    found, count = timeline.activities, len(timeline.ranks)
    is_kernel = _counting_kernels(trace)[found.row]

    def by_rank(chosen: Bool) -> Int64:
        return np.bincount(found.rank[chosen], minlength=count)

    kernels, copies = by_rank(is_kernel), by_rank(~is_kernel)
    collectives = by_rank(found.of(ActivityClass.COMMUNICATION))
    return {
        int(rank): {
            "kernels": int(kernels[i]),
            "collectives": int(collectives[i]),
            "copies": int(copies[i]),
        }
        for i, rank in enumerate(timeline.ranks)
    }


def step_kernels(trace: Trace) -> Int64:
    """For each row of STEPS how many kernels belong to it."""
    events, steps = trace.events, trace.steps
    counted = _counting_kernels(trace)
    pairs = np.stack([int64(events, "rank")[counted], int64(events, "step")[counted]], axis=1)
    found, count = np.unique(pairs, axis=0, return_counts=True)
    by_step = {(int(r), int(s)): int(n) for (r, s), n in zip(found, count)}
    wanted = zip(steps.column("rank").to_pylist(), steps.column("step").to_pylist())
    return np.array([by_step.get(key, 0) for key in wanted], np.int64)
