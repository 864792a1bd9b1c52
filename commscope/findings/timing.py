"""Rules on time: steps (Q3), impossible time stamps (Q4), order of launch and start (Q9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commscope.analysis.result import Analysis
from commscope.classify import ActivityClass
from commscope.columns import NONE, flagged, int64
from commscope.findings.completeness import withhold_kernels
from commscope.findings.model import Check, Metric, Result, Trust, Withheld
from commscope.schema import Flag
from commscope.trace import Repair
from commscope.wording import counted, on_ranks

#: Q3: share of GPU time outside steps that is worth saying.
MAX_OUTSIDE = 0.01
#: Q4: share of GPU time that repair may move before rankings are withheld.
MAX_REPAIRED = 0.05
#: Q4: share of a rank's communications that may be left out before overlap is withheld.
MAX_LEFT_OUT = 0.02
#: Q9: share of a rank's kernels that may start before their launch.
MAX_EARLY = 0.01

_IN_RANGES = "put each iteration into a range of roctx and record those (--marker-trace)"


def check_steps(analysis: Analysis) -> Check:
    """Q3: where do the steps come from, and what belongs to none?"""
    title, source = "Steps", analysis.trace.step_source
    if source.kind == "whole_trace":
        are_kineto = all(file.format == "kineto" for file in analysis.trace.files)
        mark = "call profiler.step() once an iteration" if are_kineto else _IN_RANGES
        says = (
            f"no step was found: the whole trace is one window; {mark}, or name what begins a step "
            "with --step-marker REGEX"
        )
        return Check("Q3", title, Result.FAIL, says)
    says = f"steps by {source.says}"
    found = analysis.timeline.activities
    duration = found.end_ns - found.start_ns
    outside = int64(analysis.trace.events, "step")[found.row] == NONE
    time = int(duration[outside].sum())
    if time <= MAX_OUTSIDE * int(duration.sum()):
        return Check("Q3", title, Result.PASS, says)
    belong = counted(int(outside.sum()), "activity belongs", "activities belong")
    share = time / int(duration.sum())
    says += f"; {belong} to no step ({time / 1e6:,.3f} ms, {share:.1%} of the GPU time)"
    return Check("Q3", title, Result.FAIL, says)


def check_durations(analysis: Analysis) -> Check:
    """Q4: are there time stamps that cannot be?"""
    title, repairs = "Time stamps", analysis.trace.repairs
    broken, clipped, tolerated, before, after = (
        sum(getattr(repair, name) for repair in repairs)
        for name in ("broken", "clipped", "tolerated", "busy_before_ns", "busy_after_ns")
    )
    if not broken and not clipped:
        says = "no impossible time stamp" + _harmless(tolerated, _empty(analysis))
        return Check("Q4", title, Result.PASS, says)
    says = f"{_impossible(broken, clipped)}{on_ranks(_touched(repairs), analysis.ranks.num_rows)}"
    if clipped:
        says += f": {before / 1e6:,.3f} ms of GPU time before, {after / 1e6:,.3f} ms after"
    moved = (before - after) / before if before else 0.0
    withheld = (Withheld(Metric.RANKINGS),) if moved > MAX_REPAIRED else ()
    said, gone = _communication_left_out(analysis)
    return Check("Q4", title, Result.FAIL, says + said, withheld + gone)


def _communication_left_out(analysis: Analysis) -> tuple[str, tuple[Withheld, ...]]:
    """How many communications have impossible times, and what cannot be told without them."""
    events, ranks = analysis.trace.events, int64(analysis.ranks, "rank")
    running = analysis.trace.classes.of_event == ActivityClass.COMMUNICATION
    broken = running & flagged(events, Flag.BROKEN)
    if not broken.any():
        return "", ()
    rank = np.searchsorted(ranks, int64(events, "rank"))
    every, gone = (np.bincount(rank[rows], minlength=len(ranks)) for rows in (running, broken))
    bad = ranks[gone > MAX_LEFT_OUT * every].tolist()
    count, of_all = int(broken.sum()), counted(int(running.sum()), "communication")
    says = f"; {count:,} of {of_all} {'is' if count == 1 else 'are'} among those left out"
    return says, withhold_kernels((number, None) for number in bad)


def no_communication(trust: Trust) -> str:
    """What is to be said where no communication counts."""
    left_out = communication_left_out(trust)
    if left_out is None:
        return "No communication ran on the GPU."
    return f"No communication is left to count: {left_out}."


def communication_left_out(trust: Trust) -> str | None:
    """Why communication that ran counts nowhere, by rule Q4; null where enough of it counts."""
    check = next(check for check in trust.checks if check.rule == "Q4")
    is_gone = any(one.metric is Metric.OVERLAP for one in check.withheld)
    return check.says if is_gone else None


def _impossible(broken: int, clipped: int) -> str:
    """What was found, without what there is none of."""
    says = []
    if clipped:
        ended = counted(clipped, "activity that", "activities that")
        says.append(f"{ended} ended after the begin of the next on the same stream, cut there")
    if broken:
        have = counted(broken, "activity with", "activities with")
        says.append(f"{have} impossible times, left out")
    return "; ".join(says)


def _touched(repairs: Sequence[Repair]) -> list[int]:
    return [repair.rank for repair in repairs if repair.broken or repair.clipped]


def _empty(analysis: Analysis) -> int:
    """Activities without length that repair has not made so."""
    events = analysis.trace.events
    whole = ~flagged(events, Flag.BROKEN | Flag.CLIPPED)
    return int((whole & (int64(events, "dur_ns") == 0)).sum())


def _harmless(tolerated: int, empty: int) -> str:
    """What the clocks of the profiler are too coarse for."""
    says = []
    if tolerated:
        overlaps = counted(tolerated, "overlap")
        says.append(f"{overlaps} of at most 1 us on one stream, left as they are")
    if empty:
        says.append(f"{counted(empty, 'activity', 'activities')} of no length, left out")
    return f" ({'; '.join(says)})" if says else ""


def check_order(analysis: Analysis) -> Check:
    """Q9: does the device's order contradict the host's?"""
    title = "Order of launch and start"
    rank, kernels, unlinked, early = (
        int64(analysis.launch, name) for name in ("rank", "kernels", "unlinked", "early")
    )
    linked = kernels - unlinked
    if not linked.any():
        return Check("Q9", title, Result.NOT_CHECKED, "no launches in the file")
    bad = early > MAX_EARLY * linked
    of = bad if bad.any() else np.ones(len(rank), np.bool_)
    few = int(early[of].sum())
    says = (
        f"{few:,} of {counted(int(linked[of].sum()), 'kernel')} "
        f"{'starts' if few == 1 else 'start'} before their launch"
    )
    if not bad.any():
        return Check("Q9", title, Result.PASS, says)
    ranks = rank[bad].tolist()
    says += (
        f"{on_ranks(ranks, len(rank))}: the clocks of host and device disagree, so what waited "
        "for what cannot be told"
    )
    withheld = tuple(Withheld(Metric.LAUNCH, one) for one in ranks)
    return Check("Q9", title, Result.FAIL, says, withheld)
