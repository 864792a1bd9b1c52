"""What holds of all rules that give findings, and how their claims share the lost time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import rule_cases_collectives
import rule_cases_host
import rule_cases_job
import rule_cases_overlap
from rule_cases import (
    MI300X,
    Collective,
    Found,
    Job,
    Kernel,
    assert_blind,
    assert_fires,
    assert_quiet,
    examine,
)

import commscope
from commscope import sample_traces
from commscope.analysis.result import Analysis, analyse
from commscope.columns import Int64, int64
from commscope.findings.case import Case
from commscope.findings.quality import trust_of
from commscope.findings.rules import BUILT_IN, look
from commscope.generator import CAUSES, planted_job, write_job

ALL = {
    **rule_cases_overlap.CASES,
    **rule_cases_host.CASES,
    **rule_cases_collectives.CASES,
    **rule_cases_job.CASES,
}
FIRING = {rule: case.fires for rule, case in ALL.items()}


@pytest.mark.parametrize("rule", ALL)
def test_fires(rule: str) -> None:
    assert_fires(rule, ALL[rule])


@pytest.mark.parametrize("rule", ALL)
def test_quiet(rule: str) -> None:
    assert_quiet(rule, ALL[rule].quiet)


@pytest.mark.parametrize("rule", ALL)
def test_blind(rule: str) -> None:
    for job, reason in ALL[rule].blind:
        assert_blind(rule, job, reason)


def test_collectives_that_the_log_lacks_are_said() -> None:
    (finding,) = examine(rule_cases_job.STRANGE).of("C10")
    assert finding.says == (
        "the trace shows 8 collectives in 0 (all_reduce of 4.000 MB) that the log does not hold: "
        "it is cut, or they ran in a captured graph, whose replays print nothing"
    )
    assert (finding.severity, finding.evidence[0].rank) == ("low", 0)


def test_each_rule_has_all_three_kinds_of_test() -> None:
    assert sorted(ALL) == sorted(rule.id for rule in BUILT_IN)
    assert all(case.blind for case in ALL.values())


@pytest.mark.parametrize("rule", [rule.id for rule in BUILT_IN])
def test_what_trust_withholds_is_not_looked_at(rule: str) -> None:
    assert_blind(rule, FIRING[rule].withheld(), rule_cases_overlap.WITHHELD)


@pytest.mark.parametrize("rule", BUILT_IN, ids=lambda rule: rule.id)
def test_texts_are_sentences(rule) -> None:
    assert rule.asks.endswith("?")
    assert rule.advice
    for advice in rule.advice:
        assert advice.do.endswith(".")
        assert advice.why.endswith(".")
        assert advice.source.startswith("https://")


@pytest.mark.parametrize("rule", FIRING)
def test_bounds_evidence_and_numbers_can_be(rule: str) -> None:
    assert_findings_can_be(examine(FIRING[rule]))


def assert_findings_can_be(found: Found) -> None:
    """No bound beyond the exposed time or the step, no number below 0, evidence in the trace."""
    longest = int64(found.analysis.steps, "window_ns").max()
    for finding in found.findings:
        assert finding.bound_ns is not None
        assert 0 <= finding.bound_ns < longest
        exposed = finding.measured.get("exposed")
        if exposed is not None and finding.rule.startswith("O"):
            assert finding.bound_ns <= exposed.value
        for name, measured in finding.measured.items():
            assert measured.value > 0 or name in ("exposed", "copies", "net_gain"), name
        assert " 0 ns" not in finding.says
        assert finding.evidence
        for shown in finding.evidence:
            _assert_inside(found.analysis, shown.rank, shown.step, shown.t0_ns, shown.t1_ns)


def _assert_inside(analysis: Analysis, rank: int, step: int | None, t0: int, t1: int) -> None:
    row = analysis.timeline.ranks.tolist().index(rank)
    first, last = (int(of[row]) for of in (analysis.timeline.first_ns, analysis.timeline.last_ns))
    assert first <= t0 < t1 <= last
    assert step is None or step in analysis.steps.column("step").to_pylist()


def _claims(analysis: Analysis) -> tuple[Int64, Int64]:
    """What all rules claim of each window, one after the other, and what there is to claim.

    That is exposed communication and copies, and idle time. O4 and O5 claim compute instead.
    """
    case = Case.of(analysis, trust_of(analysis))
    claimed = np.zeros(len(case.counts), np.int64)
    for rule in BUILT_IN:
        if rule.id in ("O4", "O5") or any(need(case) is not None for need in rule.needs):
            continue
        for draft in rule.look(case, rule.thresholds({})).drafts:
            assert (draft.claimed_ns >= 0).all()
            claimed += np.where(case.counts, draft.claimed_ns, 0)
    active = analysis.steps.filter(analysis.steps.column("start_ns").is_valid())
    names = ("exposed_comm_ns", "exposed_copy_ns", "idle_ns")
    return claimed, np.sum([int64(active, name) for name in names], axis=0)


def _assert_shared(analysis: Analysis) -> None:
    claimed, lost = _claims(analysis)
    assert claimed.any()
    assert (claimed <= lost).all()


@pytest.mark.parametrize("rule", [rule for rule in FIRING if rule not in ("C7", "O4", "O5")])
def test_no_time_is_claimed_twice(rule: str) -> None:
    _assert_shared(examine(FIRING[rule]).analysis)


@pytest.mark.parametrize("name", sample_traces.names())
def test_sample_traces_give_findings_that_can_be(name: str) -> None:
    analysis = analyse(commscope.load(sample_traces.path(name)))
    findings, looked = look(analysis, trust_of(analysis), BUILT_IN, {})
    assert_findings_can_be(Found(analysis, findings, {one.rule: one for one in looked}))
    _assert_shared(analysis)


@pytest.mark.parametrize("cause", CAUSES)
def test_planted_jobs_give_findings_that_can_be(cause: str, tmp_path: Path) -> None:
    write_job(planted_job(cause, 5), tmp_path)
    analysis = analyse(commscope.load(tmp_path))
    findings, looked = look(analysis, trust_of(analysis), BUILT_IN, {})
    assert_findings_can_be(Found(analysis, findings, {one.rule: one for one in looked}))
    _assert_shared(analysis)


def _bounds(found: Found) -> dict[str, int | None]:
    return {finding.id: finding.bound_ns for finding in found.findings}


def test_what_a_slow_link_leaves_is_for_others() -> None:
    expected = int(15_000 + 128_000_000 / 48)
    bounds = _bounds(examine(FIRING["C4"]))
    assert bounds == {"C4": 8_000_000 - expected, "O11": expected}


def test_what_is_too_short_for_one_rule_is_left_to_the_next() -> None:
    """Of 40 us in a step of 1 ms a healthy link would save 15: no finding, but all 40 are one."""
    items = [Kernel(10, 500, 1), Collective(500, 540, 2, 480_000), Kernel(540, 1010, 3)]
    limits = {"C4.min_bytes": 0, "C4.min_expected": 0.7, "O6.small_bytes": 0}
    found = examine(Job([items, items], gpu=MI300X, limits=limits))
    assert found.looked["C4"].result == "nothing"
    assert _bounds(found) == {"O11": 40_000}


def _exposed(us: float) -> Job:
    return Job([[Kernel(10, 500, 1), Collective(500, 500 + us, 2), Kernel(500 + us, 1010, 3)]])


@pytest.mark.parametrize(
    ("us", "severity"),
    [(19, None), (20, "low"), (49, "low"), (50, "medium"), (99, "medium"), (100, "high")],
)
def test_severity_is_by_the_share_of_the_step(us: float, severity: str | None) -> None:
    found = [finding.severity for finding in examine(_exposed(us)).findings]
    assert found == ([] if severity is None else [severity])


def test_several_findings_of_a_rule_have_ids_of_their_own() -> None:
    sizes = (64_000_000, 4_000), (128_000_000, 8_000)
    found = examine(rule_cases_collectives.transfers(*sizes)).of("C4")
    assert [finding.id for finding in found] == ["C4", "C4-2"]
    assert found[0].bound_ns > found[1].bound_ns > 0


def test_findings_come_by_their_bounds() -> None:
    found = examine(FIRING["C4"]).findings
    bounds = [finding.bound_ns for finding in found]
    assert len(bounds) > 1
    assert bounds == sorted(bounds, reverse=True)


def test_the_slowest_rank_decides_what_is_to_win() -> None:
    """Both ranks have 200 us exposed, but one is 60 us longer busy in all."""
    exposed = [Kernel(10, 500, 1), Collective(500, 700, 2), Kernel(700, 1010, 3)]
    hidden = [Kernel(10, 560, 1), Collective(500, 700, 2), Kernel(700, 1010, 3)]
    (finding,) = examine(Job([exposed, hidden])).of("O11")
    assert (finding.bound_ns, finding.measured["exposed"].value) == (140_000, 200_000)


def test_one_file_of_several_ranks_is_said() -> None:
    (finding,) = examine(rule_cases_overlap.pair().alone()).of("O11")
    caveat = ". Part of it may be waiting for another rank, whose file is not here"
    assert finding.says.endswith(caveat)
    assert finding.confidence == "medium"
    (both,) = examine(rule_cases_overlap.pair()).of("O11")
    assert "may be waiting" not in both.says
    assert both.confidence == "high"


def test_files_whose_collectives_do_not_match_are_said() -> None:
    pair = rule_cases_overlap.pair().pattern(0, 0)
    apart = [replace(i, comm="1") if isinstance(i, Collective) else i for i in pair]
    (finding,) = examine(Job([pair, apart])).of("O11")
    caveat = ". Part of it may be waiting for another rank, as no collective was matched"
    assert finding.says.endswith(caveat)
    assert finding.confidence == "medium"


def test_what_is_not_known_stays_of_low_confidence() -> None:
    (finding,) = examine(FIRING["O1"]).of("O1")
    assert finding.confidence == "low"
    two = replace(FIRING["O1"], ranks=[FIRING["O1"].ranks[0]] * 2, files=1)
    (finding,) = examine(two).of("O1")
    assert finding.confidence == "low"


def test_open_steps_count_only_where_there_are_no_others() -> None:
    (finding,) = examine(replace(_exposed(200), steps=1)).of("O11")
    assert finding.evidence[0].step == 0
    shown = {shown.step for f in examine(_exposed(200)).findings for shown in f.evidence}
    assert shown == {0, 1, 2}
