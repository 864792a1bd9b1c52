"""How much of any time a set of intervals covers, in few bytes an interval.

Starts, and what the set covers before each, are kept in blocks: in full of the first interval of
each, and relative to it of the others, in 32 bits where that is enough. A time is looked for among
the blocks, and then in its block, all times at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.columns import Int64
from commscope.dashboards.data.narrow import Narrow
from commscope.intervals import Intervals

_BITS = 5
_BLOCK = 1 << _BITS
_SMALL = np.iinfo(np.uint32)


@dataclass(frozen=True, slots=True)
class Covered:
    """A set of instants, made of disjoint intervals.

    ``starts`` and ``sums`` are blocks in a row; what is missing of the last one starts never.
    ``sums`` has one entry more than there are intervals, for the whole.
    """

    count: int
    first: Int64  #: when the first interval of each block starts
    starts: Narrow  #: of each interval, since then
    sum_before: Int64  #: how much of the set lies before each block
    sums: Narrow  #: before each interval, since then

    @classmethod
    def of(cls, intervals: Intervals) -> Covered:
        """The set that these disjoint intervals make."""
        sums = np.zeros(len(intervals) + 1, np.int64)
        np.cumsum(intervals.ends - intervals.starts, out=sums[1:])
        return cls(len(intervals), *_in_blocks(intervals.starts), *_in_blocks(sums))

    def until(self, times: Int64) -> Int64:
        """How much of the set lies before each of the times."""
        if not self.count:
            return np.zeros(len(times), np.int64)
        block = np.maximum(np.searchsorted(self.first, times, side="right") - 1, 0)
        since = times - self.first.take(block)
        place = (block << _BITS) + self._column(block, since)
        before = self._sum(place)
        run = np.minimum(since - self.starts.take(place), self._sum(place + 1) - before)
        return np.asarray(before + np.maximum(run, 0))

    def _column(self, block: Int64, since: Int64) -> Int64:
        """The last interval of each block to start by then; the first, where none does."""
        limit = np.minimum(np.maximum(since, 0), np.iinfo(self.starts.dtype).max - 1)
        blocks = self.starts.reshape(-1, _BLOCK).take(block, axis=0)
        begun = blocks <= limit.astype(self.starts.dtype)[:, None]
        # Adds up bytes, for which ``sum`` takes four times as long.
        return np.asarray(np.einsum("ij->i", begun.view(np.uint8)), np.int64) - 1

    def between(self, edges: Int64) -> Int64:
        """How much of the set lies from each of the edges, which ascend, to the next."""
        return np.diff(self.until(edges))

    def within(self, start: int, end: int) -> int:
        """How much of the set lies in one window."""
        return max(self._until(end) - self._until(start), 0)

    def begun_before(self, time: int) -> int:
        """How many of the intervals start before a time."""
        block = int(np.searchsorted(self.first, np.int64(time), side="left")) - 1
        if block < 0:
            return 0
        since = min(time - int(self.first[block]), int(np.iinfo(self.starts.dtype).max))
        starts = self.starts[block << _BITS : (block + 1) << _BITS]
        return (block << _BITS) + int(np.searchsorted(starts, starts.dtype.type(since)))

    def interval(self, place: int) -> tuple[int, int]:
        """Start and end of one interval."""
        start = int(self.first[place >> _BITS]) + int(self.starts[place])
        return start, start + self._sum_at(place + 1) - self._sum_at(place)

    def _until(self, time: int) -> int:
        """As ``until``, of one time."""
        place = self.begun_before(time) - 1
        if place < 0:
            return 0
        start, end = self.interval(place)
        return self._sum_at(place) + min(time, end) - start

    def _sum_at(self, place: int) -> int:
        return int(self.sum_before[place >> _BITS]) + int(self.sums[place])

    def _sum(self, place: Int64) -> Int64:
        return np.asarray(self.sum_before.take(place >> _BITS) + self.sums.take(place))


def _in_blocks(values: Int64) -> tuple[Int64, Narrow]:
    """Numbers that ascend: the first of each block, and how far each is from that."""
    first = values[::_BLOCK].copy()
    since = values - np.repeat(first, _BLOCK)[: len(values)]
    is_small = since.max(initial=0) < _SMALL.max
    kind = np.dtype(np.uint32 if is_small else np.int64)
    blocks = np.full(len(first) * _BLOCK, np.iinfo(kind).max, kind)
    blocks[: len(values)] = since
    return first, blocks
