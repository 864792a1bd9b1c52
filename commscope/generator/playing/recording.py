"""Reads what the program that plays schedules has measured, as if it had been simulated.

Each rank writes ``recorded_rankN.jsonl``: a header, then a line for each operation of its program,
in order. All times are on CLOCK_MONOTONIC, so that they hold together on one host only.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from commscope.errors import CorruptTrace, UnknownFormat, UsageError
from commscope.generator.meeting import Key, pair_of, shape_of
from commscope.generator.schedule import (
    SYNCHRONISING,
    Allocate,
    Collective,
    Communication,
    Compute,
    Copy,
    EndStep,
    EventSync,
    Free,
    Operation,
    Pop,
    Push,
    Query,
    Receive,
    Record,
    Schedule,
    Send,
    Step,
    StreamSync,
    Sync,
    Wait,
)
from commscope.generator.schedule_text import operation_to_text
from commscope.generator.simulation import Activity, Call, Instance, RankRun, Simulation, Span

SCHEMA = "commscope.recorded/1"

_LATEST_NS = 1 << 62
_KINDS: dict[type, str] = {
    Record: "record",
    Wait: "wait",
    Sync: "sync",
    StreamSync: "stream_sync",
    EventSync: "event_sync",
    Query: "query",
    Allocate: "malloc",
    Free: "free",
}


class Clocks(msgspec.Struct, frozen=True):
    """Three clocks of a host, read together."""

    realtime_ns: int
    boottime_ns: int
    monotonic_ns: int


class RecordedHeader(msgspec.Struct, frozen=True):
    """What a rank was played on; ``anchor_err_us``: of times by events against those by stamps."""

    schema: str
    backend: str
    vendor: str
    ccl: str
    ccl_version: int
    device_name: str
    pci: str
    cus: int
    world: int
    rank: int
    pid: int
    thread: int
    ticks_per_us: float
    tick_step_us: float
    anchor_err_us: float
    clock: Clocks
    host_anchor_err_us: float = 0.0


class RecordedOperation(msgspec.Struct, frozen=True):
    """When an operation was issued, and for work on streams when it ran and how that is known."""

    i: int
    host_begin_ns: int
    host_end_ns: int
    begin_ns: int | None = None
    end_ns: int | None = None
    src: str | None = None


@dataclass(frozen=True, slots=True)
class RankRecording:
    """What one rank has measured: a header, and its operations in order."""

    header: RecordedHeader
    operations: tuple[RecordedOperation, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """A job that was played.

    Times of the simulation count from ``base_ns`` of CLOCK_MONOTONIC, the earliest of the headers.
    ``sources[rank][correlation]`` is ``device`` or ``event``: how an activity's times are known.
    """

    ranks: tuple[RankRecording, ...]
    simulation: Simulation
    base_ns: int
    sources: tuple[dict[int, str], ...]

    @property
    def headers(self) -> tuple[RecordedHeader, ...]:
        """Of the ranks, in their order."""
        return tuple(rank.header for rank in self.ranks)


def recorded_file(folder: Path, rank: int) -> Path:
    """Where a rank writes what it measures."""
    return folder / f"recorded_rank{rank}.jsonl"


def read_recording(folder: Path, schedule: Schedule) -> Recording:
    """Reads what all ranks of a schedule have recorded in a folder.

    Raises UsageError where a file cannot be read, UnknownFormat where it is no recording, and
    CorruptTrace, with the number of the line, where it is broken or of another schedule.
    """
    read = [
        _read(recorded_file(folder, rank), program, (rank, len(schedule.programs)))
        for rank, program in enumerate(schedule.programs)
    ]
    base_ns = min(rank.header.clock.monotonic_ns for rank in read)
    meetings = _Meetings(schedule)
    runs = tuple(
        _Rank(rank, base_ns, meetings).run(program, recorded.operations)
        for rank, (program, recorded) in enumerate(zip(schedule.programs, read))
    )
    simulation = Simulation(schedule, runs, tuple(meetings.instances))
    sources = tuple({it.i + 1: it.src for it in rank.operations if it.src} for rank in read)
    return Recording(tuple(read), simulation, base_ns, sources)


_HEADER = msgspec.json.Decoder(RecordedHeader)
_OPERATION = msgspec.json.Decoder(RecordedOperation)


def lines_of(path: Path) -> list[bytes]:
    """The lines of a file; raises UsageError where it cannot be read."""
    try:
        return path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error


def decoded(path: Path, number: int, line: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """A line of a file; raises CorruptTrace naming it where it is broken."""
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptTrace(f"{path}: line {number}: {error}") from error


def _read(path: Path, program: tuple[Operation, ...], place: tuple[int, int]) -> RankRecording:
    lines = lines_of(path)
    header = _header(path, lines[0] if lines else b"", place)
    operations = tuple(
        decoded(path, number, line, _OPERATION) for number, line in enumerate(lines[1:], start=2)
    )
    if len(operations) != len(program):
        raise CorruptTrace(
            f"{path}: {len(operations)} operations, but the schedule has {len(program)} for this "
            "rank: it was cut, or is of another schedule"
        )
    for number, (recorded, operation) in enumerate(zip(operations, program)):
        problem = _problem(number, recorded)
        if problem:
            text = operation_to_text(operation)
            raise CorruptTrace(f"{path}: line {number + 2} (operation {number}, {text}): {problem}")
    return RankRecording(header, operations)


def _header(path: Path, line: bytes, place: tuple[int, int]) -> RecordedHeader:
    try:
        header = _HEADER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnknownFormat(f"{path}: line 1 is no header of {SCHEMA}: {error}") from error
    if header.schema != SCHEMA:
        raise UnknownFormat(f"{path}: schema {header.schema!r}, known is {SCHEMA}")
    if (header.rank, header.world) != place:
        raise CorruptTrace(
            f"{path}: is of rank {header.rank} of {header.world}, not of rank {place[0]} of "
            f"{place[1]}"
        )
    return header


def _problem(number: int, recorded: RecordedOperation) -> str | None:
    if recorded.i != number:
        return f"it says that it is operation {recorded.i}"
    begin, end = recorded.begin_ns, recorded.end_ns
    if (begin is None) is not (end is None):
        return "of begin_ns and end_ns one is missing"
    times = [(recorded.host_begin_ns, recorded.host_end_ns)]
    times += [(begin, end)] if begin is not None and end is not None else []
    if any(not 0 <= first <= last < _LATEST_NS for first, last in times):
        return "it ends before it begins, or times are out of range"
    return None


@dataclass(slots=True)
class _Meetings:
    """The instances that were played, by order of their calls on each communicator."""

    schedule: Schedule
    instances: list[Instance] = field(default_factory=list)
    _places: dict[Key, int] = field(default_factory=dict)

    def place(self, key: Key, operation: Communication) -> int:
        """Index of the instance that a rank has taken part in."""
        if key not in self._places:
            self._places[key] = len(self.instances)
            self.instances.append(self._instance(key, operation))
        return self._places[key]

    def _instance(self, key: Key, operation: Communication) -> Instance:
        name, pair, number = key
        shape = shape_of(operation)
        return Instance(
            communicator=name,
            op=shape.op,
            seq=number if shape.seq is None else shape.seq,
            size_bytes=shape.size_bytes,
            members=pair or self.schedule.communicators[name].members,
            synchronises=shape.op in SYNCHRONISING,
        )


class _Rank:
    """The run of one rank in the making."""

    def __init__(self, rank: int, base_ns: int, meetings: _Meetings) -> None:
        self._rank, self._base_ns, self._meetings = rank, base_ns, meetings
        self._step: int | None = None
        self._counts: defaultdict[tuple[str, tuple[int, int] | None], int] = defaultdict(int)
        self._activities: list[Activity] = []
        self._calls: list[Call] = []
        self._spans: list[Span] = []
        self._open: list[int] = []  #: places of spans that have not ended

    def run(
        self, program: tuple[Operation, ...], recorded: tuple[RecordedOperation, ...]
    ) -> RankRun:
        """All that the rank did."""
        for operation, times in zip(program, recorded):
            called = times.host_begin_ns - self._base_ns, times.host_end_ns - self._base_ns
            if isinstance(operation, (Compute, Copy, Collective, Send, Receive)):
                self._activity(operation, times, called)
            elif isinstance(operation, (Step, Push)):
                self._begin(operation, called[0])
            elif isinstance(operation, (EndStep, Pop)):
                self._end(operation, called[1])
            elif type(operation) in _KINDS:
                size = operation.size_bytes if isinstance(operation, Allocate) else None
                self._calls.append(Call(_KINDS[type(operation)], times.i + 1, *called, size))
        return RankRun(tuple(self._activities), tuple(self._calls), tuple(self._spans))

    def _activity(
        self,
        operation: Compute | Copy | Communication,
        times: RecordedOperation,
        called: tuple[int, int],
    ) -> None:
        instance = None
        if isinstance(operation, Communication):
            channel = operation.communicator, pair_of(self._rank, operation)
            instance = self._meetings.place((*channel, self._counts[channel]), operation)
            self._counts[channel] += 1
        if times.begin_ns is not None and times.end_ns is not None:
            start, end = times.begin_ns - self._base_ns, times.end_ns - self._base_ns
            self._activities.append(
                Activity(operation, times.i + 1, *called, self._step, instance, start, end)
            )

    def _begin(self, operation: Step | Push, now_ns: int) -> None:
        if isinstance(operation, Step):
            self._step = operation.number
            span = Span(f"step {operation.number}", now_ns, now_ns, operation.number)
        else:
            span = Span(operation.label, now_ns, now_ns, None, operation.category)
        self._open.append(len(self._spans))
        self._spans.append(span)

    def _end(self, operation: EndStep | Pop, now_ns: int) -> None:
        """Ends the step, or the label begun last: the two need not nest."""
        ends_step = isinstance(operation, EndStep)
        place = next(
            place
            for place in reversed(self._open)
            if (self._spans[place].step is not None) == ends_step
        )
        self._open.remove(place)
        self._spans[place] = self._spans[place]._replace(end_ns=now_ns)
        if ends_step:
            self._step = None
