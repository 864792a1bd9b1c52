"""What the program that plays schedules writes, made from a simulation: exact, and without it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commscope.generator import Simulation
from commscope.generator.schedule import (
    Communication,
    Compute,
    Copy,
    EndStep,
    Operation,
    Pop,
    Program,
    Push,
    Sleep,
    Step,
)
from commscope.generator.simulation import Activity, RankRun

REALTIME_NS = 1_796_000_000_000_000_000
MONOTONIC_NS = 5_000_000_000_000
#: Between the clocks of one rank being read and those of the next; and before all begin.
LATER_NS = 1_000
BEFORE_NS = 50_000
HEADER = {
    "schema": "commscope.recorded/1", "backend": "host", "vendor": "none", "ccl": "host",
    "ccl_version": 0, "device_name": "threads of the host", "pci": "", "cus": 2,
    "ticks_per_us": 1000.0, "tick_step_us": 0.001, "anchor_err_us": 0.0,
}  # fmt: skip


def write_run(simulation: Simulation, folder: Path) -> Path:
    """Writes recordings and activities of all ranks; gives the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, program in enumerate(simulation.schedule.programs):
        run = simulation.ranks[rank]
        clock = {
            "realtime_ns": REALTIME_NS - BEFORE_NS + rank * LATER_NS,
            "boottime_ns": MONOTONIC_NS - BEFORE_NS + rank * LATER_NS,
            "monotonic_ns": MONOTONIC_NS - BEFORE_NS + rank * LATER_NS,
        }
        header = {
            **HEADER, "world": len(simulation.ranks), "rank": rank, "pid": 100 + rank,
            "thread": 100 + rank, "clock": clock,
        }  # fmt: skip
        write_lines(folder / f"recorded_rank{rank}.jsonl", [header, *_recorded(program, run)])
        write_lines(folder / f"activities_rank{rank}.jsonl", list(_activities(run)))
    return folder


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    """Writes a file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of such a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _recorded(program: Program, run: RankRun) -> Iterator[dict[str, Any]]:
    activities, calls, spans = iter(run.activities), iter(run.calls), iter(run.spans)
    ends: list[int] = []
    now = 0
    for number, operation in enumerate(program):
        row: dict[str, Any] = {}
        if isinstance(operation, (Step, Push)):
            span = next(spans)
            ends.append(span.end_ns)
            called = span.start_ns, span.start_ns
        elif isinstance(operation, (EndStep, Pop)):
            called = (ends.pop(),) * 2
        elif isinstance(operation, Sleep):
            called = now, now + operation.duration_ns
        elif _runs_on_stream(operation):
            activity = next(activities)
            called = activity.call_ns, activity.call_end_ns
            row = {"begin_ns": MONOTONIC_NS + activity.start_ns, "src": "device"}
            row["end_ns"] = MONOTONIC_NS + activity.end_ns
        else:
            call = next(calls)
            called = call.start_ns, call.end_ns
        now = called[1]
        host = {"host_begin_ns": MONOTONIC_NS + called[0], "host_end_ns": MONOTONIC_NS + now}
        yield {"i": number, **host, **row}


def _runs_on_stream(operation: Operation) -> bool:
    return isinstance(operation, (Compute, Copy, Communication))


def _activities(run: RankRun) -> Iterator[dict[str, Any]]:
    streams: dict[str, int] = {}
    for it in run.activities:
        called = {"begin_ns": REALTIME_NS + it.call_ns, "end_ns": REALTIME_NS + it.call_end_ns}
        yield {
            "kind": "runtime", "name": "cudaLaunchKernel", **called,
            "correlation": it.correlation, "thread": 7,
        }  # fmt: skip
        stream = streams.setdefault(it.operation.stream, len(streams))
        times = {"begin_ns": REALTIME_NS + it.start_ns, "end_ns": REALTIME_NS + it.end_ns}
        place = {"device": 0, "stream": stream, "correlation": it.correlation}
        yield {**_named(it), **times, **place}


def _named(activity: Activity) -> dict[str, Any]:
    operation = activity.operation
    if isinstance(operation, Compute):
        return {"kind": "kernel", "name": f"csg_{operation.kind}"}
    if isinstance(operation, Copy):
        name = "Memcpy HtoD (Pinned -> Device)"
        return {"kind": "memcpy", "name": name, "bytes": operation.size_bytes, "copy": "h2d"}
    return {"kind": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)"}
