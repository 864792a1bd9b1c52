"""Numbers from 0 in as few bytes as hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from commscope.columns import Int64

#: An array of whole numbers, of any width.
Narrow = npt.NDArray[Any]


def narrow(values: Narrow) -> Narrow:
    """Numbers from 0 in the smallest type that holds them."""
    most = int(values.max(initial=0))
    for kind in (np.uint8, np.uint16, np.uint32):
        if most <= np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.int64)


def int64_of(values: Narrow) -> Int64:
    """Numbers to calculate with."""
    return values.astype(np.int64)


def count_below(values: Narrow, limit: int) -> int:
    """How many of these numbers, which ascend, are below the limit."""
    if limit > np.iinfo(values.dtype).max:
        return len(values)
    # A limit of another type would have all of them copied.
    return int(np.searchsorted(values, values.dtype.type(max(limit, 0)), side="left"))
