"""The independent calculator of overlap gaps and their causes: one rank, in plain Python.

Definitions, section 6, with the readings 60 and 61 of ``docs/design.md``. Nothing of the program is
used: rows go in, gaps come out, by walking through begins and ends and by looking things up.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

COMPUTE, COMMUNICATION, COPY = "compute", "communication", "copy"
WAIT, TRANSFER, UNMATCHED = "wait", "transfer", "unmatched"

NEAR_NS = 25_000
STAMPS_NS = 1_000  #: an end and a begin that follow each other may be stamped this far off
BLOCKING_COPY_NS = 50_000
LOOP_NS = 100_000
BUCKET_COPIES = ("dtod", "device -> device", "copybuffer")


@dataclass(frozen=True, eq=False)
class Activity:
    """An activity that counts; ``is_optimizer`` where its name alone tells."""

    kind: str
    start: int
    end: int
    name: str = ""
    stream: int | None = None
    queue: int | None = None
    step: int | None = None
    correlation: int | None = None
    is_optimizer: bool = False


@dataclass(frozen=True, eq=False)
class Call:
    """A call or annotation of the host."""

    start: int
    end: int
    name: str
    kind: str
    thread: int | None = None
    correlation: int | None = None


@dataclass(frozen=True)
class Collective:
    """A collective; its wait is null where it has no partners."""

    start: int
    end: int
    wait: int | None


class Window(NamedTuple):
    """The device window of a step."""

    start: int
    end: int
    step: int


class Gap(NamedTuple):
    """What is compared; the step is null outside of all."""

    step: int | None
    start: int
    length: int
    part: str
    cause: str


@dataclass(frozen=True)
class Rows:
    """One rank: activities and calls in order of start, and the windows of its steps.

    ``shows_waits``: the job's traces tell what streams are made to wait for.
    """

    activities: Sequence[Activity]
    calls: Sequence[Call]
    collectives: Sequence[Collective]
    windows: Sequence[Window]
    shows_waits: bool

    @property
    def knows_waiting(self) -> bool:
        """Whether any collective has its partners."""
        return any(one.wait is not None for one in self.collectives)


def shows_waits(ranks: Iterable[tuple[Sequence[Activity], Sequence[Call]]]) -> bool:
    """Whether any thread that launches is seen to make a stream wait."""
    return any(
        "StreamWaitEvent" in call.name and call.thread in launching_threads(activities, calls)
        for activities, calls in ranks
        for call in calls
    )


def launching_calls(calls: Sequence[Call]) -> dict[int, Call]:
    """The earliest call with each correlation id."""
    found: dict[int, Call] = {}
    for call in calls:
        if call.correlation is not None:
            found.setdefault(call.correlation, call)
    return found


def launching_threads(
    activities: Sequence[Activity], calls: Sequence[Call]
) -> frozenset[int | None]:
    """The threads that launched any of the activities."""
    by_id = launching_calls(calls)
    used = {one.correlation for one in activities if one.correlation is not None}
    return frozenset(by_id[number].thread for number in used & by_id.keys())


def gaps(rows: Rows) -> list[Gap]:
    """All gaps of the rank, in order."""
    lookup, found = _Lookup(rows), []
    exposures = list(_joined((start, end, "") for start, end, _ in _exposed(rows)))
    causes = [lookup.cause(start, end) for start, end, _ in exposures]
    begins = [start for start, _, _ in exposures]
    for start, end, part in _joined(_exposed(rows), _cuts(rows)):
        cause = causes[bisect.bisect_right(begins, start) - 1]
        if part == UNMATCHED and rows.knows_waiting:
            cause = "unknown"
        if part == WAIT:
            cause = "straggler_wait"
        found.append(Gap(_step_at(rows, start), start, end - start, part, cause))
    return found


def _exposed(rows: Rows) -> Iterator[tuple[int, int, str]]:
    """Pieces of exposed communication, each either waiting, or transfer, or without partners."""
    changes: dict[int, list[tuple[str, int]]] = {}

    def span(kind: str, start: int, end: int) -> None:
        changes.setdefault(start, []).append((kind, 1))
        changes.setdefault(end, []).append((kind, -1))

    for one in rows.activities:
        if one.kind == COMPUTE:
            span(COMPUTE, one.start, one.end)
    for call in rows.collectives:
        arrived = call.start + (call.wait or 0)
        span(WAIT, call.start, arrived)
        span(UNMATCHED if call.wait is None else TRANSFER, arrived, call.end)
    running = {COMPUTE: 0, WAIT: 0, TRANSFER: 0, UNMATCHED: 0}
    for now, until in pairwise([*sorted(changes), 0]):
        for kind, change in changes[now]:
            running[kind] += change
        part = next((p for p in (TRANSFER, UNMATCHED, WAIT) if running[p]), None)
        if part and not running[COMPUTE]:
            yield now, until, part


def _joined(
    pieces: Iterable[tuple[int, int, str]], cuts: frozenset[int] = frozenset()
) -> Iterator[tuple[int, int, str]]:
    """Pieces that touch and are alike as one; cut at these times."""
    whole: tuple[int, int, str] | None = None
    for start, end, part in _cut(pieces, sorted(cuts)):
        if whole and whole[1:] == (start, part) and start not in cuts:
            whole = whole[0], end, part
            continue
        if whole:
            yield whole
        whole = start, end, part
    if whole:
        yield whole


def _cut(
    pieces: Iterable[tuple[int, int, str]], cuts: Sequence[int]
) -> Iterator[tuple[int, int, str]]:
    for start, end, part in pieces:
        inside = cuts[bisect.bisect_right(cuts, start) : bisect.bisect_left(cuts, end)]
        for a, b in pairwise([start, *inside, end]):
            yield a, b, part


def _cuts(rows: Rows) -> frozenset[int]:
    arrivals = {call.start + call.wait for call in rows.collectives if call.wait is not None}
    return frozenset(arrivals | {edge for window in rows.windows for edge in window[:2]})


def _step_at(rows: Rows, time: int) -> int | None:
    return next((w.step for w in rows.windows if w.start <= time < w.end), None)


def _is_same(one: int | None, other: int | None) -> bool:
    return one is not None and one == other


class _Lookup:
    """The activities and calls of a rank, in the orders in which they are looked up."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.launch = launching_calls(rows.calls)
        self.others = [one for one in rows.activities if one.kind != COMMUNICATION]
        self.other_starts = [one.start for one in self.others]
        self.computes = sorted(
            (one for one in rows.activities if one.kind == COMPUTE), key=lambda one: one.end
        )
        self.compute_ends = [one.end for one in self.computes]
        self.comms = [one for one in rows.activities if one.kind == COMMUNICATION]
        self.by_end = sorted(self.comms, key=lambda one: one.end)
        self.comm_ends = [one.end for one in self.by_end]
        threads = launching_threads(rows.activities, rows.calls)
        self.by_thread = {
            thread: [call for call in rows.calls if call.thread == thread] for thread in threads
        }
        self.waits = [
            call.start
            for call in rows.calls
            if call.thread in threads and "StreamWaitEvent" in call.name
        ]

    @cached_property
    def blocked(self) -> dict[int | None, list[tuple[int, int]]]:
        """By thread that launches, when it was blocked."""
        return {thread: list(_blocked(calls)) for thread, calls in self.by_thread.items()}

    @cached_property
    def last_work(self) -> dict[int | None, int]:
        """By step, when the last of its work but the optimizer's begins."""
        found: dict[int | None, int] = {}
        for one in self.others:
            is_copied = any(word in one.name.lower() for word in BUCKET_COPIES)
            if is_copied or (one.kind == COMPUTE and not self.is_optimizer(one)):
                found[one.step] = max(one.start, found.get(one.step, one.start))
        return found

    @cached_property
    def optimizing(self) -> list[tuple[int, int]]:
        return [
            (call.start, call.end)
            for call in self.rows.calls
            if call.kind == "annotation"
            and any(word in call.name.lower() for word in ("optimizer.step", "optimizer.zero_grad"))
        ]

    def call_of(self, one: Activity) -> Call | None:
        """The call that launched it, if that is known."""
        return None if one.correlation is None else self.launch.get(one.correlation)

    def is_optimizer(self, one: Activity) -> bool:
        call = self.call_of(one)
        inside = call and any(start <= call.start < end for start, end in self.optimizing)
        return one.is_optimizer or bool(inside)

    def cause(self, start: int, end: int) -> str:
        """Why the communication was exposed from start to end, if not for waiting."""
        place = bisect.bisect_left(self.other_starts, end)
        if place == len(self.others):
            return "step_tail"
        after = self.others[place]
        if self.is_pause(start, end, after):
            return "kernel_gap"
        call, ended = self.call_of(after), self.ended(start, after)
        told = self.cause_of_next(call, ended, after, (start, end)) if call else None
        if told is None and self.is_tail(start, end):
            return "step_tail"
        return told or ("dependency" if call and ended else "unknown")

    def cause_of_next(
        self, call: Call, ended: Activity | None, after: Activity, exposure: tuple[int, int]
    ) -> str | None:
        """What the launch and the stream of the next activity tell."""
        start, end = exposure
        is_bound = ended is not None and after.start - call.start > NEAR_NS
        if call.start > start and not is_bound:
            return "host_sync" if self.is_blocked(call.thread, end - NEAR_NS) else "host_late"
        if ended is not None and self.shares_queue(ended, after):
            return "stream_order"
        return (
            "dependency" if _is_same(after.stream, (ended or self.running(start)).stream) else None
        )

    def is_pause(self, start: int, end: int, after: Activity) -> bool:
        place = bisect.bisect_right(self.compute_ends, start) - 1
        before = self.computes[place] if place >= 0 else None
        return (
            end - start < NEAR_NS
            and before is not None
            and before.end == start
            and after.start == end
            and after.kind == COMPUTE
            and after.stream == before.stream
            and any(one.start <= end < one.end for one in self.comms)
        )

    def ended(self, start: int, after: Activity) -> Activity | None:
        """The communication that ends as the next activity begins."""
        place = bisect.bisect_right(self.comm_ends, after.start + STAMPS_NS) - 1
        last = self.by_end[place] if place >= 0 else None
        if last is None or last.end <= start or last.end < after.start - NEAR_NS:
            return None
        return last

    def running(self, start: int) -> Activity:
        """Of the communication that runs as the exposure begins, what ends last."""
        running = [one for one in self.comms if one.start <= start < one.end]
        return max(running, key=lambda one: one.end)

    def shares_queue(self, ended: Activity, after: Activity) -> bool:
        if _is_same(ended.stream, after.stream):
            return False
        if _is_same(ended.queue, after.queue):
            return True
        first, second = (self.call_of(one) for one in (ended, after))
        if not self.rows.shows_waits or first is None or second is None:
            return False
        waits = [time for time in self.waits if first.start < time <= second.start]
        return first.start < second.start and not waits

    def is_tail(self, start: int, end: int) -> bool:
        step = self.running(start).step
        return step is not None and step in self.last_work and self.last_work[step] < end

    def is_blocked(self, thread: int | None, time: int) -> bool:
        return any(start <= time <= end for start, end in self.blocked.get(thread, ()))


def _blocked(calls: Sequence[Call]) -> Iterator[tuple[int, int]]:
    """Calls in which a thread can do nothing else; queries that follow each other are one."""
    loop: tuple[int, int] | None = None
    for call in calls:
        if "EventQuery" in call.name or "StreamQuery" in call.name:
            goes_on = loop is not None and call.start - loop[1] < LOOP_NS
            loop = (loop[0] if loop and goes_on else call.start), call.end
            yield loop
        elif _blocks(call):
            loop = None
            yield call.start, call.end
        elif call.kind == "launch":
            loop = None


def _blocks(call: Call) -> bool:
    is_long_copy = "Memcpy" in call.name and call.end - call.start > BLOCKING_COPY_NS
    return (
        call.kind == "memory"
        or (call.kind == "sync" and "Synchronize" in call.name)
        or (call.kind == "launch" and is_long_copy)
    )
