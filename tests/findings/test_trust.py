"""From checks to a verdict and to findings, and the words of both."""

from __future__ import annotations

import pytest
from tables import Gpu, analysis, step

from commscope.findings import quality
from commscope.findings.model import OUTSIDE, WHOLE, Check, Metric, Result, Trust, Withheld
from commscope.findings.quality import RULES, trust_of
from commscope.findings.trust_findings import findings_of
from commscope.findings.versions import known_problems, rocm_version
from commscope.wording import counted, on_ranks

ROWS = [
    row
    for rank in (0, 1)
    for row in (
        step(1, 10, 10, rank=rank), Gpu(40, 5, launched=12, rank=rank),
        step(2, 20, 10, rank=rank), Gpu(60, 5, launched=22, rank=rank),
    )
]  # fmt: skip


@pytest.mark.parametrize(
    ("places", "verdict"),
    [
        ([], "ok"),
        ([(0, None)], "limited"),
        ([(None, None)], "unusable"),
        ([(0, None), (1, None)], "unusable"),
        ([(0, None), (1, WHOLE)], "limited"),
        ([(0, None), (1, WHOLE), (1, 1)], "limited"),
        ([(0, None), (1, WHOLE), (1, 1), (1, 2)], "unusable"),
        ([(0, 1), (0, 2), (1, 1), (1, 2)], "limited"),
    ],
)
def test_verdict(
    places: list[tuple[int | None, int | None]], verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    withheld = tuple(Withheld(Metric.OVERLAP, *place) for place in places)
    failed = Check("Q1", "", Result.FAIL, "", withheld)
    monkeypatch.setattr(quality, "RULES", (lambda _: failed,))
    assert trust_of(analysis(*ROWS)).verdict == verdict


def test_other_numbers_never_make_a_trace_unusable(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Check("Q4", "", Result.FAIL, "", (Withheld(Metric.RANKINGS),))
    monkeypatch.setattr(quality, "RULES", (lambda _: failed,))
    assert trust_of(analysis(*ROWS)).verdict == "limited"


def test_rules_are_in_order_and_each_once() -> None:
    rules = [rule(analysis(*ROWS)).rule for rule in RULES]
    assert rules == [*(f"Q{number}" for number in range(1, 13)), "QV"]


@pytest.mark.parametrize(
    ("withheld", "says"),
    [
        (Withheld(Metric.RANKINGS), "rankings"),
        (Withheld(Metric.IDLE, 3), "idle of rank 3"),
        (Withheld(Metric.OVERLAP, 3, 0), "overlap of rank 3 step 0"),
        (Withheld(Metric.OVERLAP, 3, WHOLE), "overlap of rank 3 over the whole trace"),
        (Withheld(Metric.OVERLAP, 3, OUTSIDE), "overlap of rank 3 outside the steps"),
    ],
)
def test_withheld_in_words(withheld: Withheld, says: str) -> None:
    assert str(withheld) == says


def test_failed_checks_are_findings_the_severe_first() -> None:
    checks = (
        Check("Q5", "a", Result.FAIL, "x"),
        Check("Q1", "b", Result.FAIL, "y", (Withheld(Metric.IDLE, 0),)),
        Check("Q2", "c", Result.PASS, "z"),
        Check("QV", "d", Result.FAIL, "v"),
    )
    found = findings_of(Trust("limited", checks))
    assert [(f.rule, f.severity) for f in found] == [("Q1", "high"), ("Q5", "low"), ("QV", "low")]
    assert [len(f.advice) for f in found] == [1, 1, 0]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("60443483", (6, 4, 43483)),
        ("70051831", (7, 0, 51831)),
        ("70253211", (7, 2, 53211)),
        ("6.4", None),
        ("", None),
        ("123", None),
    ],
)
def test_rocm_version(text: str, version: tuple[int, int, int] | None) -> None:
    assert rocm_version({"hip_runtime_version": text}) == version
    assert rocm_version({}) is None


def test_known_problems_have_a_source() -> None:
    (found,) = known_problems({"hip_runtime_version": "70051831"})
    assert found.source.startswith("https://")


@pytest.mark.parametrize(
    ("number", "says"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1200, "1,200 files")]
)
def test_counted(number: int, says: str) -> None:
    assert counted(number, "file") == says
    assert counted(number, "is", "are").endswith("is" if number == 1 else "are")


@pytest.mark.parametrize(
    ("ranks", "of", "says"),
    [([3, 1, 3], 8, " on ranks 1, 3"), ([3], 8, " on rank 3"), ([0], 1, ""), ([], 8, "")],
)
def test_on_ranks(ranks: list[int], of: int, says: str) -> None:
    assert on_ranks(ranks, of) == says
