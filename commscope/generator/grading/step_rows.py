"""Which step of the trace is which of the truth, and whether the profiler has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from commscope.generator.grading.model import Blame, Numbers, Place, Row, held, not_told
from commscope.generator.grading.pairs import Pairs
from commscope.generator.grading.tolerances import STEP_NS
from commscope.generator.grading.traces import Traces
from commscope.generator.truth_file import TruthFile, TruthHostStep, TruthStep

_CHECK = "steps"
#: Sources of steps whose numbers are those of the program.
_NUMBERED = ("annotation", "marker")
Steps = Mapping[int, dict[str, Any]]


def is_numbered(traces: Traces) -> bool:
    """Whether steps have the numbers of the program."""
    return traces.report.summary.step_source in _NUMBERED


def steps_of(truth: TruthFile, traces: Traces, pairs: Pairs | None) -> Steps:
    """Rows of the report's steps by the numbers that the truth gives them."""
    rank = truth.header.rank
    rows = [row for row in traces.report.steps if row["rank"] == rank]
    if is_numbered(traces):
        return {row["step"]: row for row in rows}
    origin = traces.report.origin_ns
    found: dict[int, dict[str, Any]] = {}
    for pair in pairs.of("compute", "collective") if pairs else ():
        since = pair.kernel.start_ns - origin
        for row in rows:
            has_window = row["start_ns"] is not None
            if has_window and row["start_ns"] <= since < row["end_ns"]:
                found.setdefault(pair.operation.step or 0, row)
    return found


def step_rows(
    truth: TruthFile, traces: Traces, steps: Steps, shift_ns: int | None
) -> Iterator[Row]:
    """Whether every step is there, and begins and ends on the host when it did.

    ``shift_ns`` leads from the host's monotonic clock to that of the trace, where it is known.
    """
    rank, is_exact = truth.header.rank, truth.header.is_simulated
    numbered = is_numbered(traces)
    measured = [step for step in truth.on_host if not step.is_warmup]
    missing = [step.step for step in measured if step.step not in steps]
    found = len(measured) - len(missing)
    more = sorted(set(steps) - {step.step for step in measured}) if numbered else []
    says = f"steps of rank {rank} are missing in the trace: {_listed(missing)}"
    if more:
        says = f"the trace of rank {rank} has steps that the job did not do: {_listed(more)}"
    numbers = Numbers(len(measured), found + len(more), unit="count")
    yield held(_CHECK, Place(rank), numbers, Blame("profiler", says))
    if not numbered:
        says = "the steps are inferred: the trace has no annotation of any"
        yield not_told(_CHECK, Place(rank, what="begin and end"), says)
    elif shift_ns is not None:
        tolerance = 0 if is_exact else STEP_NS
        origin = shift_ns - traces.report.origin_ns
        for step in measured:
            if step.step in steps:
                yield from _on_host(rank, step, steps[step.step], origin, tolerance)


def _on_host(
    rank: int,
    step: TruthStep | TruthHostStep,
    found: Mapping[str, Any],
    origin_ns: int,
    tolerance: float,
) -> Iterator[Row]:
    for name in ("begin", "end"):
        at = found["host_start_ns" if name == "begin" else "host_end_ns"]
        true = getattr(step, f"host_{name}_ns") + origin_ns
        says = "on the host it is not where the program had it"
        if at is not None:
            numbers = Numbers(true, at, tolerance)
            yield held(_CHECK, Place(rank, step.step, name), numbers, Blame("profiler", says))


def _listed(steps: list[int]) -> str:
    return ", ".join(map(str, steps[:4])) + (" and more" if len(steps) > 4 else "")
