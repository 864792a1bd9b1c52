"""Collectives by kind and by size, of all ranks together or of those in view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.analysis.chosen import in_chosen_steps
from commscope.analysis.overlap import KIND, kind_of
from commscope.analysis.result import Analysis
from commscope.columns import Int64, int64
from commscope.report.view import View

_SUMS = ("count", "step_count", "communication_ns", "hidden_ns", "exposed_ns")
_BANDWIDTH = (
    ("algbw_gbps", pa.float64()),
    ("busbw_gbps", pa.float64()),
    ("expected_busbw_gbps", pa.float64()),
    ("expected_from", pa.string()),
    ("share_of_expected", pa.float64()),
    ("bandwidth_note", pa.string()),
)
_COLLECTIVES = pa.schema(
    [
        ("communicator", pa.string()),
        ("role", pa.string()),
        ("op", pa.string()),
        ("dtype", pa.string()),
        ("bytes", pa.int64()),
        ("group_size", pa.int64()),
        ("count", pa.int64()),
        ("per_step", pa.float64()),
        ("communication_ns", pa.int64()),
        ("hidden_ns", pa.int64()),
        ("exposed_ns", pa.int64()),
        ("matched", pa.int64()),
        ("wait_ns", pa.int64()),
        ("transfer_p50_ns", pa.int64()),
        ("transfer_p95_ns", pa.int64()),
        *_BANDWIDTH,
    ]
)
_BY_SIZE = pa.schema(
    [
        ("op", pa.string()),
        ("group_size", pa.int64()),
        ("min_bytes", pa.int64()),
        ("max_bytes", pa.int64()),
        ("count", pa.int64()),
        ("transfer_p50_ns", pa.int64()),
        *_BANDWIDTH,
    ]
)


def collectives_table(analysis: Analysis, view: View, *, hide_overlap: bool) -> pa.Table:
    """Kinds of collectives summed over ranks: counts, times, waiting and bandwidth."""
    steps = max(len(set(analysis.steps.column("step").to_pylist())), 1)
    costs, rows_of = analysis.costs, _rows_by_kind(analysis, view)
    rows = [
        {
            **_described(analysis, kind, steps),
            **({"hidden_ns": None, "exposed_ns": None} if hide_overlap else {}),
            **costs.of_kind(rows_of[number]),
        }
        for number, kind in _merged(analysis, view).items()
    ]
    rows.sort(key=lambda row: (-row["communication_ns"], str(row)))
    return pa.Table.from_pylist(rows, schema=_COLLECTIVES)


def bandwidth_table(analysis: Analysis, view: View) -> pa.Table:
    """Bandwidth by operation, number of members, and size from a power of two to the next."""
    rows = analysis.costs.by_size(_rows_in_view(analysis, view))
    rows.sort(key=lambda row: (row["op"], row["group_size"] or 0, row["min_bytes"]))
    return pa.Table.from_pylist(rows, schema=_BY_SIZE)


def _merged(analysis: Analysis, view: View) -> dict[int, dict[str, Any]]:
    """The kinds in view, by number, summed over the ranks in view."""
    table = analysis.collective_kinds
    shown = view.has_rank(table, "rank") & view.has_role(analysis, table)
    merged: dict[int, dict[str, Any]] = {}
    for row in table.filter(pa.array(shown)).to_pylist():
        total = merged.setdefault(row["kind"], {**row, "ranks": 0, **dict.fromkeys(_SUMS, 0)})
        total["ranks"] += 1
        for name in _SUMS:
            total[name] += row[name]
    return merged


def _described(analysis: Analysis, kind: dict[str, Any], steps: int) -> dict[str, Any]:
    number = kind["communicator"]
    return {
        **{name: kind[name] for name in (*KIND, *_SUMS) if name != "step_count"},
        "communicator": analysis.across.labels[number],
        "role": analysis.across.roles[number],
        "per_step": kind["step_count"] / kind["ranks"] / steps,
    }


def _rows_in_view(analysis: Analysis, view: View) -> Int64:
    """Places among all collectives of those of chosen steps that are in view."""
    calls = analysis.across.calls
    chosen = in_chosen_steps(analysis.trace, int64(calls, "rank"), int64(calls, "step"))
    return np.flatnonzero(chosen & view.has_rank(calls, "rank") & view.has_role(analysis, calls))


def _rows_by_kind(analysis: Analysis, view: View) -> dict[int, Int64]:
    """Those of each kind."""
    calls = analysis.across.calls
    chosen = in_chosen_steps(analysis.trace, int64(calls, "rank"), int64(calls, "step"))
    kind = np.full(calls.num_rows, -1)
    kind[chosen] = kind_of(analysis.collectives)
    rows = _rows_in_view(analysis, view)
    rows = rows[np.argsort(kind[rows], kind="stable")]
    numbers, first = np.unique(kind[rows], return_index=True)
    return dict(zip(numbers.tolist(), np.split(rows, first[1:])))


def slow_busbw_gbps(row: Mapping[str, Any]) -> float:
    """Of a kind of known bandwidth, that of the transfer than which only 5 % are slower."""
    known, p50, p95 = (row[name] for name in ("busbw_gbps", "transfer_p50_ns", "transfer_p95_ns"))
    return float(known * p50 / p95 if p50 and p95 else known)
