"""Writes what really happened as ``commscope.truth/1``: one file a rank, in JSON Lines.

Times of operations are microseconds with three decimals, exactly ns, from the ``monotonic_ns`` of
the header's clock. Only fields that apply are there.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from commscope.generator.catalog.plan import Plan
from commscope.generator.dtypes import sent_as
from commscope.generator.kineto_style import microseconds
from commscope.generator.run_folder import truth_path
from commscope.generator.schedule import Collective, Communication, Compute, Copy, op_of
from commscope.generator.simulation import Activity, Simulation
from commscope.generator.truth import StepTruth, rank_truths, waits_of

SCHEMA = "commscope.truth/1"
#: How the times of an activity of a rank are known.
Source = Callable[[int, Activity], Literal["device", "event"]]
_PHASES = {"fwd": "forward", "bwd": "backward", "opt": "optimizer"}


class ClockReading(msgspec.Struct, frozen=True):
    """The clocks of a host at one instant."""

    realtime_ns: int
    boottime_ns: int
    monotonic_ns: int


class RankHeader(msgspec.Struct, frozen=True, kw_only=True):
    """On what a rank ran."""

    backend: str
    vendor: str
    ccl: str
    world: int
    rank: int
    clock: ClockReading
    ccl_version: int = 0
    device_name: str = ""
    pci: str = ""
    cus: int = 0
    ticks_per_us: float = 0.0
    tick_step_us: float = 0.0
    anchor_err_us: float = 0.0


def of_device(_rank: int, _activity: Activity) -> Literal["device"]:
    """All times are the device's own."""
    return "device"


def write_truth(  # noqa: PLR0913 - each is one fact of the run
    folder: Path,
    simulation: Simulation,
    headers: Sequence[RankHeader],
    plan: Plan,
    *,
    engine: str,
    source: Source = of_device,
) -> list[Path]:
    """Writes the truth of every rank, and gives the files.

    Times of the simulation count from the earliest of the headers' ``monotonic_ns``.
    """
    origin = min(header.clock.monotonic_ns for header in headers)
    waits = waits_of(simulation)
    files = []
    for rank, header in enumerate(headers):
        since = header.clock.monotonic_ns - origin
        own = _Rank(simulation, rank, plan, origin, since, source, _only_kernel(header, plan))
        rows: list[Mapping[str, Any]] = [
            header_row(header, plan, engine),
            *own.operations(waits),
            *own.steps(rank_truths(rank, simulation.ranks[rank], waits)),
            *({"op": "cause", **dataclasses.asdict(cause)} for cause in plan.causes),
        ]
        path = truth_path(folder, rank)
        path.write_text("".join(f"{_line(row)}\n" for row in rows), encoding="utf-8")
        files.append(path)
    return files


def header_row(header: RankHeader, plan: Plan, engine: str) -> Mapping[str, Any]:
    """The first line of a truth file."""
    return {
        "schema": SCHEMA,
        "scenario": plan.scenario,
        "engine": engine,
        **msgspec.to_builtins(header),
        "steps": plan.knobs.steps,
        "warmup": plan.knobs.warmup,
        "plan": dataclasses.asdict(plan.knobs),
    }


class _Us(int):
    """A time in ns, to be written as microseconds."""


def _line(row: Mapping[str, Any]) -> str:
    members = (
        f"{json.dumps(name)}:{microseconds(value) if isinstance(value, _Us) else _json(value)}"
        for name, value in row.items()
    )
    return f"{{{','.join(members)}}}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


@dataclasses.dataclass(frozen=True, slots=True)
class _Rank:
    """The lines of one rank, whose clock was read ``later_ns`` after the simulation's time 0."""

    simulation: Simulation
    rank: int
    plan: Plan
    origin_ns: int
    later_ns: int
    source: Source
    only_kernel: str | None

    def operations(self, waits: Mapping[tuple[int, int], int]) -> Iterator[Mapping[str, Any]]:
        """A line for each activity, in the order of launches."""
        for activity in self.simulation.ranks[self.rank].activities:
            yield {
                **self._what(activity),
                "step": activity.step,
                "stream": activity.operation.stream,
                "begin_us": _Us(activity.start_ns - self.later_ns),
                "end_us": _Us(activity.end_ns - self.later_ns),
                "src": self.source(self.rank, activity),
                "host_ns": self.origin_ns + activity.call_ns,
                **self._waited(activity, waits),
            }

    def _what(self, activity: Activity) -> Mapping[str, Any]:
        operation = activity.operation
        if isinstance(operation, Compute):
            return _compute(operation, self.only_kernel)
        if isinstance(operation, Copy):
            name = f"{operation.direction} {operation.memory}"
            return {"op": "copy", "name": name, "bytes": operation.size_bytes}
        return self._communication(activity, operation)

    def _communication(self, activity: Activity, operation: Communication) -> Mapping[str, Any]:
        dtype = sent_as(self.simulation.schedule.dtype, operation.size_bytes)
        shared = {
            "op": "collective",
            "comm": operation.communicator,
            "bytes": operation.size_bytes,
            "count": operation.size_bytes // dtype.size_bytes,
            "dtype": dtype.name,
        }
        if activity.instance is not None:
            shared["seq"] = self.simulation.instances[activity.instance].seq
        if isinstance(operation, Collective):
            known = operation.transfer_ns is not None
            planned = {"planned_us": _Us(operation.transfer_ns or 0)} if known else {}
            return {**shared, "name": operation.op, "coll": operation.op, **planned}
        op = op_of(operation)
        return {**shared, "name": op, "coll": op, "peer": operation.peer}

    def _waited(
        self, activity: Activity, waits: Mapping[tuple[int, int], int]
    ) -> Mapping[str, Any]:
        if activity.instance is None or (activity.instance, self.rank) not in waits:
            return {}
        return {"wait_us": _Us(waits[activity.instance, self.rank])}

    def steps(self, truths: Sequence[StepTruth]) -> Iterator[Mapping[str, Any]]:
        """A line for each step, in order."""
        spans = {span.step: span for span in self.simulation.ranks[self.rank].steps}
        for truth in truths:
            span = spans[truth.step]
            yield {
                "op": "step",
                "step": truth.step,
                "host_begin_ns": self.origin_ns + span.start_ns,
                "host_end_ns": self.origin_ns + span.end_ns,
                "compute_us": _Us(truth.compute_ns),
                "comm_us": _Us(truth.communication_ns),
                "overlap_us": _Us(truth.hidden_comm_ns),
                "exposed_comm_us": _Us(truth.exposed_comm_ns),
                "exposed_wait_us": _Us(truth.exposed_wait_ns),
                "exposed_copy_us": _Us(truth.exposed_copy_ns),
                "idle_us": _Us(truth.idle_ns),
                "span_us": _Us(truth.window_ns),
                "open": truth.open,
            }


def _only_kernel(header: RankHeader, plan: Plan) -> str | None:
    """The kernel that computes whatever there is to compute; null where each kind has its own."""
    multiplies = plan.knobs.compute == "gemm" and header.backend in ("amd", "nvidia")
    return "csg_gemm" if multiplies else None


def _compute(operation: Compute, only_kernel: str | None) -> Mapping[str, Any]:
    what = {"op": "compute", "name": only_kernel or f"csg_{operation.kind}"}
    phase, layer = _PHASES.get(operation.kind), operation.layer
    return {
        **what,
        **({"phase": phase} if phase else {}),
        **({"layer": layer} if layer else {}),
        "planned_us": _Us(operation.duration_ns),
    }
