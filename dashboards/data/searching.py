"""Events by a text in their names; what was found is kept for the next windows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from commscope.columns import Bool
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.lanes import Lane
from commscope.dashboards.data.names import NameBook
from commscope.dashboards.data.narrow import Narrow, count_below, int64_of, narrow

#: A person types one text after the other.
_KEPT = 2


@dataclass(frozen=True, slots=True)
class Match:
    """One event that was found."""

    lane: int
    event: int
    t0: int
    t1: int


@dataclass(frozen=True, slots=True)
class Matches:
    """What a text was found in; parts of lanes (streams) are not counted again.

    ``lanes`` are (lane, number of events); ``first`` is the first of all to begin.
    """

    text: str
    count: int
    first: Match | None
    lanes: tuple[tuple[int, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "count": self.count,
            "first": None if self.first is None else match_dict(self.first),
            "lanes": [{"id": lane, "count": count} for lane, count in self.lanes],
        }


def match_dict(match: Match) -> dict[str, int]:
    """A match as JSON."""
    return {"lane": match.lane, "event": match.event, "t0": match.t0, "t1": match.t1}


@dataclass(slots=True)
class Found:
    """The names that hold a text, and the places of such events in each lane asked for."""

    names: Bool
    _places: dict[int, Narrow] = field(default_factory=dict)

    def places(self, lane: Lane) -> Narrow:
        """Where in a lane such events are."""
        if lane.id not in self._places:
            is_it = self.names[lane.events.name]
            mine = is_it if lane.index is None else is_it[lane.index]
            self._places[lane.id] = narrow(np.flatnonzero(mine))
        return self._places[lane.id]


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches, and keeps what the last texts found."""

    book: NameBook
    _kept: OrderedDict[str, Found] = field(default_factory=OrderedDict, compare=False)
    _lock: Lock = field(default_factory=Lock)

    def found(self, text: str) -> Found:
        """What a text is found in."""
        with self._lock:
            if text not in self._kept:
                self._kept[text] = Found(self.book.matching(text))
            self._kept.move_to_end(text)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return self._kept[text]


def matches_of(
    text: str, found: Found, lanes: Sequence[Lane], clocks: Sequence[RankClock]
) -> Matches:
    """How many events of the lanes match, and the first."""
    counts = tuple((lane.id, len(places)) for lane in lanes if len(places := found.places(lane)))
    return Matches(
        text, sum(count for _, count in counts), next_match(found, lanes, clocks, None, 1), counts
    )


def next_match(
    found: Found, lanes: Sequence[Lane], clocks: Sequence[RankClock], t: int | None, direction: int
) -> Match | None:
    """The next match to begin after a time, or the last before it; from the first without one."""
    candidates = [
        match
        for lane in lanes
        if (match := _next_of(lane, found.places(lane), clocks[lane.rank], t, direction))
    ]
    if not candidates:
        return None
    chosen = min if direction > 0 else max
    return chosen(candidates, key=lambda match: (match.t0, -match.lane * direction))


def _next_of(
    lane: Lane, places: Narrow, clock: RankClock, t: int | None, direction: int
) -> Match | None:
    if t is None:
        number = 0
    else:
        own = clock.own_time(t)
        limit = lane.begun_before(own + 1 if direction > 0 else own)
        number = count_below(places, limit) - (direction < 0)
    if not 0 <= number < len(places):
        return None
    return match_at(lane, clock, int(places[number]))


def match_at(lane: Lane, clock: RankClock, place: int) -> Match:
    """The event at a place of a lane, with its times on the common clock."""
    event = lane.places(np.array([place], np.int64))
    start, end = int(lane.events.start[event][0]), int(lane.events.ends(event)[0])
    return Match(lane.id, int(event[0]), clock.common_time(start), clock.common_time(end))


def within(places: Narrow, first: int, last: int) -> Narrow:
    """Of places that ascend, those from the first up to the last, which is left out."""
    begin, end = (count_below(places, of) for of in (first, last))
    return int64_of(places[begin:end])
