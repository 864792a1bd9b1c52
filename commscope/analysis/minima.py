"""Least numbers of runs in a row of numbers, for many runs at once."""

from __future__ import annotations

import numpy as np

from commscope.columns import Int64

_MOST = int(np.iinfo(np.int64).max)


class Minima:
    """The least of every run of 1, 2, 4, ... numbers: a run of any length is two of these."""

    def __init__(self, values: Int64) -> None:
        self._count = len(values)
        self._levels = [np.append(values, _MOST)]
        while (length := 1 << (len(self._levels) - 1)) < self._count:
            last = self._levels[-1]
            behind = np.append(last, np.full(length, _MOST))[length:]
            self._levels.append(np.minimum(last, behind))

    def least(self, low: Int64, high: Int64) -> Int64:
        """The least number from each place on, up to another that is greater."""
        level = np.frexp(high - low)[1].astype(np.int64) - 1
        found = np.full(len(low), _MOST)
        for number, values in enumerate(self._levels):
            mine = np.flatnonzero(level == number)
            tail = high[mine] - (1 << number)
            found[mine] = np.minimum(values[low[mine]], values[tail])
        return found

    def first_at_most(self, place: Int64, limit: Int64) -> Int64:
        """From each place on, the first with a number not above the limit; the count for none."""
        found = place.copy()
        for number in reversed(range(len(self._levels))):
            above = self._levels[number][found] > limit
            found = np.minimum(found + (above << number), self._count)
        return np.asarray(found)
