"""The six columns of sizes of a kernel_trace as one."""

from __future__ import annotations

import pyarrow as pa

from commscope.columns import int64, nullable
from commscope.parsers.gpu_grids import workgroups

WORKGROUPS = "Workgroups"
GRID = ("Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z")
GROUP = ("Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z")


def with_workgroups(rows: pa.Table) -> pa.Table:
    """The table with the number of work-groups in place of the sizes, where it has them all."""
    there = [name for name in (*GRID, *GROUP) if name in rows.column_names]
    without = rows.drop_columns(there)
    if len(there) < len(GRID) + len(GROUP):
        return without
    grid, group = ([int64(rows, name) for name in names] for names in (GRID, GROUP))
    return without.append_column(WORKGROUPS, nullable(workgroups(grid, group)))
