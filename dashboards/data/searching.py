"""Events by a text in their names, and collectives by what they are; what was found is kept."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import Bool, Int64, codes, int64
from commscope.dashboards.data.categories import COMMUNICATION
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.lanes import Lane
from commscope.dashboards.data.names import NameBook
from commscope.dashboards.data.narrow import Narrow, count_below, int64_of, narrow
from commscope.units import size

#: A person types one text after the other.
_KEPT = 2
#: A step or a rank: of number 3, and not of 30.
_NUMBERED = re.compile(r"(?:step |profilerstep#)(\d+)|rank (\d+)")
_WAITS = "waiting for rank "


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


@dataclass(frozen=True, slots=True)
class Collectives:
    """What collectives are besides their kernels: operation, size and communicator.

    ``event`` are rows of EVENTS, and ``code`` the text of each.
    """

    event: Narrow
    code: Narrow
    texts: tuple[str, ...]

    @classmethod
    def of(cls, calls: pa.Table, labels: Sequence[str]) -> Collectives:
        """Of the collectives of a run, and what their communicators are called."""
        code, ops = codes(calls, "op")
        columns = [code, int64(calls, "bytes"), int64(calls, "communicator")]
        kinds, place = np.unique(np.stack(columns), axis=1, return_inverse=True)
        texts = (_text_of(op, size_, of, ops, labels) for op, size_, of in zip(*kinds.tolist()))
        return cls(narrow(int64(calls, "event")), narrow(place.ravel()), tuple(texts))

    def rows(self, text: str) -> Int64:
        """The events whose text holds another one, in lower case."""
        is_it = np.fromiter((text in of for of in self.texts), np.bool_, count=len(self.texts))
        return int64_of(self.event[is_it[self.code]])


def _text_of(
    op: int, size_bytes: int, communicator: int, ops: list[str], labels: Sequence[str]
) -> str:
    parts = (
        ops[op] if 0 <= op < len(ops) else "",
        size(size_bytes) if size_bytes >= 0 else "",
        labels[communicator] if 0 <= communicator < len(labels) else "",
    )
    return " ".join(filter(None, parts)).casefold()


@dataclass(slots=True)
class Found:
    """The names that hold a text, collectives that do, and the places of both in lanes."""

    names: Bool
    rows: Int64
    _places: dict[int, Narrow] = field(default_factory=dict)

    def places(self, lane: Lane) -> Narrow:
        """Where in a lane such events are."""
        if lane.id not in self._places:
            is_it = self.hits(lane, slice(None))
            mine = is_it if lane.index is None else is_it[lane.index]
            self._places[lane.id] = narrow(np.flatnonzero(mine))
        return self._places[lane.id]

    def hits(self, lane: Lane, event: Int64 | slice) -> Bool:
        """Which of the events of a lane are found."""
        is_it = self.names[lane.events.name[event]]
        if len(self.rows):
            is_one = lane.events.category[event] == COMMUNICATION
            is_it = is_it | (is_one & np.isin(lane.events.source[event], self.rows))
        return np.asarray(is_it)


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches, and keeps what the last texts found."""

    book: NameBook
    collectives: Collectives
    _kept: OrderedDict[str, Found] = field(default_factory=OrderedDict, compare=False)
    _lock: Lock = field(default_factory=Lock)

    def found(self, text: str) -> Found:
        """What a text is found in."""
        with self._lock:
            if text not in self._kept:
                self._kept[text] = self._find(text)
            self._kept.move_to_end(text)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return self._kept[text]

    def _find(self, text: str) -> Found:
        wanted = text.casefold()
        number = _NUMBERED.fullmatch(wanted)
        if number is None:
            return Found(self.book.matching(wanted), self.collectives.rows(wanted))
        step, rank = number.groups()
        names = (f"step {step}", f"profilerstep#{step}") if rank is None else (_WAITS + rank,)
        return Found(self.book.named(names), np.empty(0, np.int64))


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
