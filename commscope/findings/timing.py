"""Rules on time: steps (Q3), impossible time stamps (Q4), order of launch and start (Q9)."""

from __future__ import annotations

from commscope.analysis.result import Analysis
from commscope.columns import int64
from commscope.findings.model import Check, Metric, Result, Withheld

#: Q3: share of GPU time outside steps that is worth saying.
MAX_OUTSIDE = 0.01
#: Q4: share of GPU time that repair may move before rankings are withheld.
MAX_REPAIRED = 0.05
#: Q9: share of kernels that may start before their launch.
MAX_EARLY = 0.01


def check_steps(analysis: Analysis) -> Check:
    """Q3: where do the steps come from, and what lies outside?"""
    title = "Steps"
    source = analysis.trace.step_source
    if source.kind == "whole_trace":
        says = (
            "no step was found: the whole trace is one window. Call profiler.step() once an "
            "iteration, or name what begins a step with --step-marker REGEX"
        )
        return Check("Q3", title, Result.FAIL, says)
    ranks = analysis.ranks
    busy = int((int64(ranks, "window_ns") - int64(ranks, "idle_ns")).sum())
    outside = int(analysis.outside_ns.sum()) / busy if busy else 0.0
    says = f"steps by {source.says}"
    if outside > MAX_OUTSIDE:
        return Check(
            "Q3", title, Result.FAIL, f"{says}; {outside:.1%} of the GPU time lies outside"
        )
    return Check("Q3", title, Result.PASS, says)


def check_durations(analysis: Analysis) -> Check:
    """Q4: are there time stamps that cannot be?"""
    title = "Time stamps"
    repairs = analysis.trace.repairs
    broken, clipped = (sum(getattr(r, k) for r in repairs) for k in ("broken", "clipped"))
    tolerated = sum(r.tolerated for r in repairs)
    before, after = (
        sum(getattr(r, k) for r in repairs) for k in ("busy_before_ns", "busy_after_ns")
    )
    if not broken and not clipped:
        says = "no impossible time stamp"
        if tolerated:
            says += (
                f" ({tolerated:,} activities overlap the next one of their stream by at most 1 us)"
            )
        return Check("Q4", title, Result.PASS, says)
    says = (
        f"{clipped:,} activities ended after the next one of their stream began and were cut there, "
        f"{broken:,} with impossible times do not count; GPU time {before / 1e6:,.3f} ms before, "
        f"{after / 1e6:,.3f} ms after"
    )
    moved = (before - after) / before if before else 0.0
    withheld = (Withheld(Metric.RANKINGS),) if moved > MAX_REPAIRED else ()
    return Check("Q4", title, Result.FAIL, says, withheld)


def check_order(analysis: Analysis) -> Check:
    """Q9: does the device's order contradict the host's?"""
    title = "Order of launch and start"
    rows = analysis.launch.to_pylist()
    linked = sum(row["kernels"] - row["unlinked"] for row in rows)
    if not linked:
        return Check("Q9", title, Result.NOT_CHECKED, "no launches in the file")
    early = sum(row["early"] for row in rows)
    if early <= MAX_EARLY * linked:
        says = f"kernels start after their launch ({early:,} of {linked:,} do not)"
        return Check("Q9", title, Result.PASS, says)
    says = (
        f"{early:,} of {linked:,} kernels start before their launch: the clocks of host and device "
        "disagree, so what waited for what cannot be told"
    )
    withheld = tuple(
        Withheld(Metric.LAUNCH, row["rank"])
        for row in rows
        if row["early"] > MAX_EARLY * (row["kernels"] - row["unlinked"])
    )
    return Check("Q9", title, Result.FAIL, says, withheld)
