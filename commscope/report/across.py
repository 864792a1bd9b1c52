"""Sections of the report that need several ranks: clocks, instances, waiting, bandwidth."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.analysis.bandwidth import Message, bandwidth_of
from commscope.analysis.hardware import Part, part_of
from commscope.analysis.overlap import KIND
from commscope.analysis.percentiles import percentiles
from commscope.analysis.result import Analysis
from commscope.analysis.roles import role_of
from commscope.columns import NONE, Int64, int64
from commscope.report.model import Clock, RankClock

_ZERO = {"communication_ns": 0, "hidden_ns": 0, "exposed_ns": 0}


def clock_of(analysis: Analysis, origin: int) -> Clock:
    """How the clocks were aligned; offsets are those at the origin of the report."""
    ranks = analysis.timeline.ranks.tolist()
    clocks = analysis.across.matching.clocks
    if len(ranks) < 2:
        return Clock("one rank", origin, (RankClock(ranks[0], 0, None),))
    if not (analysis.across.matching.instance >= 0).any():
        method = "the ranks' own clocks: no collective could be matched"
        return Clock(method, origin, tuple(RankClock(rank, 0, None) for rank in ranks))
    at = np.array([origin])
    offsets = [int((at - c.aligned(at))[0]) for c in clocks.corrections]
    known = clocks.part == clocks.part[0]
    errors = [int(e) if k else None for e, k in zip(clocks.error_ns, known)]
    one_host = "one host, one clock; its error from ends of matched collectives"
    method = one_host if analysis.across.hosts == 1 else "ends of matched collectives"
    return Clock(method, origin, tuple(map(RankClock, ranks, offsets, errors)))


def roles_of(analysis: Analysis) -> list[str | None]:
    """The role of each communicator."""
    calls, of_row = analysis.across.calls, analysis.across.matching.communicators.of_row
    ops: defaultdict[int, set[str]] = defaultdict(set)
    for number, op in zip(of_row.tolist(), calls.column("op").to_pylist()):
        if op is not None:
            ops[number].add(op)
    found = analysis.across.matching.communicators.found
    given = analysis.trace.roles
    return [role_of(c, sorted(ops[number]), given) for number, c in enumerate(found)]


def names_of(analysis: Analysis) -> list[str]:
    """What each communicator is called: its name and what it is for, else its stream."""
    found = analysis.across.matching.communicators.found
    return [c.description or c.name or "unnamed" for c in found]


def _with_communicators(analysis: Analysis, table: pa.Table) -> pa.Table:
    """A table with the names and roles of its communicators instead of their indices."""
    index = int64(table, "communicator")
    names, roles = names_of(analysis), roles_of(analysis)
    place = table.column_names.index("communicator")
    table = table.set_column(
        place, "communicator", pa.array([names[i] for i in index], pa.string())
    )
    return table.append_column("role", pa.array([roles[i] for i in index], pa.string()))


def instances_table(analysis: Analysis, origin: int) -> pa.Table:
    """Every instance, by time on the common clock."""
    table = analysis.across.instances
    last = pa.array(int64(table, "last_arrival_ns") - origin)
    table = table.set_column(table.column_names.index("last_arrival_ns"), "last_arrival_ns", last)
    return _with_communicators(analysis, table)


def waiting_table(analysis: Analysis) -> pa.Table:
    """Who waited for whom, most first."""
    return _with_communicators(analysis, analysis.across.waits)


def stragglers_table(analysis: Analysis) -> pa.Table:
    """Who arrived last, most waiting caused first."""
    return _with_communicators(analysis, analysis.across.stragglers)


def verdicts_of(analysis: Analysis) -> tuple[str, ...]:
    """A sentence for each communicator with waiting."""
    names = names_of(analysis)
    several = len(names) > 1
    return tuple(
        f"{names[v.communicator]}: {v.says}" if several else v.says
        for v in analysis.across.verdicts
    )


def collectives_table(analysis: Analysis, hide_overlap: bool) -> pa.Table:
    """Kinds of collectives summed over ranks: counts, times, waiting and bandwidth."""
    steps = max(len(set(analysis.steps.column("step").to_pylist())), 1)
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in analysis.collective_kinds.to_pylist():
        key = tuple(row[name] for name in KIND)
        total = merged.setdefault(key, {**row, "ranks": 0, "count": 0, "step_count": 0, **_ZERO})
        total["ranks"] += 1
        for name in ("count", "step_count", *_ZERO):
            total[name] += row[name]
    costs = _Costs(analysis)
    rows = [
        {**_collective_row(row, steps, hide_overlap), **costs.of(key)}
        for key, row in merged.items()
    ]
    rows.sort(key=lambda row: (-row["communication_ns"], str(row)))
    return pa.Table.from_pylist(rows, schema=_COLLECTIVES)


_COLLECTIVES = pa.schema(
    [
        ("communicator", pa.string()),
        ("description", pa.string()),
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
        ("algbw_gbps", pa.float64()),
        ("busbw_gbps", pa.float64()),
        ("expected_busbw_gbps", pa.float64()),
        ("bandwidth_note", pa.string()),
    ]
)


def _collective_row(row: dict[str, Any], steps: int, hide: bool) -> dict[str, Any]:
    return {
        "communicator": row["comm"],
        "description": row["description"],
        "op": row["op"],
        "dtype": row["dtype"],
        "bytes": row["bytes"],
        "group_size": row["group_size"],
        "count": row["count"],
        "per_step": row["step_count"] / row["ranks"] / steps,
        "communication_ns": row["communication_ns"],
        "hidden_ns": None if hide else row["hidden_ns"],
        "exposed_ns": None if hide else row["exposed_ns"],
    }


class _Costs:
    """Waiting, transfer and bandwidth of each kind of collective."""

    def __init__(self, analysis: Analysis) -> None:
        calls, matching = analysis.across.calls, analysis.across.matching
        self._part = self._only_part(analysis)
        self._one_host = analysis.across.hosts == 1
        self._wait, self._length = matching.wait_ns, int64(calls, "dur_ns")
        self._instance, self._transfer = matching.instance, matching.transfer_of_ns
        self._members = matching.members
        self._rows: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
        columns = [calls.column(name).to_pylist() for name in KIND]
        for row, key in enumerate(zip(*columns)):
            self._rows[key].append(row)

    @staticmethod
    def _only_part(analysis: Analysis) -> Part | None:
        parts = {part_of(gpu) for gpu in analysis.trace.ranks.column("gpu").to_pylist()}
        return parts.pop() if len(parts) == 1 else None

    def of(self, key: tuple[Any, ...]) -> dict[str, Any]:
        """The columns of one kind."""
        rows = np.array(self._rows[key], np.int64)
        matched = rows[self._instance[rows] >= 0]
        instances = np.unique(self._instance[matched])
        times = self._transfer[instances]
        times = times[times != NONE]
        p50, p95 = self._percentiles(times)
        facts = dict(zip(KIND, key))
        shortest = int(self._length[rows].min()) if len(rows) else None
        members = facts["group_size"] or self._size(instances)
        message = Message(
            op=facts["op"],
            size_bytes=facts["bytes"],
            members=members,
            time_ns=p50 or shortest,
            is_matched=p50 is not None,
            one_host=self._one_host,
        )
        found = bandwidth_of(message, self._part)
        return {
            "matched": len(matched),
            "wait_ns": int(self._wait[matched].sum()) if len(matched) else None,
            "transfer_p50_ns": p50,
            "transfer_p95_ns": p95,
            "algbw_gbps": found.algbw_gbps,
            "busbw_gbps": found.busbw_gbps,
            "expected_busbw_gbps": found.expected_busbw_gbps,
            "bandwidth_note": found.note,
        }

    def _size(self, instances: Int64) -> int | None:
        return int(self._members[instances].max()) if len(instances) else None

    @staticmethod
    def _percentiles(times: Int64) -> tuple[int | None, int | None]:
        if not len(times):
            return None, None
        p50, p95 = percentiles(times, (50, 95))
        return int(p50), int(p95)
