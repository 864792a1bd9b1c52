"""Sections of the report that need several ranks: clocks, instances, waiting, stragglers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.analysis.result import Analysis
from commscope.columns import NONE, int64, nullable, with_column
from commscope.report.model import Clock, RankClock
from commscope.report.view import View


def clock_of(analysis: Analysis, origin: int) -> Clock:
    """How the clocks were aligned; offsets are those at each rank's first activity."""
    ranks = analysis.timeline.ranks.tolist()
    clocks = analysis.across.matching.clocks
    if len(ranks) < 2:
        return Clock("one rank", origin, (RankClock(ranks[0], 0, None),))
    if not (analysis.across.matching.instance >= 0).any():
        method = "the ranks' own clocks: no collective could be matched"
        return Clock(method, origin, tuple(RankClock(rank, 0, None) for rank in ranks))
    first = analysis.timeline.first_ns
    offsets = [int(at - c.aligned(np.array([at]))[0]) for at, c in zip(first, clocks.corrections)]
    drifts = [c.drift * 1e6 for c in clocks.corrections]
    known = clocks.part == clocks.part[0]
    errors = [int(e) if k else None for e, k in zip(clocks.error_ns, known)]
    one_host = "one host, one clock; its error from ends of matched collectives"
    method = one_host if analysis.across.hosts == 1 else "ends of matched collectives"
    return Clock(method, origin, tuple(map(RankClock, ranks, offsets, errors, drifts)))


def with_names(analysis: Analysis, table: pa.Table) -> pa.Table:
    """A table with the names of its communicators instead of their indices."""
    labels = pa.array(analysis.across.labels, pa.string())
    place = table.column_names.index("communicator")
    named = labels.take(table.column(place).combine_chunks())
    return table.set_column(place, "communicator", named)


def since(table: pa.Table, name: str, origin: int) -> pa.Table:
    """A table with a column of times counted from the origin; null stays null."""
    times = int64(table, name)
    return with_column(table, name, nullable(np.where(times == NONE, NONE, times - origin)))


def _with_communicators(analysis: Analysis, table: pa.Table) -> pa.Table:
    """A table with the names of its communicators, and with their roles."""
    roles = pa.array(analysis.across.roles, pa.string())
    index = table.column("communicator").combine_chunks()
    return with_names(analysis, table).append_column("role", roles.take(index))


def instances_table(analysis: Analysis, origin: int) -> pa.Table:
    """Every instance, by time on the common clock."""
    return _with_communicators(
        analysis, since(analysis.across.instances, "last_arrival_ns", origin)
    )


def waiting_table(analysis: Analysis, view: View) -> pa.Table:
    """Who waited for whom, most first."""
    table = analysis.across.waits
    shown = view.has_rank(table, "waiter") | view.has_rank(table, "straggler")
    return _with_communicators(
        analysis, table.filter(pa.array(shown & view.has_role(analysis, table)))
    )


def stragglers_table(analysis: Analysis, view: View) -> pa.Table:
    """Who arrived last, most waiting caused first."""
    table = analysis.across.stragglers
    shown = view.has_rank(table, "rank") & view.has_role(analysis, table)
    return _with_communicators(analysis, table.filter(pa.array(shown)))


def verdicts_of(analysis: Analysis, view: View) -> tuple[str, ...]:
    """A sentence for each communicator with waiting."""
    names, roles = analysis.across.labels, analysis.across.roles
    several = len(names) > 1
    return tuple(
        f"{names[v.communicator]}: {v.says}" if several else v.says
        for v in analysis.across.verdicts
        if view.is_shown_role(roles[v.communicator])
    )


def communicators_table(analysis: Analysis) -> pa.Table:
    """The communicators, in the words of the trace."""
    across = analysis.across
    rows = [
        {
            "communicator": label,
            "role": role,
            "name": found.name,
            "description": found.description,
            "members": list(found.members),
            "size": found.size,
            "by_stream": found.by_stream,
        }
        for label, role, found in zip(
            across.labels, across.roles, across.matching.communicators.found
        )
    ]
    return pa.Table.from_pylist(rows, schema=_COMMUNICATORS)


_COMMUNICATORS = pa.schema(
    [
        ("communicator", pa.string()),
        ("role", pa.string()),
        ("name", pa.string()),
        ("description", pa.string()),
        ("members", pa.list_(pa.int64())),
        ("size", pa.int64()),
        ("by_stream", pa.bool_()),
    ]
)


def traffic_table(analysis: Analysis) -> pa.Table:
    """Who sent how much to whom in all_to_all."""
    return _with_communicators(analysis, analysis.traffic)
