"""Sets of time as sorted, disjoint, half-open intervals ``[start, end)`` on int64 arrays.

All operations are exact, vectorised, and linear in the number of intervals once sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from commscope.columns import NONE, Int64, at

_EMPTY = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Intervals:
    """A set of instants: ``starts`` and ``ends`` ascend, and neither touch nor overlap."""

    starts: Int64
    ends: Int64

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def total(self) -> int:
        """Length of the set."""
        return int((self.ends - self.starts).sum())


EMPTY = Intervals(_EMPTY, _EMPTY)


def union(starts: Int64, ends: Int64) -> Intervals:
    """The instants covered by any of the intervals, given in any order; empty ones are nothing."""
    real = ends > starts
    if not real.all():
        starts, ends = starts[real], ends[real]
    if not len(starts):
        return EMPTY
    if (starts[1:] < starts[:-1]).any():
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    reach = np.maximum.accumulate(ends)
    firsts = np.flatnonzero(np.concatenate(([True], starts[1:] > reach[:-1])))
    lasts = np.append(firsts[1:], len(starts)) - 1
    return Intervals(starts[firsts], reach[lasts])


def grouped_union(groups: Int64, starts: Int64, ends: Int64) -> tuple[Int64, Int64, Int64]:
    """The union within each group: (group, start, end) of disjoint intervals, in order."""
    real = ends > starts
    groups, starts, ends = groups[real], starts[real], ends[real]
    order = np.lexsort((starts, groups))
    groups, starts, ends = groups[order], starts[order], ends[order]
    # Places of the ends instead of the ends: a running maximum that restarts with each group
    # needs the group in the number, and times are too long to share 64 bits with it.
    times, place = np.unique(ends, return_inverse=True)
    count = max(len(times), 1)
    reach = np.maximum.accumulate(place.reshape(-1) + groups * count) - groups * count
    reached = times[reach] if len(times) else ends
    begins = np.ones(len(starts), np.bool_)
    begins[1:] = (starts[1:] > reached[:-1]) | (groups[1:] != groups[:-1])
    firsts = np.flatnonzero(begins)
    lasts = np.append(firsts[1:], len(starts))[: len(firsts)] - 1
    return groups[firsts], starts[firsts], reached[lasts]


def covered_until(of: Intervals, times: Int64) -> Int64:
    """How much of the set lies before each of the times."""
    return _covered_until(of, _lengths_before(of), times)


def measure(of: Intervals, starts: Int64, ends: Int64) -> Int64:
    """How much of the set lies in each window ``[start, end)``; windows may overlap."""
    before = _lengths_before(of)
    inside = _covered_until(of, before, ends) - _covered_until(of, before, starts)
    return np.where(ends > starts, inside, 0)


def _lengths_before(of: Intervals) -> Int64:
    """How much of the set lies before each interval, then all of it."""
    before = np.zeros(len(of) + 1, np.int64)
    np.cumsum(of.ends - of.starts, out=before[1:])
    return before


def _covered_until(of: Intervals, before: Int64, times: Int64) -> Int64:
    if not len(of):
        return np.zeros(len(times), np.int64)
    index = np.searchsorted(of.starts, times, side="right")
    last = np.maximum(index - 1, 0)
    partial = np.minimum(times, of.ends[last]) - of.starts[last]
    return np.where(index > 0, before[last] + partial, 0)


def intersection(a: Intervals, b: Intervals) -> Intervals:
    """The instants that are in both."""
    few, many = (a, b) if len(a) < len(b) else (b, a)
    first = np.searchsorted(many.ends, few.starts, side="right")
    count = np.searchsorted(many.starts, few.ends, side="left") - first
    # One piece for each pair that overlaps, of each of the few in turn.
    one = np.repeat(np.arange(len(few)), count)
    other = np.arange(len(one)) + np.repeat(first - (np.cumsum(count) - count), count)
    return Intervals(
        np.maximum(few.starts[one], many.starts[other]), np.minimum(few.ends[one], many.ends[other])
    )


def difference(a: Intervals, b: Intervals) -> Intervals:
    """The instants of ``a`` that are not in ``b``."""
    return intersection(a, _complement(b))


def _complement(of: Intervals) -> Intervals:
    """All instants that are not in the set."""
    always = np.iinfo(np.int64)
    return Intervals(np.append(always.min, of.ends), np.append(of.starts, always.max))


def clip(of: Intervals, start: int, end: int) -> Intervals:
    """The part of the set inside one window."""
    starts, ends = np.maximum(of.starts, start), np.minimum(of.ends, end)
    real = ends > starts
    return Intervals(starts[real], ends[real])


def cut(starts: Int64, ends: Int64, edges: Int64) -> tuple[Int64, Int64]:
    """Starts and ends of disjoint intervals, cut at those edges (ascending) that are inside one."""
    holds = np.searchsorted(starts, edges, side="left") - 1
    inside = edges[(holds >= 0) & (edges < at(ends, holds, NONE))]
    return np.sort(np.concatenate((starts, inside))), np.sort(np.concatenate((ends, inside)))


def innermost(times: Int64, begin: Int64, end: Int64) -> Int64:
    """The interval begun last of those that run at each time, the shorter of two; -1 for none."""
    order = np.lexsort((-end, begin))
    bounds = np.unique(np.concatenate((begin, end)))
    inner = _running(bounds.tolist(), begin[order].tolist(), end[order].tolist())
    # Before the first bound none runs, nor does at the last one.
    found = np.array([*inner, -1], np.int64)[np.searchsorted(bounds, times, "right") - 1]
    return np.asarray(np.append(order, -1)[found])


def _running(times: Sequence[int], begin: Sequence[int], end: Sequence[int]) -> list[int]:
    """Which interval, of those in order of begin, runs innermost from each time on; -1 for none."""
    following, running, found = 0, list[int](), list[int]()
    for time in times:
        while following < len(begin) and begin[following] <= time:
            heappush(running, -following)
            following += 1
        while running and end[-running[0]] <= time:
            heappop(running)
        found.append(-running[0] if running else -1)
    return found
