"""What the gate knows of a run: the report, the mean step of all ranks, and what it was run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from commscope._version import DEFINITIONS_VERSION
from commscope.columns import NONE, Int64, int64
from commscope.report.model import Report
from commscope.trace import Trace

#: Parts of a step, of each of which there is the mean over closed steps and ranks.
PER_STEP = (
    *("window_ns", "compute_ns", "communication_ns", "hidden_comm_ns", "exposed_comm_ns"),
    *("exposed_wait_ns", "exposed_transfer_ns", "exposed_unmatched_ns", "exposed_copy_ns"),
    "idle_ns",
)


@dataclass(frozen=True, slots=True)
class Setup:
    """What must be alike for two runs to be set against each other."""

    gpus: tuple[str, ...]
    ranks: tuple[int, ...]
    world: int | None  #: how many ranks the job had, where the traces tell
    step_source: str


@dataclass(frozen=True, slots=True)
class GateRun:
    """A run ready to be judged; ``document`` is its report with what the gate adds."""

    name: str
    document: Mapping[str, Any]
    closed_steps: int  #: of the rank that has the fewest
    setup: Setup
    contents: frozenset[str]  #: digests of its files, by which it is known again
    definitions: int = DEFINITIONS_VERSION  #: of the version that saved it


def gate_run(
    name: str,
    trace: Trace,
    report: Report,
    *,
    unprofiled_ns: float | None = None,
    definitions: int = DEFINITIONS_VERSION,
) -> GateRun:
    """A run from its report; the step time without the profiler is that of the trace, or given."""
    rows = _closed_steps(report)
    unprofiled = trace.unprofiled_step_ns if unprofiled_ns is None else unprofiled_ns
    return GateRun(
        name=name,
        document={
            **report.to_dict(),
            "per_step": {part: _mean(report, part, rows) for part in PER_STEP},
            "unprofiled": _unprofiled(report, unprofiled),
        },
        closed_steps=_fewest(int64(report.steps.arrow, "rank")[rows]),
        setup=_setup(trace, report),
        contents=frozenset(file.sha256 for file in report.inputs if file.sha256),
        definitions=definitions,
    )


def _closed_steps(report: Report) -> Int64:
    """The rows of the closed steps; there are none where the trace has no steps."""
    table = report.steps.arrow
    if report.summary.step_source == "whole_trace":
        return np.empty(0, np.int64)
    is_open = np.asarray(table.column("open").to_numpy(zero_copy_only=False), np.bool_)
    return np.flatnonzero(~is_open & (int64(table, "window_ns") != NONE))


def _fewest(rank: Int64) -> int:
    return min(np.unique(rank, return_counts=True)[1].tolist(), default=0)


def _mean(report: Report, part: str, rows: Int64) -> float | None:
    """The mean over steps and ranks; null where it is not known of each."""
    values = int64(report.steps.arrow, part)[rows]
    return None if not len(values) or (values == NONE).any() else float(values.mean())


def _unprofiled(report: Report, step_ns: float | None) -> dict[str, float | None]:
    times = report.summary.step_times
    if step_ns is None or times is None:
        return {"step_ns": step_ns, "inflation": None}
    return {"step_ns": step_ns, "inflation": times.p50_ns / step_ns}


def _setup(trace: Trace, report: Report) -> Setup:
    told = [size for size in trace.ranks.column("world_size").to_pylist() if size]
    return Setup(
        gpus=tuple(sorted(report.environment.gpus)),
        ranks=tuple(sorted(int64(report.ranks.arrow, "rank").tolist())),
        world=max(told, default=None),
        step_source=report.summary.step_source,
    )
