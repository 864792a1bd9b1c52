"""Exposed communication by what it is for: data, tensor, pipeline, expert parallelism."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.analysis.across import Across
from commscope.analysis.timeline import Timeline, on_axis
from commscope.analysis.waiting import EXPOSED_PARTS, split_exposed, waiting_among
from commscope.analysis.windows import Windows
from commscope.columns import Int64, int64
from commscope.intervals import measure, union


def role_table(timeline: Timeline, across: Across, windows: Windows) -> pa.Table:
    """One row a role (null: not known) and rank: ``window_ns``, ``communication_ns`` and exposed.

    ``exposed_comm_ns`` and its three parts are those that the communication of this role alone
    would have. Where two roles are exposed at once both have the time: the sum over roles may
    exceed the exposed communication of the rank.
    """
    count = len(timeline.ranks)
    length = windows.sums(windows.end_ns - windows.start_ns, count)
    tables = [
        _of_role(timeline, across, windows, role).append_column("window_ns", pa.array(length))
        for role in sorted(set(across.roles), key=str)
    ]
    empty = pa.table({name: pa.array([], kind) for name, kind in _SCHEMA})
    whole = pa.concat_tables([empty, *(table.select(empty.column_names) for table in tables)])
    return whole.filter(pa.array(int64(whole, "communication_ns") > 0))


_SCHEMA = (
    ("role", pa.string()),
    ("rank", pa.int64()),
    ("window_ns", pa.int64()),
    ("communication_ns", pa.int64()),
    ("exposed_comm_ns", pa.int64()),
    *((name, pa.int64()) for name in EXPOSED_PARTS),
)


def _of_role(timeline: Timeline, across: Across, windows: Windows, role: str | None) -> pa.Table:
    count = len(timeline.ranks)
    chosen = across.has_role(int64(across.calls, "communicator"), role)
    waiting = waiting_among(timeline, across.calls, across.matching, chosen)
    split = split_exposed(timeline, waiting, windows.rank, windows.start_ns, windows.end_ns)
    start, end = windows.axis(timeline)
    _, begins, ends = on_axis(timeline, across.calls)
    columns: dict[str, Int64] = {
        "communication_ns": measure(union(begins[chosen], ends[chosen]), start, end),
        "exposed_comm_ns": measure(waiting.exposed, start, end),
    }
    summed = {name: pa.array(windows.sums(values, count)) for name, values in columns.items()}
    for name, values in split.items():
        unknown = ~waiting.has_matches & (name != "exposed_unmatched_ns")
        total = windows.sums(np.asarray(values.fill_null(0)), count)
        summed[name] = pa.array(total, mask=unknown)
    roles = pa.array([role] * count, pa.string())
    return pa.table({"role": roles, "rank": pa.array(timeline.ranks), **summed})
