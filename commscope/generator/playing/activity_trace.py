"""Writes what was played as Kineto traces: what a collector inside the program saw, or the truth.

A collector writes ``activities_rankN.jsonl``: activities of the device and calls of the host, on
CLOCK_REALTIME. What they do not tell, the recording adds: steps, labels, and of each collective
what it is, which is known by the call that launched it.
"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from commscope.errors import CorruptTrace
from commscope.generator.clocks import ORIGIN_NS
from commscope.generator.kineto_metadata import metadata
from commscope.generator.kineto_style import Style, microseconds
from commscope.generator.kineto_writer import trace_text
from commscope.generator.playing.recording import (
    RankRecording,
    Recording,
    decoded,
    lines_of,
)
from commscope.generator.schedule import Communication, Schedule
from commscope.generator.simulation import Activity

TRACE = "trace.json.gz"
#: What the ids of records begin with: they must not look like correlations.
_FIRST_RECORD = 1_000_000_000


class Seen(msgspec.Struct, frozen=True):
    """An activity of the device, or a call of the host, as a collector saw it."""

    kind: Literal["kernel", "memcpy", "memset", "runtime"]
    name: str
    begin_ns: int
    end_ns: int
    correlation: int
    device: int = 0
    stream: int = 0
    bytes: int | None = None
    blocks: int | None = None
    threads: int | None = None
    copy: str | None = None
    thread: int | None = None


_SEEN = msgspec.json.Decoder(Seen)
_CATEGORIES = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}


def activities_file(folder: Path, rank: int) -> Path:
    """Where the collector of a rank writes what it sees."""
    return folder / f"activities_rank{rank}.jsonl"


def read_activities(path: Path) -> list[Seen]:
    """What a collector saw.

    Raises UsageError where the file cannot be read, CorruptTrace where a line is broken.
    """
    found = []
    for number, line in enumerate(lines_of(path), start=1):
        seen: Seen = decoded(path, number, line, _SEEN)
        if seen.end_ns < seen.begin_ns:
            raise CorruptTrace(f"{path}: line {number}: it ends before it begins")
        found.append(seen)
    return found


def write_kineto(recording: Recording, rank: int, seen: Iterable[Seen], path: Path) -> None:
    """Writes the trace of a rank, gzipped, of what its collector saw."""
    events = _Events(recording, rank)
    _write(path, _header(recording, rank), events.lines(list(seen)), events.base_ns)


def write_truth_as_trace(recording: Recording, rank: int, path: Path) -> None:
    """Writes the trace of a rank, gzipped, of what the program itself measured."""
    header = recording.ranks[rank].header
    # By the same reading of the clocks for all ranks: they differ by some nanoseconds.
    first = min((it.clock for it in recording.headers), key=lambda clock: clock.monotonic_ns)
    style = Style(
        vendor="rocm" if header.vendor == "amd" else "cuda",
        gpu=header.device_name,
        with_host=True,
        base_ns=first.realtime_ns - ORIGIN_NS,
    )
    _save(path, trace_text(recording.simulation, rank, style))


def _header(recording: Recording, rank: int) -> dict[str, Any]:
    header, schedule = recording.ranks[rank].header, recording.simulation.schedule
    device = {"id": schedule.local_rank(rank), "name": header.device_name}
    return {
        "schemaVersion": 1,
        "backend": header.backend,
        "deviceProperties": [device],
        "host": schedule.hosts[rank],
        "distributedInfo": {
            "backend": header.ccl,
            "rank": rank,
            "world_size": header.world,
            **_groups(schedule, rank),
        },
    }


def _groups(schedule: Schedule, rank: int) -> dict[str, Any]:
    groups = [
        {
            "pg_name": communicator.name,
            "pg_desc": communicator.description,
            "pg_size": len(communicator.members),
            "ranks": list(communicator.members),
        }
        for communicator in schedule.communicators.values()
        if rank in communicator.members
    ]
    return {"pg_count": len(groups), "pg_config": groups}


def _write(path: Path, header: dict[str, Any], events: Iterator[str], base_ns: int) -> None:
    begin, body = json.dumps(header, indent=1)[:-2], ",\n".join(events)
    end = f'"baseTimeNanoseconds": {base_ns}'
    _save(path, f'{begin},\n "traceEvents": [\n{body}\n ],\n {end}\n}}\n')


def _save(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without a time of its own, equal traces are equal files.
    path.write_bytes(gzip.compress(text.encode(), 6, mtime=0))


@dataclass(frozen=True, slots=True)
class _Launched:
    """A collective that a rank has issued, from ``begin_ns`` to ``end_ns`` of its host."""

    begin_ns: int
    end_ns: int
    record: int
    arguments: str


class _Events:
    """The events of one rank, as text; times count from ``base_ns`` of CLOCK_REALTIME."""

    def __init__(self, recording: Recording, rank: int) -> None:
        self._recording, self._rank = recording, rank
        own: RankRecording = recording.ranks[rank]
        self._header = own.header
        self.base_ns = own.header.clock.realtime_ns
        #: Of the recording's times, to count as those of the trace do.
        self._shift_ns = recording.base_ns - own.header.clock.monotonic_ns
        activities = recording.simulation.ranks[rank].activities
        self._launched = [launched for it in activities if (launched := self._launch_of(it))]
        self._begins = [launched.begin_ns for launched in self._launched]

    def lines(self, seen: list[Seen]) -> Iterator[str]:
        """Steps and labels, records of collectives, calls and activities."""
        for span in self._recording.simulation.ranks[self._rank].spans:
            name = span.label if span.step is None else _step_name(span.step)
            yield self._host(span.category, name, self._here(span.start_ns, span.end_ns), "")
        for launched in self._launched:
            times = launched.begin_ns, launched.end_ns
            record = f'"External id": {launched.record}, {launched.arguments}'
            yield self._host("cpu_op", "record_param_comms", times, record)
        called = {it.correlation: it.begin_ns for it in seen if it.kind == "runtime"}
        for it in seen:
            times = it.begin_ns - self.base_ns, it.end_ns - self.base_ns
            if it.kind == "runtime":
                more = f'"correlation": {it.correlation}'
                yield self._host("cuda_runtime", it.name, times, more, it.thread)
            else:
                yield self._device(it, times, called.get(it.correlation))

    def _launch_of(self, activity: Activity) -> _Launched | None:
        operation, simulation = activity.operation, self._recording.simulation
        if not isinstance(operation, Communication) or activity.instance is None:
            return None
        seq = simulation.instances[activity.instance].seq
        called = self._here(activity.call_ns, activity.call_end_ns)
        arguments = metadata(self._rank, operation, simulation.schedule, seq)
        return _Launched(*called, _FIRST_RECORD + activity.correlation, arguments)

    def _here(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        return start_ns + self._shift_ns, end_ns + self._shift_ns

    def _device(self, it: Seen, times: tuple[int, int], called_ns: int | None) -> str:
        more = f'"device": {it.device}, "stream": {it.stream}, "correlation": {it.correlation}'
        if it.bytes is not None:
            more += f', "bytes": {it.bytes}'
        if it.blocks is not None:
            more += f', "grid": [{it.blocks}, 1, 1], "block": [{it.threads}, 1, 1]'
        launched = self._launched_at(called_ns) if it.kind == "kernel" else None
        if launched is not None:
            more += f', "External id": {launched.record}, {launched.arguments}'
        return _event(_CATEGORIES[it.kind], it.name, (it.device, it.stream), times, more)

    def _launched_at(self, called_ns: int | None) -> _Launched | None:
        """The collective in whose call another call was made."""
        if called_ns is None:
            return None
        time_ns = called_ns - self.base_ns
        place = bisect_right(self._begins, time_ns) - 1
        if place < 0 or time_ns > self._launched[place].end_ns:
            return None
        return self._launched[place]

    def _host(
        self, category: str, name: str, times: tuple[int, int], more: str, thread: int | None = None
    ) -> str:
        place = self._header.pid, self._header.thread if thread is None else thread
        return _event(category, name, place, times, more)


def _step_name(step: int) -> str:
    return "csg.warmup" if step < 0 else f"ProfilerStep#{step}"


def _event(
    category: str, name: str, place: tuple[int, int], times: tuple[int, int], more: str
) -> str:
    start, end = times
    return (
        f'  {{"ph": "X", "cat": "{category}", "name": {json.dumps(name)}, '
        f'"pid": {place[0]}, "tid": {place[1]}, '
        f'"ts": {microseconds(start)}, "dur": {microseconds(end - start)}, "args": {{{more}}}}}'
    )
