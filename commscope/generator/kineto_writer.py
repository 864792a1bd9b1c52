"""Writes a simulated rank as the PyTorch profiler (Kineto) would have recorded it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from commscope.generator.clocks import TRUE_CLOCK, Clock
from commscope.generator.kineto_metadata import metadata
from commscope.generator.kineto_style import (
    COPIES,
    COPY_CALLS,
    FIRST_PID,
    GPUS,
    HEADERS,
    LAUNCHES,
    WARMUP_LABEL,
    Style,
    call_name,
    kernel_name,
    microseconds,
    stream_number,
)
from commscope.generator.schedule import (
    Communication,
    Communicator,
    Compute,
    Copy,
    op_of,
)
from commscope.generator.simulation import Activity, Call, Simulation, Span

_DEFAULT = Style()
#: The ids that tie kernels to records must not look like correlations.
_FIRST_EXTERNAL_ID = 1_000_000


def write_traces(
    simulation: Simulation,
    folder: Path,
    style: Style = _DEFAULT,
    clocks: Mapping[str, Clock] | None = None,
) -> list[Path]:
    """Writes ``rankN.json`` for every rank, in the clock of its host, and gives the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for rank, host in enumerate(simulation.schedule.hosts):
        clock = (clocks or {}).get(host, TRUE_CLOCK)
        file = folder / f"rank{rank}.json"
        file.write_text(trace_text(simulation, rank, style, clock), encoding="utf-8")
        files.append(file)
    return files


def trace_text(
    simulation: Simulation, rank: int, style: Style = _DEFAULT, clock: Clock = TRUE_CLOCK
) -> str:
    """The trace of one rank."""
    header = json.dumps(_header(simulation, rank, style), indent=2)[:-2]
    events = ",\n".join(_Rank(simulation, rank, style, clock).events())
    base = f'"baseTimeNanoseconds": {style.base_ns}'
    return f'{header},\n  "traceEvents": [\n{events}\n  ],\n  {base}\n}}\n'


def _header(simulation: Simulation, rank: int, style: Style) -> dict[str, Any]:
    schedule = simulation.schedule
    devices = schedule.hosts.count(schedule.hosts[rank])
    gpus = [{"id": number, "name": style.gpu or GPUS[style.vendor]} for number in range(devices)]
    header: dict[str, Any] = {"schemaVersion": 1, "deviceProperties": gpus}
    header |= HEADERS[style.vendor]
    if style.with_host:
        header["host"] = schedule.hosts[rank]
    if style.with_distributed_info:
        groups = [c for c in schedule.communicators.values() if rank in c.members]
        header["distributedInfo"] = {
            "backend": "nccl",
            "rank": rank,
            "world_size": len(schedule.hosts),
            "pg_count": len(groups),
            "pg_config": [_group(communicator) for communicator in groups],
            "nccl_version": "2.22.3",
        }
    return header


def _group(communicator: Communicator) -> dict[str, Any]:
    return {
        "pg_name": communicator.name,
        "pg_desc": communicator.description,
        "backend_config": "cuda:nccl",
        "pg_size": len(communicator.members),
        "ranks": list(communicator.members),
    }


_quoted = lru_cache(maxsize=4096)(json.dumps)


@dataclass(slots=True)
class _Rank:
    """The events of one rank, as text."""

    simulation: Simulation
    rank: int
    style: Style
    clock: Clock
    _streams: dict[str, int] = field(default_factory=dict)

    def events(self) -> Iterator[str]:
        """Annotations, calls, and each activity behind its launch."""
        run = self.simulation.ranks[self.rank]
        for span in run.spans:
            yield self._host(
                span.category, _span_name(span), (span.start_ns, span.end_ns), '"Ev Idx": 0'
            )
        for call in run.calls:
            yield self._call(call)
        for activity in run.activities:
            yield from self._activity(activity)

    def _activity(self, activity: Activity) -> Iterator[str]:
        operation, vendor = activity.operation, self.style.vendor
        if isinstance(operation, Compute):
            yield self._launch(activity, LAUNCHES[vendor]["kernel"])
            yield self._device(activity, "kernel", f"csg_{operation.kind}", _grid(operation.kind))
        elif isinstance(operation, Copy):
            yield self._launch(activity, COPY_CALLS[vendor][operation.memory])
            name = COPIES[vendor][operation.direction, operation.memory]
            size = f', "bytes": {operation.size_bytes}'
            yield self._device(activity, "gpu_memcpy", name, size)
        else:
            yield self._launch(activity, LAUNCHES[vendor]["collective"])
            yield from self._communication(activity, operation)

    def _call(self, call: Call) -> str:
        size = "" if call.size_bytes is None else f', "bytes": {call.size_bytes}'
        args = f'"correlation": {call.correlation}{size}'
        name = call_name(self.style.vendor, call.kind)
        return self._host("cuda_runtime", name, (call.start_ns, call.end_ns), args)

    def _communication(self, activity: Activity, operation: Communication) -> Iterator[str]:
        op = op_of(operation)
        name, more = kernel_name(self.style.vendor, op), ""
        if self.style.has_records:
            metadata = self._metadata(activity, operation)
            more = f', "External id": {_FIRST_EXTERNAL_ID + activity.correlation}'
            called = activity.call_ns, activity.call_end_ns
            record = f'{more[2:]}, "Rank": {self.rank}, {metadata}'
            yield self._host("cpu_op", "record_param_comms", called, record)
            more += f", {metadata}" if self.style.metadata == "args" else ""
        elif self.style.metadata == "annotation":
            yield self._device(activity, "gpu_user_annotation", f"nccl:{op}", "")
        yield self._device(activity, "kernel", name, more)

    def _metadata(self, activity: Activity, operation: Communication) -> str:
        """The arguments of a collective, as members of a JSON object."""
        seq = None
        if self.style.with_seq and activity.instance is not None:
            seq = self.simulation.instances[activity.instance].seq
        return metadata(self.rank, operation, self.simulation.schedule, seq)

    def _launch(self, activity: Activity, name: str) -> str:
        called = activity.call_ns, activity.call_end_ns
        return self._host("cuda_runtime", name, called, f'"correlation": {activity.correlation}')

    def _host(self, category: str, name: str, span_ns: tuple[int, int], args: str) -> str:
        pid = FIRST_PID + self.rank
        return self._event(category, name, (pid, pid), span_ns, args)

    def _device(self, activity: Activity, category: str, name: str, more: str) -> str:
        device = self.simulation.schedule.local_rank(self.rank)
        stream = self._stream(activity.operation.stream)
        args = f'"device": {device}, "stream": {stream}, "correlation": {activity.correlation}'
        span = activity.start_ns, activity.end_ns
        return self._event(category, name, (device, stream), span, args + more)

    def _event(
        self, category: str, name: str, place: tuple[int, int], span_ns: tuple[int, int], args: str
    ) -> str:
        start, end = map(self.clock.written_ns, span_ns)
        return (
            f'  {{\n    "ph": "X", "cat": "{category}", "name": {_quoted(name)}, '
            f'"pid": {place[0]}, "tid": {place[1]},\n'
            f'    "ts": {microseconds(start)}, "dur": {microseconds(end - start)},\n'
            f'    "args": {{\n      {args}\n    }}\n  }}'
        )

    def _stream(self, name: str) -> int:
        if name not in self._streams:
            self._streams[name] = stream_number(self.style.vendor, len(self._streams))
        return self._streams[name]


def _span_name(span: Span) -> str:
    """Steps before the first one are not the profiler's."""
    if span.step is None:
        return span.label
    return WARMUP_LABEL if span.step < 0 else f"ProfilerStep#{span.step}"


def _grid(kind: str) -> str:
    """Kernels of a kind do the same work, in as many blocks."""
    return f', "grid": [{crc32(kind.encode()) % 4096 + 64}, 1, 1], "block": [256, 1, 1]'
