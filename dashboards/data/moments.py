"""Lanes in time: what follows on a lane, and what it holds at a moment."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from commscope.columns import Int64
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.covered import Covered
from commscope.dashboards.data.lanes import Lane


def next_event(lane: Lane, clock: RankClock, t: int, direction: int) -> tuple[int, int] | None:
    """Begin and end of the next event to begin after a time, or of the last before it."""
    own = clock.own_time(t)
    place = lane.begun_before(own + 1) if direction > 0 else lane.begun_before(own) - 1
    if not 0 <= place < len(lane):
        return None
    event = lane.places(np.array([place], np.int64))
    return _on_common(clock, int(lane.events.start[event][0]), int(lane.events.ends(event)[0]))


def next_interval(
    parts: tuple[Covered, ...], clock: RankClock, t: int, direction: int
) -> tuple[int, int] | None:
    """The same of the maximal intervals that disjoint sets make together."""
    own = clock.own_time(t)
    start = _nearest_start(parts, own, direction)
    while start is not None:
        begin, end = _grown(parts, start)
        if direction < 0 or begin > own:
            return _on_common(clock, begin, end)
        start = _nearest_start(parts, end - 1, direction)  # it was a later part of this one
    return None


def _nearest_start(parts: tuple[Covered, ...], own: int, direction: int) -> int | None:
    found = [_next_start(part, own, direction) for part in parts]
    starts = [start for start in found if start is not None]
    if not starts:
        return None
    return min(starts) if direction > 0 else max(starts)


def _next_start(part: Covered, own: int, direction: int) -> int | None:
    place = part.begun_before(own + (direction > 0)) - (direction < 0)
    return part.interval(place)[0] if 0 <= place < part.count else None


def _grown(parts: tuple[Covered, ...], start: int) -> tuple[int, int]:
    """The interval that begins then, with those that touch it on either side."""
    begin, end = start, start
    while (later := _end_at(parts, end)) > end:
        end = later
    while (earlier := _begin_before(parts, begin)) < begin:
        begin = earlier
    return begin, end


def _end_at(parts: tuple[Covered, ...], time: int) -> int:
    """The end of the interval that begins then; the time itself, where none does."""
    for part in parts:
        place = part.begun_before(time)
        if place < part.count and part.interval(place)[0] == time:
            return part.interval(place)[1]
    return time


def _begin_before(parts: tuple[Covered, ...], time: int) -> int:
    """The begin of the interval that ends then; the time itself, where none does."""
    for part in parts:
        place = part.begun_before(time) - 1
        if place >= 0 and part.interval(place)[1] == time:
            return part.interval(place)[0]
    return time


def _on_common(clock: RankClock, start: int, end: int) -> tuple[int, int]:
    return clock.common_time(start), clock.common_time(end)


def first_from(lane: Lane, own: int) -> Int64:
    """The events of a lane that begin exactly then, on the rank's own clock."""
    return lane.places(np.arange(lane.begun_before(own), lane.begun_before(own + 1)))


@dataclass(frozen=True, slots=True)
class Near:
    """An event at or beside a time, as the timeline draws it; times are on the common clock."""

    event: int
    name: int
    category: int
    row: int
    t0: int
    t1: int


@dataclass(frozen=True, slots=True)
class Aim:
    """What a click is meant for: no further off than the slack, shorter than ``below``."""

    t: int
    slack: int
    below: int
    hidden: Collection[int] = ()  #: categories that are not drawn


def nearest(lane: Lane, clock: RankClock, aim: Aim) -> Near | None:
    """The event that covers a time, of several the shortest; else the closest."""
    own = clock.own_time(aim.t)
    place = lane.running(own - aim.slack, own + aim.slack + 1)
    event = lane.places(place)
    duration = lane.events.duration[event]
    seen = (duration < aim.below) & ~np.isin(lane.events.category[event], list(aim.hidden))
    place, event, duration = place[seen], event[seen], duration[seen]
    if not len(place):
        return None
    start, end = lane.events.start[event], lane.events.ends(event)
    away = np.maximum(np.maximum(start - own, own - end + 1), 0)
    chosen = int(np.lexsort((duration, away))[0])
    return _near(lane, clock, int(place[chosen]), int(event[chosen]))


def between(lane: Lane, clock: RankClock, t0: int, t1: int) -> Near | None:
    """The event that begins and ends at these times; null where there is none."""
    first, last = clock.own_time(t0 - 1), clock.own_time(t0 + 1)
    place = np.arange(lane.begun_before(first), lane.begun_before(last + 1))
    near = (_near(lane, clock, *of) for of in zip(place.tolist(), lane.places(place).tolist()))
    return next((of for of in near if (of.t0, of.t1) == (t0, t1)), None)


def _near(lane: Lane, clock: RankClock, place: int, event: int) -> Near:
    start, end = int(lane.events.start[event]), int(lane.events.ends(np.array([event]))[0])
    return Near(
        event, int(lane.events.name[event]), int(lane.events.category[event]),
        int(lane.row[place]), *_on_common(clock, start, end),
    )  # fmt: skip
