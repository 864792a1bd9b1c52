"""Rows that are alike in several columns, sums over them, and values that occur in others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commscope.columns import Bool, Int64, distinct_of


def group_rows(keys: Sequence[Int64]) -> tuple[Int64, Int64]:
    """(Group of each row, first row of each group); groups are in order of the keys' values."""
    distinct, group = distinct_of(keys[0])
    for key in keys[1:]:
        values, place = distinct_of(key)
        distinct, group = distinct_of(group * len(values) + place)
    first = np.empty(len(distinct), np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]  # of several rows the one written last stays
    return group, first


def group_sums(group: Int64, values: Int64, count: int) -> Int64:
    """The sum of the values of each of so many groups, exactly."""
    total = np.zeros(count, np.int64)
    np.add.at(total, group, values)
    return total


def is_among(values: Int64, others: Int64) -> Bool:
    """Which values occur in the others; for long arrays faster than ``numpy.isin``."""
    if not len(others):
        return np.zeros(len(values), np.bool_)
    ordered = np.sort(others)
    place = np.searchsorted(ordered, values)
    return np.asarray(ordered[np.minimum(place, len(ordered) - 1)] == values)


def rows_among(keys: Sequence[Int64], others: Sequence[Int64]) -> Bool:
    """Which rows are alike, in all columns, to one of the others."""
    count = len(keys[0])
    group, first = group_rows([np.concatenate(both) for both in zip(keys, others)])
    there = np.zeros(len(first), np.bool_)
    there[group[count:]] = True
    return np.asarray(there[group[:count]])
