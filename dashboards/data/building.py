"""All lanes of a run, from its analysis: by rank, the parents before their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from commscope.analysis.causes import CAUSES
from commscope.analysis.gaps import WAIT
from commscope.analysis.result import Analysis
from commscope.classify import ActivityClass
from commscope.columns import NONE, Int64, at, codes, int64, parts
from commscope.dashboards.data.categories import (
    COMMUNICATION,
    COPY,
    EXPOSED_PARTS,
    STEP,
    of_families,
    of_host_kinds,
)
from commscope.dashboards.data.lanes import Events, Lane, lane_of
from commscope.dashboards.data.names import NameBook, NameCollector
from commscope.dashboards.data.narrow import Narrow
from commscope.normalize.steps import WHOLE_TRACE
from commscope.report.causes import CAUSES as CAUSE_WORDS

_KINDS = (
    (ActivityClass.COMPUTE, "compute"),
    (ActivityClass.COMMUNICATION, "communication"),
    (ActivityClass.COPY, "copy"),
)


def build_lanes(analysis: Analysis, origin: int) -> tuple[tuple[Lane, ...], NameBook]:
    """The lanes, of which number 0 is left for the minimap, and the names of their events."""
    names = NameCollector()
    sources = (
        _Steps(analysis, names, origin),
        _Device(analysis, names, origin),
        _Exposed(analysis, names, origin),
        _Host(analysis, names, origin),
    )
    numbers = _Numbers()
    lanes: list[Lane] = []
    for rank in range(len(analysis.timeline.ranks)):
        for source in sources:
            lanes.extend(source.lanes(rank, numbers))
    return tuple(lanes), names.book()


def has_steps(analysis: Analysis) -> bool:
    """Whether the trace has steps; else the whole of it counts as one window, which is none."""
    return analysis.trace.step_source.kind != WHOLE_TRACE


@dataclass(slots=True)
class _Numbers:
    """Gives lanes their numbers; 0 is the minimap's."""

    last: int = 0
    steps: dict[int, int] = field(default_factory=dict)  #: the lane of steps of each rank

    def next(self) -> int:
        """One that no lane has."""
        self.last += 1
        return self.last


class _Steps:
    """The device windows of all steps of the trace."""

    def __init__(self, analysis: Analysis, names: NameCollector, origin: int) -> None:
        steps = analysis.trace.all_steps
        self._has_steps = has_steps(analysis)
        self._row = np.flatnonzero((int64(steps, "start_ns") != NONE) & self._has_steps)
        self._rank = analysis.timeline.index_of(int64(steps, "rank")[self._row])
        start = int64(steps, "start_ns")[self._row]
        self._start, self._duration = start - origin, int64(steps, "end_ns")[self._row] - start
        words = [f"step {number}" for number in int64(steps, "step")[self._row].tolist()]
        self._name = names.numbers(words)

    def lanes(self, rank: int, numbers: _Numbers) -> Iterator[Lane]:
        """The lane of a rank."""
        mine = np.flatnonzero(self._rank == rank)
        events = Events.of(
            self._start[mine], self._duration[mine], self._name[mine],
            np.full(len(mine), STEP, np.uint8), self._row[mine],
        )  # fmt: skip
        numbers.steps[rank] = numbers.next()
        label = "steps" if self._has_steps else "no steps"
        yield lane_of(numbers.steps[rank], (rank, "steps", label, None), events)


class _Device:
    """The activities by class, and each class by stream."""

    def __init__(self, analysis: Analysis, names: NameCollector, origin: int) -> None:
        self._found, self._origin = analysis.timeline.activities, origin
        events = analysis.trace.events
        self._code, words = codes(events, "name")
        self._stream = int64(events, "stream")
        self._name = names.numbers(words)
        self._family = of_families(analysis.trace.classes.family)

    def lanes(self, rank: int, numbers: _Numbers) -> Iterator[Lane]:
        """The lanes of a rank."""
        first, last = np.searchsorted(self._found.rank, [rank, rank + 1]).tolist()
        kind = self._found.kind[first:last]
        for number, word in _KINDS:
            yield from self._of_kind(rank, np.flatnonzero(kind == number) + first, word, numbers)

    def _of_kind(self, rank: int, place: Int64, word: str, numbers: _Numbers) -> Iterator[Lane]:
        start = self._found.start_ns[place]
        row = self._found.row[place]
        code = self._code[row]
        events = Events.of(
            start - self._origin, self._found.end_ns[place] - start, self._name[code],
            self._categories(word, code), row,
        )  # fmt: skip
        whole = lane_of(numbers.next(), (rank, word, word, None), events)
        yield whole
        stream = self._stream[events.source]
        for number, index in parts(stream):
            label = "stream not known" if number == NONE else f"stream {number}"
            yield lane_of(numbers.next(), (rank, "stream", label, whole.id), events, index, whole)

    def _categories(self, word: str, code: Int64) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        if word == "compute":
            return np.asarray(self._family[code])
        return np.full(len(code), COMMUNICATION if word == "communication" else COPY, np.uint8)


class _Exposed:
    """The gaps: exposed communication, cut where steps begin and where the last member arrives."""

    def __init__(self, analysis: Analysis, names: NameCollector, origin: int) -> None:
        gaps, timeline = analysis.gaps, analysis.timeline
        self._rank = gaps.rank
        self._start = gaps.start - timeline.shift_ns[gaps.rank] - origin
        self._duration = gaps.length
        self._category = np.array(EXPOSED_PARTS, np.uint8)[gaps.part]
        self._name = _gap_names(analysis, names)

    def lanes(self, rank: int, numbers: _Numbers) -> Iterator[Lane]:
        """The lane of a rank."""
        mine = np.flatnonzero(self._rank == rank)
        events = Events.of(
            self._start[mine], self._duration[mine], self._name[mine], self._category[mine], mine
        )
        yield lane_of(numbers.next(), (rank, "exposed", "exposed", None), events)


def _gap_names(analysis: Analysis, names: NameCollector) -> Narrow:
    """What each gap is due to; a wait names the rank that it is for."""
    matching, gaps = analysis.across.matching, analysis.gaps
    ranks = analysis.timeline.ranks.tolist()
    by_cause = names.numbers([CAUSE_WORDS[cause] for cause in CAUSES])
    by_rank = names.numbers([f"waiting for rank {rank}" for rank in ranks])
    instance = at(matching.instance, gaps.call, -1)
    last = at(matching.straggler, instance, 0)
    waits = (gaps.part == WAIT) & (instance >= 0)
    return np.where(waits, by_rank[last], by_cause[analysis.causes.cause])


class _Host:
    """What the host did, by thread; those that launch most come first."""

    def __init__(self, analysis: Analysis, names: NameCollector, origin: int) -> None:
        host = analysis.trace.host
        self._rank = analysis.timeline.index_of(int64(host, "rank"))
        self._thread = int64(host, "thread")
        self._start = int64(host, "start_ns") - origin
        self._duration = np.maximum(int64(host, "dur_ns"), 0)
        code, words = codes(host, "name")
        self._name = names.numbers(words)[code] if words else np.empty(0, np.uint32)
        kind, kinds = codes(host, "kind")
        self._category = of_host_kinds(kinds)[kind] if kinds else np.empty(0, np.uint8)
        launch = kinds.index("launch") if "launch" in kinds else -1
        self._launches = kind == launch

    def lanes(self, rank: int, numbers: _Numbers) -> Iterator[Lane]:
        """A lane each thread of a rank."""
        first, last = np.searchsorted(self._rank, [rank, rank + 1]).tolist()
        found = [
            (int(self._launches[first:last][rows].sum()), thread, rows + first)
            for thread, rows in parts(self._thread[first:last])
        ]
        found.sort(key=lambda each: (-each[0], each[1]))
        for launches, thread, rows in found:
            label = _label(thread, launches)
            yield self._lane(numbers, (rank, "thread", label, numbers.steps[rank]), rows)

    def _lane(self, numbers: _Numbers, of: tuple[int, str, str, int | None], rows: Int64) -> Lane:
        events = Events.of(
            self._start[rows], self._duration[rows], self._name[rows], self._category[rows], rows
        )
        return lane_of(numbers.next(), of, events)


def _label(thread: int, launches: int) -> str:
    name = "thread not known" if thread == NONE else f"thread {thread}"
    return f"{name} (launches)" if launches else name


def lanes_of_kind(lanes: Sequence[Lane], kind: str) -> dict[int, Lane]:
    """By rank (an index), the lane of a kind that each rank has one of."""
    return {lane.rank: lane for lane in lanes if lane.kind == kind}
