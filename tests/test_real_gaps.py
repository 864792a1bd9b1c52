"""Gaps, causes and bounds on every real Kineto file."""

from __future__ import annotations

import statistics
from collections import defaultdict

import numpy as np
import pytest
from gap_rows import expected_gaps, found_gaps
from real_runs import Report, Run, analysis_of, each_run, report_of

from commscope.columns import int64
from commscope.findings.case import Case
from commscope.findings.quality import trust_of
from commscope.findings.rules import BUILT_IN

pytestmark = pytest.mark.long

#: Their bound is about compute that is slowed, not about time without compute.
_ON_COMPUTE = {"O4", "O5"}
_WITHOUT_COMPUTE = ("exposed_comm_ns", "exposed_copy_ns", "idle_ns")


@each_run
def test_gaps_and_causes_equal_the_reference(run: Run) -> None:
    found = analysis_of(run.path)
    assert found_gaps(found, found.gaps, found.causes) == expected_gaps(found.trace, found.across)


@each_run
def test_gaps_of_a_step_add_up_to_its_exposed_communication(run: Run) -> None:
    report = report_of(run.path)
    sums = _sums(report)
    for step in report["steps"]:
        exposed = (step["partition"] or {}).get("exposed_comm_ns")
        if exposed is not None:
            assert sums.pop((step["rank"], step["step"]), 0) == exposed
    assert not any(number is not None for _, number in sums)


def _sums(report: Report) -> dict[tuple[int, int | None], int]:
    """By rank and step, all causes together."""
    found: dict[tuple[int, int | None], int] = defaultdict(int)
    for row in report["gap_sums"]:
        found[row["rank"], row["step"]] += row["total_ns"]
    return found


@each_run
def test_gaps_of_a_rank_add_up_to_its_exposed_communication(run: Run) -> None:
    """Those outside of steps are among them."""
    found = analysis_of(run.path)
    exposed = dict(zip(*(found.ranks.column(n).to_pylist() for n in ("rank", "exposed_comm_ns"))))
    gaps = found_gaps(found, found.gaps, found.causes)
    assert {rank: sum(gap.length for gap in rows) for rank, rows in gaps.items()} == exposed
    assert int(found.gaps.length.sum()) == sum(exposed.values())


@each_run
def test_bounds_are_no_longer_than_what_steps_spend_without_compute(run: Run) -> None:
    """Of the rank that has most of it: the median over the steps, of which closed ones count."""
    report = report_of(run.path)
    steps = [step for step in report["steps"] if step["partition"] is not None]
    steps = [step for step in steps if not step["open"]] or steps
    most: dict[int, int] = defaultdict(int)
    for step in steps:
        parts = [step["partition"][name] for name in _WITHOUT_COMPUTE]
        if None not in parts:
            most[step["step"]] = max(most[step["step"]], sum(parts))
    for finding in report["findings"]:
        if finding["bound_ns"] and finding["rule"] not in _ON_COMPUTE:
            assert finding["bound_ns"] <= statistics.median(most.values()) + 1, finding["says"]


@each_run
def test_no_time_is_claimed_twice(run: Run) -> None:
    """What all findings together claim of a window is in it, and without compute."""
    analysis = analysis_of(run.path)
    case = Case.of(analysis, trust_of(analysis))
    drafts = [
        draft
        for rule in BUILT_IN
        if rule.id not in _ON_COMPUTE and all(need(case) is None for need in rule.needs)
        for draft in rule.look(case, rule.thresholds({})).drafts
    ]
    active = analysis.steps.filter(analysis.steps.column("start_ns").is_valid())
    there = sum(int64(active, name) for name in _WITHOUT_COMPUTE)
    claimed = sum((draft.claimed_ns for draft in drafts), np.zeros(active.num_rows, np.int64))
    assert (claimed <= there).all()
