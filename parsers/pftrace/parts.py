"""Rows by a value that few or many rows may share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from commscope.columns import Int64


def parts(values: Int64) -> Iterator[tuple[int, Int64]]:
    """Each value with the rows that have it, in order."""
    if len(values) and (values == values[0]).all():
        yield int(values[0]), np.arange(len(values))
        return
    order = np.argsort(values, kind="stable")
    steps = np.flatnonzero(np.diff(values[order])) + 1
    for rows in np.split(order, steps) if len(values) else ():
        yield int(values[rows[0]]), rows
