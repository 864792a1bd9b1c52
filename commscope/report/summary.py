"""The sentence, the six numbers, and the line on trust."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.analysis.result import Analysis
from commscope.columns import NONE, Bool, int64
from commscope.findings.main_cause import main_cause
from commscope.findings.model import Finding, Result, Trust
from commscope.findings.timing import communication_left_out
from commscope.report.model import Shares, StepTimes, Summary, UpperBound
from commscope.units import percent, span


def summarise(
    analysis: Analysis, steps: pa.Table, trust: Trust, findings: Sequence[Finding]
) -> Summary:
    """The summary of the steps table (as shown, so without what is withheld).

    ``findings`` are those of the rules.
    """
    closed = _closed(steps)
    wanted = steps.filter(pa.array(_shown(steps, closed)))
    chosen = wanted.filter(pa.array(_known(wanted)))
    bound = upper_bound(chosen)
    shares = _shares(chosen)
    source = analysis.trace.step_source
    return Summary(
        ranks=analysis.ranks.num_rows,
        steps=len(np.unique(int64(steps, "step"))),
        step_source=source.kind,
        step_confidence=source.confidence,
        step_times=_step_times(steps, closed),
        shares=shares,
        overlap_ratio=_ratio(chosen, "hidden_comm_ns", "communication_ns"),
        verdict=_verdict(analysis, chosen, trust, findings) + _left_out(wanted, chosen),
        upper_bound=bound,
    )


def _closed(steps: pa.Table) -> Bool:
    """Steps that show where they end, and have activity."""
    is_open = np.asarray(steps.column("open").to_numpy(zero_copy_only=False), np.bool_)
    return np.asarray(~is_open & (int64(steps, "window_ns") != NONE))


def _shown(steps: pa.Table, closed: Bool) -> Bool:
    """What the summary is over: closed steps if there are any, else all with activity."""
    return closed if closed.any() else int64(steps, "window_ns") != NONE


def _known(steps: pa.Table) -> Bool:
    """Steps nothing of which is withheld."""
    names = ("exposed_comm_ns", "idle_ns")
    return np.asarray(np.logical_and.reduce([int64(steps, name) != NONE for name in names]))


def _left_out(wanted: pa.Table, chosen: pa.Table) -> str:
    """Which steps of which ranks the sentence is not about, since their numbers are withheld."""
    if not chosen.num_rows or chosen.num_rows == wanted.num_rows:
        return ""
    of_rank = (int64(wanted, "rank"), int64(chosen, "rank"))
    missing = np.setdiff1d(*of_rank).tolist()
    count = wanted.num_rows - chosen.num_rows
    which = f", all of rank {', '.join(map(str, missing))}" if missing else ""
    return f" {count} of {wanted.num_rows} steps of the ranks are left out{which}: see Trust."


def _step_times(steps: pa.Table, closed: Bool) -> StepTimes | None:
    length = int64(steps, "window_ns")[closed]
    if not len(length):
        return None
    p50, p95 = (round(float(np.percentile(length, p))) for p in (50, 95))
    return StepTimes(p50, p95, int(length.max()))


def _sum(steps: pa.Table, name: str) -> int | None:
    """The sum of a column; null where any of it is withheld."""
    values = int64(steps, name)
    return None if not len(values) or (values == NONE).any() else int(values.sum())


def _ratio(steps: pa.Table, part: str, whole: str) -> float | None:
    above, below = _sum(steps, part), _sum(steps, whole)
    return above / below if above is not None and below else None


def _shares(steps: pa.Table) -> Shares | None:
    if not steps.num_rows:
        return None
    names = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
    return Shares(*(_ratio(steps, name, "window_ns") for name in names))


def upper_bound(steps: pa.Table) -> UpperBound | None:
    """What hiding all communication could win: the gain of the slowest rank, median over steps.

    The ranks of a step go on together. The slowest is the one with most to do besides exposed
    communication: the step would still take that long, so its own gain is all there is
    (DEFINITIONS 7).
    """
    window, exposed = int64(steps, "window_ns"), int64(steps, "exposed_comm_ns")
    if not len(window) or (exposed == NONE).any():
        return None
    order = np.lexsort((window - exposed, int64(steps, "step")))
    numbers = int64(steps, "step")[order]
    slowest = order[np.append(numbers[1:] != numbers[:-1], True)]
    gain, length = (round(float(np.median(values[slowest]))) for values in (exposed, window))
    rest = length - gain
    return UpperBound(gain, length / rest) if rest > 0 else None


def _verdict(analysis: Analysis, steps: pa.Table, trust: Trust, findings: Sequence[Finding]) -> str:
    """The number, its main cause, and what could be won."""
    shares, bound = _shares(steps), upper_bound(steps)
    ran = int64(analysis.ranks, "communication_ns").any()
    left_out = None if ran else communication_left_out(trust)
    if left_out is not None:
        return f"The trace cannot tell how much communication was exposed: {left_out}."
    if trust.verdict == "unusable" or shares is None or shares.exposed_comm is None:
        return "The trace cannot tell how much communication was exposed: see what is not measured."
    if not ran:
        return (
            f"No communication ran on the GPU: compute takes {percent(shares.compute)} of the "
            f"time, {percent(shares.idle)} is idle."
        )
    says = (
        _exposed(steps, shares, _unit(analysis)),
        _waiting(analysis, steps),
        _cause(findings, _unit(analysis)),
        _gain(analysis, bound),
    )
    return " ".join(filter(None, says))


def _waiting(analysis: Analysis, steps: pa.Table) -> str:
    """How much of the exposed time was waiting for late ranks, and for whom."""
    waited, exposed = _sum(steps, "exposed_wait_ns"), _sum(steps, "exposed_comm_ns")
    if not waited or not exposed or percent(waited / exposed) == percent(0):
        return ""
    blamed = {v.straggler for v in analysis.across.verdicts if v.straggler is not None}
    whom = f"for rank {blamed.pop()}" if len(blamed) == 1 else "for late ranks"
    return f"{percent(waited / exposed)} of it is waiting {whom}."


def _cause(findings: Sequence[Finding], unit: str) -> str:
    """The finding with the largest bound, if it is worth naming."""
    cause = main_cause(findings)
    if cause is None:
        return ""
    return f"Main cause: {cause.says}. Mending that wins at most {span(cause.bound_ns or 0)}{unit}."


def _unit(analysis: Analysis) -> str:
    return "" if analysis.trace.step_source.kind == "whole_trace" else " a step"


def _exposed(steps: pa.Table, shares: Shares, unit: str) -> str:
    """How much is exposed, on the rank with most of it and on the one with least."""
    rank, exposed = int64(steps, "rank"), int64(steps, "exposed_comm_ns")
    ranks = np.unique(rank)
    per_step = np.array([float(np.median(exposed[rank == r])) for r in ranks])
    says = f"Exposed communication takes {percent(shares.exposed_comm)} of the GPU time"
    most, least = int(per_step.argmax()), int(per_step.argmin())
    if per_step[most] == per_step[least]:
        where = " on every rank" if len(ranks) > 1 else ""
        return f"{says}: {span(round(per_step[0]))}{unit}{where}."
    return (
        f"{says}: {span(round(per_step[most]))}{unit} on rank {ranks[most]} (the most), "
        f"{span(round(per_step[least]))} on rank {ranks[least]} (the least)."
    )


def _gain(analysis: Analysis, bound: UpperBound | None) -> str:
    if bound is None:
        return ""
    says = f"Hiding all of it, and nothing else, wins at most {span(bound.exposed_hidden_ns)}"
    says += f"{_unit(analysis)}: {bound.speedup:.2f} times as fast."
    world = [size for size in analysis.trace.ranks.column("world_size").to_pylist() if size]
    missing = max(world, default=0) - analysis.ranks.num_rows
    if missing > 0:
        says += (
            f" {missing} of {max(world)} ranks are not here: part of it may be waiting for them."
        )
    return says


def trust_line(analysis: Analysis, trust: Trust, summary: Summary) -> str:
    """How far the numbers can be trusted, in one line."""
    says = [_coverage(analysis, trust), _steps_from(analysis)]
    says += [c.says for c in trust.checks if c.result == Result.FAIL and c.rule in _ALWAYS_SAID]
    says += [c.says for c in trust.checks if c.withheld and c.rule not in _ALWAYS_SAID]
    says += [note.says for note in analysis.trace.notes if note.topic == "captures"]
    inflation = _inflation(analysis, summary)
    return f"{trust.verdict}: " + "; ".join(filter(None, [*dict.fromkeys(says), inflation]))


#: Rules whose failure concerns every number, also where they withhold none.
_ALWAYS_SAID = ("Q4", "Q7", "Q12")


def _coverage(analysis: Analysis, trust: Trust) -> str | None:
    """Rule Q1 in short."""
    check = next(check for check in trust.checks if check.rule == "Q1")
    if check.result != Result.PASS:
        return check.says if not check.withheld else None
    whole = analysis.coverage.filter(pc.is_null(analysis.coverage.column("step")))
    launches, found = (int(int64(whole, name).sum()) for name in ("launches", "found"))
    says = f"{found / launches:.1%} of {launches:,} kernel launches found their kernel"
    unlinked = int(int64(analysis.launch, "unlinked").sum())
    return says + (f", {unlinked:,} kernels have no launch in the file" if unlinked else "")


def _steps_from(analysis: Analysis) -> str:
    source = analysis.trace.step_source
    names = {
        "annotation": "steps by ProfilerStep",
        "marker": f"steps by {source.says}",
        "inferred": f"steps inferred ({source.confidence:.1%} of the activities repeat)",
    }
    return names.get(source.kind, "no steps: the whole trace is one window")


def _inflation(analysis: Analysis, summary: Summary) -> str | None:
    """How much longer a step is under the profiler, where the time without it is known."""
    unprofiled, times = analysis.trace.unprofiled_step_ns, summary.step_times
    if not unprofiled or times is None or times.p50_ns < unprofiled:
        return None  # a profiler makes nothing faster: the time is of another run
    factor = times.p50_ns / unprofiled
    return (
        f"profiling made the step {factor:.2f} times as long ({span(times.p50_ns)}, without it "
        f"{span(unprofiled)}): shares are those of the profiled run"
    )
