"""Which kernels and copies took the time: by name and by family."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.analysis.chosen import in_chosen_steps
from commscope.analysis.groups import group_rows
from commscope.analysis.percentiles import group_percentile
from commscope.analysis.timeline import Activities, Timeline, counting
from commscope.classify import CLASS_FAMILIES, ActivityClass
from commscope.columns import NONE, Bool, Int64, codes, int64, order_of_codes, where_equal
from commscope.intervals import measure
from commscope.trace import Trace

_CLASS_WORDS = {kind.value: kind.name.lower() for kind in ActivityClass}


def kernel_table(trace: Trace, timeline: Timeline) -> pa.Table:
    """One row a name and class, most time first.

    Columns: ``name``, ``family``, ``class``, ``count``, ``total_ns``, ``p50_ns``, ``max_ns``, and
    ``hidden_ns``: of communication the part during which compute ran, else null. Durations are
    those of single activities: the sum over concurrent ones exceeds the time they took. Where the
    user chose steps, only what was launched in these counts.
    """
    found = _chosen(trace, timeline.activities)
    names, words = codes(trace.events, "name")
    duration = found.end_ns - found.start_ns
    key = names[found.row] * len(ActivityClass) + found.kind
    by_duration = np.argsort(duration)  # in two steps: faster than lexsort
    order = by_duration[order_of_codes(key[by_duration])]
    keys, first, count = np.unique(key[order], return_index=True, return_counts=True)
    sorted_ns = duration[order]
    name, kind = keys // len(ActivityClass), keys % len(ActivityClass)
    hidden = _hidden_by_key(timeline, found, key, keys)
    table = pa.table(
        {
            "name": pa.array([words[code] for code in name], pa.string()),
            "family": pa.array([_family(trace, *of) for of in zip(name, kind)], pa.string()),
            "class": pa.array([_CLASS_WORDS[int(code)] for code in kind], pa.string()),
            "count": count,
            "total_ns": np.add.reduceat(sorted_ns, first) if len(first) else sorted_ns,
            "p50_ns": group_percentile(sorted_ns, first, count, 50),
            "max_ns": sorted_ns[first + count - 1],
            "hidden_ns": pa.array(hidden, mask=kind != ActivityClass.COMMUNICATION),
        }
    )
    return table.sort_by([("total_ns", "descending"), ("name", "ascending")])


def _chosen(trace: Trace, found: Activities) -> Activities:
    """The activities launched in the steps that the user chose."""
    if trace.selection is None:
        return found
    rank, step = (int64(trace.events, name)[found.row] for name in ("rank", "step"))
    return found.take(np.flatnonzero(in_chosen_steps(trace, rank, step)))


def _family(trace: Trace, name: int, kind: int) -> str:
    """The family of a class, else of the name."""
    return CLASS_FAMILIES.get(ActivityClass(int(kind)), trace.classes.family[name])


def _hidden_by_key(timeline: Timeline, found: Activities, key: Int64, keys: Int64) -> Int64:
    comm = np.flatnonzero(found.of(ActivityClass.COMMUNICATION))
    shift = timeline.shift_ns[found.rank[comm]]
    inside = measure(timeline.compute, found.start_ns[comm] + shift, found.end_ns[comm] + shift)
    hidden = np.zeros(len(keys), np.int64)
    np.add.at(hidden, np.searchsorted(keys, key[comm]), inside)
    return hidden


def family_table(kernels: pa.Table) -> pa.Table:
    """``kernel_table`` by family: ``family``, ``class``, ``count``, ``total_ns``, ``share``.

    The share is of the sum over all of them.
    """
    grouped = kernels.group_by(["family", "class"]).aggregate(
        [("count", "sum"), ("total_ns", "sum")]
    )
    grouped = grouped.select(["family", "class", "count_sum", "total_ns_sum"]).rename_columns(
        ["family", "class", "count", "total_ns"]
    )
    total = int64(grouped, "total_ns")
    share = total / max(int(total.sum()), 1)
    return grouped.append_column("share", pa.array(share)).sort_by(
        [("total_ns", "descending"), ("family", "ascending")]
    )


def is_kernel(events: pa.Table) -> Bool:
    """Which events are kernels, and not copies."""
    return where_equal(events, "kind", "kernel")


def activity_counts(trace: Trace, timeline: Timeline) -> dict[int, dict[str, int]]:
    """For each rank how many activities count: by class, and how many of them are ``kernels``.

    ``kernels`` are what the trace calls so: on ROCm some of them are copies by class.
    """
    found, ranks = timeline.activities, len(timeline.ranks)
    kernel = is_kernel(trace.events)[found.row]
    chosen = {
        "kernels": kernel,
        "compute": found.of(ActivityClass.COMPUTE),
        "collectives": found.of(ActivityClass.COMMUNICATION),
        "copies": found.of(ActivityClass.COPY),
    }
    counts = {name: np.bincount(found.rank[of], minlength=ranks) for name, of in chosen.items()}
    return {
        int(rank): {name: int(count[index]) for name, count in counts.items()}
        for index, rank in enumerate(timeline.ranks)
    }


def step_kernels(trace: Trace) -> Int64:
    """For each row of STEPS how many kernels that count belong to it."""
    events, steps = trace.events, trace.steps
    chosen = np.flatnonzero(is_kernel(events) & counting(events) & (int64(events, "step") != NONE))
    keys = [
        np.concatenate((int64(steps, name), int64(events, name)[chosen]))
        for name in ("rank", "step")
    ]
    group, _ = group_rows(keys)
    count = np.bincount(group[steps.num_rows :], minlength=int(group.max(initial=-1)) + 1)
    return np.asarray(count[group[: steps.num_rows]])
