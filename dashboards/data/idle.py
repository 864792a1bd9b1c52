"""A stretch in which a rank's device runs nothing: how long it is, and what its host did in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from commscope.columns import Int64
from commscope.dashboards.data.categories import number_of
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.covered import Covered
from commscope.dashboards.data.lanes import Lane
from commscope.dashboards.data.names import NameBook
from commscope.dashboards.data.narrow import Narrow
from commscope.intervals import clip, union

_ANNOTATION, _LAUNCH = number_of("host_annotation"), number_of("host_launch")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LongestCall:
    """The call that took most of a stretch; ``inside_ns`` is what of it lies in there."""

    name: str
    thread: str
    inside_ns: int


@dataclass(frozen=True, slots=True)
class HostPart:
    """What a host did in a stretch; annotations are no calls.

    ``launches`` and ``calls`` began or ran in it, ``quiet_ns`` is the longest time of it in which
    no thread shows a call, ``longest`` is null where there was none.
    """

    launches: int
    calls: int
    quiet_ns: int
    longest: LongestCall | None


@dataclass(frozen=True, slots=True)
class Waiter:
    """A rank that waits for this one in a stretch, in collectives of which ``instance`` is first.

    ``since`` is when the first of its waits begins, which may be before the stretch.
    """

    rank: int
    since: int
    wait_ns: int
    instance: int
    collectives: int


@dataclass(frozen=True, slots=True)
class IdleDetails:
    """From when to when a rank's device runs nothing, on the common clock; all of its ``steps``.

    ``host`` is null where the trace shows no calls of the rank's host at all.
    """

    rank: int
    t0: int
    t1: int
    steps: tuple[int, ...]
    host: HostPart | None
    waiters: tuple[Waiter, ...]


def idle_stretch(sets: Iterable[Covered], own: int, whole: Span) -> Span | None:
    """The longest stretch around a time that no set covers; null where one covers the time."""
    begin, end = whole
    for covered in sets:
        place = covered.begun_before(own + 1)
        if place:
            last = covered.interval(place - 1)[1]
            if last > own:
                return None
            begin = max(begin, last)
        if place < covered.count:
            end = min(end, covered.interval(place)[0])
    return (begin, end) if begin < end else None


def recorded_in(lanes: Iterable[Lane], whole: Span) -> Span:
    """From the first event of a rank's lanes to the end of the last; outside nothing is known."""
    events = [lane.events for lane in lanes if len(lane.events)]
    if not events:
        return whole
    first = min(int(of.start.min()) for of in events)
    last = max(int((of.start + of.duration).max()) for of in events)
    return max(whole[0], first), min(whole[1], last)


def host_part(threads: Sequence[Lane], names: NameBook, stretch: Span) -> HostPart | None:
    """What the threads of a host did in a stretch of its rank's own clock."""
    if not any(len(thread) for thread in threads):
        return None
    starts, ends, launches, longest = [], [], 0, None
    for thread in threads:
        event = _calls_in(thread, stretch)
        start, end = thread.events.start[event], thread.events.ends(event)
        starts.append(start)
        ends.append(end)
        is_launch = thread.events.category[event] == _LAUNCH
        launches += int((is_launch & (start >= stretch[0])).sum())
        found = _longest(thread, event, names, stretch)
        if found and (longest is None or found.inside_ns > longest.inside_ns):
            longest = found
    start, end = np.concatenate(starts), np.concatenate(ends)
    return HostPart(launches, len(start), _quiet(start, end, stretch), longest)


def _calls_in(thread: Lane, stretch: Span) -> Int64:
    event = thread.places(thread.running(*stretch))
    return np.asarray(event[thread.events.category[event] != _ANNOTATION])


def _longest(thread: Lane, event: Int64, names: NameBook, stretch: Span) -> LongestCall | None:
    """The call with most time inside; of nested ones as long the innermost, which is the last."""
    if not len(event):
        return None
    begin, end = stretch
    inside = np.minimum(thread.events.ends(event), end)
    inside = inside - np.maximum(thread.events.start[event], begin)
    place = len(inside) - 1 - int(np.argmax(inside[::-1]))
    name = names.shown(int(thread.events.name[event[place]]))
    return LongestCall(name, thread.label, int(inside[place]))


def _quiet(start: Int64, end: Int64, stretch: Span) -> int:
    """The longest time of a stretch that none of these cover."""
    busy = clip(union(start, end), *stretch)
    begins = np.concatenate(([stretch[0]], busy.ends))
    return int((np.concatenate((busy.starts, [stretch[1]])) - begins).max())


def steps_in(lane: Lane, steps: Narrow, stretch: Span) -> tuple[int, ...]:
    """The numbers of the steps of which a stretch has some part."""
    event = lane.places(lane.running(*stretch))
    return tuple(int(steps[row]) for row in lane.events.source[event].tolist())


def on_own_clock(clock: RankClock, whole: Span) -> Span:
    """A span of the common clock on that of a rank."""
    return clock.own_time(whole[0]), clock.own_time(whole[1])
