"""Percentiles, interpolated linearly and exact in integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commscope.columns import Int64, order_of_codes

_HALF = 50


def percentiles(values: Int64, percents: Sequence[int]) -> list[int]:
    """Percentiles of values, of which there is at least one, in any order."""
    ordered, first, count = np.sort(values), np.zeros(1, np.int64), np.array([len(values)])
    return [int(group_percentile(ordered, first, count, percent)[0]) for percent in percents]


def group_median(group: Int64, values: Int64, count: int, *, missing: int) -> Int64:
    """The median of each of so many groups, in any order; ``missing`` for empty ones."""
    order = np.argsort(values)
    order = order[order_of_codes(group[order])]  # in two steps: faster than lexsort
    size = np.bincount(group, minlength=count)
    first, some = np.cumsum(size) - size, np.flatnonzero(size)
    found = np.full(count, missing, np.int64)
    found[some] = group_percentile(values[order], first[some], size[some], 50)
    return found


def group_percentile(ordered: Int64, first: Int64, count: Int64, percent: int) -> Int64:
    """The percentile of each run of sorted values: ``count`` of them, at least 1, from ``first``.

    To the nearest whole number, halves to the even one.
    """
    place = (count - 1) * percent
    low = first + place // 100
    high = np.minimum(low + 1, first + count - 1)
    hundreds, ones = np.divmod(ordered[high] - ordered[low], 100)  # their product cannot wrap
    rise, rest = np.divmod(ones * (place % 100), 100)
    below = ordered[low] + hundreds * (place % 100) + rise
    return np.asarray(below + ((rest > _HALF) | ((rest == _HALF) & (below % 2 == 1))))
