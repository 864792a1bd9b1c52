"""Rows of log tables that are alike, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import Int64, codes, int64, nullable
from commscope.schema import TEXT


def tally(
    table: pa.Table, columns: Sequence[str], distinct: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Rows that are alike in the columns, in the order of their first: one entry each.

    Beside the columns an entry holds ``count``, ``file`` and ``line`` of the first row, and for
    each column of ``distinct`` the number of its different values by the name ``column_count``;
    ``process`` stands for host and process id.
    """
    numbers = {f"key_{name}": _numbers(table, name) for name in columns}
    counted = {name: _counted(table, name) for name in distinct}
    rows = pa.table({**numbers, **counted, "row": np.arange(table.num_rows)})
    wanted = [("row", "min"), ("row", "count"), *((name, "count_distinct") for name in distinct)]
    grouped = rows.group_by(list(numbers)).aggregate(wanted).sort_by("row_min")
    shown: list[dict[str, Any]] = (
        table.select([*columns, "file", "line"]).take(grouped.column("row_min")).to_pylist()
    )
    for row, count in zip(shown, grouped.column("row_count").to_pylist()):
        row["count"] = count
    for name in distinct:
        for row, count in zip(shown, grouped.column(f"{name}_count_distinct").to_pylist()):
            row[f"{name}_count"] = count
    return shown


def _numbers(table: pa.Table, column: str) -> Int64:
    if table.schema.field(column).type == TEXT:
        return codes(table, column)[0]
    return int64(table, column)


def _counted(table: pa.Table, name: str) -> pa.Array:
    """A column as numbers, null where it is; a process without an id is that of its file."""
    if name != "process":
        return nullable(_numbers(table, name))
    host, pid, file = (_numbers(table, column) for column in ("host", "pid", "file"))
    width = max(int(pid.max(initial=0)), 0) + 1
    return pa.array(np.where(pid < 0, -1 - file, (host + 1) * width + pid))
