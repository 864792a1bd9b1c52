"""Rules on waiting: a straggler, ranks that take turns in being late, the pipeline's bubble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from commscope.analysis.gaps import TRANSFER, WAIT
from commscope.analysis.pipeline import PIPELINE
from commscope.analysis.stragglers import (
    MIN_ERRORS,
    MIN_SHARE,
    MIN_STEP_SHARE,
    MOST_SHARE,
    instance_waits,
    leads_every_step,
)
from commscope.columns import NONE, Bool, Int64, at, int64
from commscope.findings import needs
from commscope.findings.case import Case
from commscope.findings.late_cause import LateCause
from commscope.findings.model import Advice, Measured
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule
from commscope.units import percent
from commscope.wording import rank_list

#: A transfer is hidden on the straggler if compute covers this share of it there.
_HIDDEN = 0.8


def _waits(case: Case) -> Bool:
    return case.due_to("straggler_wait") & (case.gaps.call >= 0)


def _roots(case: Case) -> Int64:
    """For each gap the rank (an index) with the first cause of the waiting; -1 for none."""
    origin = at(case.analysis.lateness.origin, case.instance, -1)
    return at(case.analysis.across.matching.straggler, origin, -1)


def _in_pipeline(case: Case) -> Bool:
    """Gaps in which a stage waits for its neighbour."""
    return case.role_is(PIPELINE) & (case.instance >= 0)


def look_straggler(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """C1: one rank causes most of the waiting, by arrival, and in every step."""
    waits, roots = _waits(case) & ~_in_pipeline(case), _roots(case)
    root = _blamed(case, limits)
    if root is None:
        return NOTHING
    for_root = waits & (roots == root)
    if not for_root.any():
        return NOTHING
    share = case.left_ns[for_root].sum() / case.left_ns[waits].sum()
    cause = LateCause(case, root, for_root)
    for_root |= _passed_through_pipeline(case, root, cause.reason)
    waiting = case.claim(for_root)
    claimed = waiting + case.claim(_hidden_there(case, for_root, root))
    lost = case.bound(claimed + cause.excess_ns)
    who = _ranks_in_words([r for r in case.ranks_of(waiting) if r != case.ranks[root]])
    says = (
        f"rank {case.ranks[root]} is late: {cause.says()}; {who} up to "
        f"{case.spoken(case.a_step(waiting))} for it, {percent(share)} of all waiting{cause.path()}"
    )
    measured = {
        "waiting": Measured(case.a_step(waiting), "ns"),
        "cause": Measured(cause.a_step(), "ns"),
        "share_of_waiting": Measured(float(share), "ratio"),
    }
    evidence = (*cause.evidence(), *case.evidence(for_root))
    return Outcome(
        (
            Draft(
                says, claimed, evidence=evidence, rank=case.ranks[root], measured=measured,
                bound_ns=min(lost, case.a_step(claimed)),
            ),
        )
    )  # fmt: skip


def _passed_through_pipeline(case: Case, root: int, reason: int) -> Bool:
    """Gaps in which stages wait since the late rank was late, for the same reason.

    What else they wait in a pipeline is its bubble.
    """
    origin = at(case.analysis.lateness.origin, case.instance, -1)
    alike = at(case.analysis.lateness.reason, origin, -1) == reason
    return np.asarray(_waits(case) & _in_pipeline(case) & (_roots(case) == root) & alike)


def _caused(case: Case) -> tuple[Int64, Int64]:
    """For each instance the waiting it cost, and the rank (an index) with the first cause.

    All waiting counts, hidden or not, in open steps too (DEFINITIONS 4), but that in pipelines.
    """
    across = case.analysis.across
    in_pipeline = across.has_role(across.matching.communicator, PIPELINE)
    waits = np.where(in_pipeline, 0, instance_waits(across.matching))
    return waits, across.matching.straggler[case.analysis.lateness.origin]


def _blamed(case: Case, limits: Mapping[str, float]) -> int | None:
    """The rank that causes enough of all waiting, and of that of every step; null for none."""
    matching = case.analysis.across.matching
    caused, root = _caused(case)
    by_rank = np.bincount(root, caused, minlength=len(case.ranks))
    top = int(by_rank.argmax())
    if not caused.any() or by_rank[top] < limits["min_share"] * caused.sum():
        return None
    error = int(matching.clocks.error_ns.max(initial=0))
    if caused[caused > 0].mean() <= limits["min_errors"] * error:
        return None
    step = int64(case.analysis.across.calls, "step")[matching.first_row]
    step = np.where(np.isin(step, case.step[case.counts]), step, NONE)
    return top if leads_every_step(step, caused, root == top, limits["min_step_share"]) else None


def _hidden_there(case: Case, rows: Bool, root: int) -> Bool:
    """Exposed transfers of what was waited for that compute hides on the late rank itself.

    Had it been in time, compute would have hidden them on the others too.
    """
    calls, matching = case.analysis.across.calls, case.analysis.across.matching
    hidden, length, rank = (int64(calls, name) for name in ("hidden_ns", "dur_ns", "rank"))
    covered = (rank == case.ranks[root]) & (hidden >= _HIDDEN * length) & (matching.instance >= 0)
    instances = np.intersect1d(matching.instance[covered], case.instance[rows])
    chosen = np.isin(case.instance, instances) & (case.gaps.part == TRANSFER)
    return np.asarray(chosen & (case.gaps.rank != root))


def _ranks_in_words(ranks: Sequence[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]} waits"
    return f"{rank_list(ranks)} wait" if ranks else "others wait"


def look_turns(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """C9: what waiting there is besides that for a straggler and in pipelines."""
    rows = _waits(case) & ~_in_pipeline(case)
    if not rows.any():
        return NOTHING
    whom = _for_whom(case)
    claimed = case.claim(rows)
    says = f"ranks wait up to {case.spoken(case.a_step(claimed))} for each other, {whom}"
    measured = {"waiting": Measured(case.a_step(claimed), "ns")}
    return Outcome((Draft(says, claimed, rows, measured=measured, at_most="medium"),))


def _for_whom(case: Case) -> str:
    """Whether one rank causes most of the waiting, and which ranks cause how much of it.

    A rank for which all of it is claimed is left out.
    """
    waits, roots = _caused(case)
    blamed = case.usable & (case.left_ns == 0) & (case.gaps.part == WAIT) & ~_in_pipeline(case)
    waits = np.where(np.isin(roots, _roots(case)[blamed]), 0, waits)
    caused = np.bincount(roots, waits, len(case.ranks))
    order = np.argsort(-caused, kind="stable")[:4]
    share = caused / max(caused.sum(), 1)
    shown = ", ".join(f"rank {case.ranks[i]} {share[i]:.0%}" for i in order if caused[i])
    if share[order[0]] > MOST_SHARE:
        first = f"most of it for rank {case.ranks[order[0]]}"
        return f"{first}, but not so much in every step that it alone is to blame ({shown})"
    return f"and no one rank is to blame: the waiting moves between ranks ({shown})"


def look_bubble(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """P1: waiting for neighbours in a pipeline."""
    rows = _waits(case) & _in_pipeline(case)
    if not rows.any():
        return NOTHING
    claimed = case.claim(rows)
    says = (
        f"stages wait up to {case.spoken(case.a_step(claimed))} for their neighbours in the "
        "pipeline"
    )
    measured = {"waiting": Measured(case.a_step(claimed), "ns")}
    return Outcome((Draft(says, claimed, rows, measured=measured, at_most="medium"),))


RULES = (
    Rule(
        "C1", "collectives", "Straggler",
        "Does one rank cause most of the waiting, and why is it late?",
        look_straggler,
        (
            Advice(
                "Look at what the late rank does before it arrives; the time is not the network's.",
                "A collective lasts until its last member has come: the others only wait.",
                "https://github.com/traceopt-ai/traceml/issues/252",
            ),
        ),
        {
            "min_share": Limit(MIN_SHARE, "ratio", "of all waiting, caused by the one rank"),
            "min_step_share": Limit(MIN_STEP_SHARE, "ratio", "of the waiting of every closed step"),
            "min_errors": Limit(MIN_ERRORS, "count", "mean wait, in errors of the clocks"),
        },
        needs=(needs.partners,),
    ),
    Rule(
        "P1", "collectives", "Pipeline bubble",
        "Do the stages of a pipeline wait for each other?",
        look_bubble,
        (
            Advice(
                "Use more micro-batches, or an interleaved or zero-bubble schedule.",
                "A stage is idle until the first micro-batch reaches it, and after the last.",
                "https://github.com/sail-sg/zero-bubble-pipeline-parallelism/issues/25",
            ),
        ),
        needs=(needs.partners, needs.pipeline),
    ),
    Rule(
        "C9", "collectives", "Ranks take turns in being late",
        "Do ranks wait for each other without one that is to blame?",
        look_turns,
        (
            Advice(
                "Reduce what varies between ranks: the host's pace, input, the length of samples.",
                "Whoever is last in each collective costs all others the difference.",
                "https://github.com/deepseek-ai/DeepEP/issues/59",
            ),
        ),
        needs=(needs.partners,),
    ),
)  # fmt: skip
