"""How many work-groups a kernel has, from the sizes of its grid and of a work-group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commscope.columns import NONE, Int64

#: No grid has more work-groups, so that products of three stay within 64 bits.
_MOST = 1 << 62


def workgroups(grid: Sequence[Int64], group: Sequence[Int64]) -> Int64:
    """Work-groups from work-items of the grid and of a group; ``NONE`` where one is missing."""
    known = np.all([*(size > 0 for size in grid), *(size > 0 for size in group)], axis=0)
    count = np.ones(len(known), np.int64)
    for whole, part in zip(grid, group):
        if (whole == part).all():
            continue  # most grids are flat
        along = -(-whole // np.where(known, part, 1))
        known &= along <= _MOST // np.maximum(count, 1)
        count = np.where(known, count * along, 1)
    return np.where(known, count, NONE)
