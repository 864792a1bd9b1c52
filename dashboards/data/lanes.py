"""Lanes of the timeline, and what of one is seen in a window of time, exactly.

Times are on the rank's own clock, in ns since the run's origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from commscope.columns import Int64
from commscope.dashboards.data.covered import Covered
from commscope.dashboards.data.narrow import Narrow, count_below, int64_of, narrow
from commscope.dashboards.data.rows import Rows, rows_of
from commscope.intervals import union

#: Events of a block are passed over at once, where none of them is wide enough to be seen.
BLOCK = 64


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a lane, by start, in as few bytes as hold them.

    ``source`` is the row of each in the table that it is of: EVENTS, HOST, the steps or the gaps.
    """

    start: Int64
    duration: Narrow
    name: Narrow
    category: npt.NDArray[np.uint8]
    source: Narrow

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def of(
        cls,
        start: Int64,
        duration: Int64,
        name: Narrow,
        category: npt.NDArray[np.uint8],
        source: Int64,
    ) -> Events:
        """Events in any order."""
        order = _order(start, duration)
        if order is not None:
            start, duration, source = (of[order] for of in (start, duration, source))
            name, category = name[order], category[order]
        return cls(start, narrow(duration), name, category, narrow(source))

    def ends(self, event: Int64) -> Int64:
        """When some of them end."""
        return np.asarray(self.start[event] + self.duration[event])


def _order(start: Int64, duration: Int64) -> Int64 | None:
    """By start, and the longer first, which holds the others; null where they are in order."""
    step = np.diff(start)
    if (step > 0).all() or ((step >= 0).all() and (np.diff(duration)[step == 0] <= 0).all()):
        return None
    return np.lexsort((-duration, start))


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane: all of its events, or those of a stream, by their places (``index``)."""

    id: int
    rank: int  #: an index
    kind: str  #: steps, compute, communication, copy, exposed, stream or thread
    label: str
    parent: int | None
    events: Events
    index: Narrow | None
    row: Rows
    depth: int
    longest: Narrow  #: of each block
    latest: Int64  #: end of each block
    covered: Mapping[int, Covered]  #: by category

    def __len__(self) -> int:
        return len(self.events) if self.index is None else len(self.index)

    def places(self, place: Int64) -> Int64:
        """The events (as they are numbered for all lanes of one table) at places of the lane."""
        return place if self.index is None else int64_of(self.index[place])

    def begun_before(self, time: int) -> int:
        """How many of its events begin before a time."""
        place = int(np.searchsorted(self.events.start, np.int64(time), side="left"))
        if self.index is None:
            return place
        return count_below(self.index, place)

    def running(self, start: int, end: int) -> Int64:
        """Places of the events of which some part is in a window."""
        longest = int(self.longest.max(initial=0))
        place = np.arange(self.begun_before(start - longest), self.begun_before(end))
        event = self.places(place)
        runs = (self.events.ends(event) > start) & (self.events.duration[event] > 0)
        return np.asarray(place[runs])

    def wide(self, start: int, end: int, least: int) -> Int64:
        """Places of the events in a window that are no shorter than so many ns."""
        most = self.begun_before(end)
        longest = int(self.longest.max(initial=0))
        first = self.begun_before(start - longest) // BLOCK
        blocks = slice(first, -(-most // BLOCK))
        seen = (self.longest[blocks] >= least) & (self.latest[blocks] > start)
        chosen = np.flatnonzero(seen) + first
        place = (chosen[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        place = place[place < most]
        event = self.places(place)
        is_wide = (self.events.duration[event] >= least) & (self.events.ends(event) > start)
        return np.asarray(place[is_wide])


def lane_of(
    number: int,
    of: tuple[int, str, str, int | None],
    events: Events,
    index: Int64 | None = None,
    like: Lane | None = None,
) -> Lane:
    """A lane of (rank, kind, label, parent).

    ``like`` is the lane of which it shows a part: what all is in this part is kept once.
    """
    rank, kind, label, parent = of
    if like is not None and (index is None or len(index) == len(events)):
        return Lane(
            number, rank, kind, label, parent, events, None,
            like.row, like.depth, like.longest, like.latest, like.covered,
        )  # fmt: skip
    event = np.arange(len(events)) if index is None else index
    start = events.start[event]
    end = start + events.duration[event]
    row = rows_of(start, end)
    blocks = np.arange(0, len(start), BLOCK)
    return Lane(
        number, rank, kind, label, parent, events,
        index=None if index is None else narrow(index),
        row=row,
        depth=int(row.max(initial=0)) + 1,
        longest=_of_blocks(np.maximum, events.duration[event], blocks),
        latest=_of_blocks(np.maximum, end, blocks),
        covered=_by_category(events, event, like),
    )  # fmt: skip


def _of_blocks(of: np.ufunc, values: Narrow, blocks: Int64) -> Narrow:
    return np.asarray(of.reduceat(values, blocks)) if len(values) else values


def _by_category(events: Events, event: Int64, like: Lane | None) -> dict[int, Covered]:
    """When each category runs; a part that has all events of one shares it with the whole."""
    category = events.category[event]
    counts = np.bincount(category, minlength=1)
    whole = counts if like is None else np.bincount(events.category, minlength=len(counts))
    found = {}
    for number in np.flatnonzero(counts).tolist():
        if like is not None and counts[number] == whole[number]:
            found[number] = like.covered[number]
        else:
            found[number] = _covered(events, event[category == number])
    return found


def _covered(events: Events, event: Int64) -> Covered:
    return Covered.of(union(events.start[event], events.ends(event)))
