"""Which kernels and copies took the time: by name and by family."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.analysis.timeline import Timeline
from commscope.classify import ActivityClass
from commscope.columns import Int64, codes
from commscope.intervals import measure
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
    grouped = kernels.group_by(["family", "class"]).aggregate([("count", "sum"), ("total_ns", "sum")])
    grouped = grouped.select(["family", "class", "count_sum", "total_ns_sum"]).rename_columns(
        ["family", "class", "count", "total_ns"]
    )
    total = np.asarray(grouped.column("total_ns").to_numpy(), np.int64)
    share = total / max(int(total.sum()), 1)
    return grouped.append_column("share", pa.array(share)).sort_by(
        [("total_ns", "descending"), ("family", "ascending")]
    )


def activity_counts(trace: Trace) -> dict[int, dict[str, int]]:
    """For each rank how many kernels, collectives and copies (zero-length ones too) it has."""
    ranks = trace.events.column("rank").to_numpy()
    kinds, words = codes(trace.events, "kind")
    is_kernel = np.array([word == "kernel" for word in words] + [False])[kinds]
    is_comm = trace.classes.of_event == ActivityClass.COMMUNICATION
    return {
        int(rank): {
            "kernels": int((is_kernel & (ranks == rank)).sum()),
            "collectives": int((is_comm & (ranks == rank)).sum()),
            "copies": int((~is_kernel & (ranks == rank)).sum()),
        }
        for rank in np.unique(ranks)
    }
