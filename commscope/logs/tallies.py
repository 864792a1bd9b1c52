"""Rows of log tables that are alike, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import codes, int64
from commscope.schema import TEXT


def tally(
    table: pa.Table, columns: Sequence[str], distinct: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Rows that are alike in the columns, in the order of their first: one entry each.

    Beside the columns an entry holds ``count``, ``file`` and ``line`` of the first row, and for
    each column of ``distinct`` the number of its different values by the name ``column_count``;
    ``process`` stands for host and process id.
    """
    keys = {f"key_{name}": _numbers(table, name) for name in columns}
    counted = {name: _counted(table, name) for name in distinct}
    # Whole columns of a long log take much memory: they are not copied, and rows need no 64 bits.
    number = np.arange(table.num_rows, dtype=np.uint32)
    rows = pa.table({**keys, **counted, "row": number})
    wanted = [("row", "min"), ("row", "count"), *((name, "count_distinct") for name in distinct)]
    grouped = rows.group_by(list(keys)).aggregate(wanted).sort_by("row_min")
    shown: list[dict[str, Any]] = (
        table.select([*columns, "file", "line"]).take(grouped.column("row_min")).to_pylist()
    )
    for row, count in zip(shown, grouped.column("row_count").to_pylist()):
        row["count"] = count
    for name in distinct:
        for row, count in zip(shown, grouped.column(f"{name}_count_distinct").to_pylist()):
            row[f"{name}_count"] = count
    return shown


def _numbers(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column as numbers, null where it is."""
    column = table.column(name)
    if column.type != TEXT:
        return column
    chunks = [chunk.indices for chunk in column.unify_dictionaries().chunks]
    return pa.chunked_array(chunks, pa.int32())


def _counted(table: pa.Table, name: str) -> pa.ChunkedArray | pa.Array:
    """A column as numbers, null where it is; a process without an id is that of its file."""
    if name != "process":
        return _numbers(table, name)
    host, file = (codes(table, column)[0] for column in ("host", "file"))
    pid = int64(table, "pid")
    width = max(int(pid.max(initial=0)), 0) + 1
    return pa.array(np.where(pid < 0, -1 - file, (host + 1) * width + pid))
