"""JUnit XML and annotations: what fails, what is skipped, and that names stay text."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

import commscope
from commscope import Report, sample_traces
from commscope.findings.model import Metric, Result, Withheld
from commscope.findings.trust_findings import findings_of
from commscope.report.github import (
    MOST_OF_A_KIND,
    Annotation,
    annotation_lines,
    report_annotations,
)
from commscope.report.junit import Case, junit_text, report_junit

HOSTILE = '<x a="1">]]>\x00\x1b[31m\ud800 & \'\u202e'


@pytest.fixture(scope="module")
def report() -> Report:
    return commscope.analyze(commscope.load(sample_traces.path("ddp_shm")))


def _cases(text: str) -> dict[str, ElementTree.Element]:
    return {case.get("name", ""): case for case in ElementTree.fromstring(text).iter("testcase")}


def test_findings_fail_and_rules_that_found_nothing_pass(report: Report) -> None:
    cases = _cases(report_junit(report))
    failed = {name for name, case in cases.items() if case.find("failure") is not None}
    assert failed == {"H3 Launch-bound", "C5 Transport", "C1 Straggler"}
    message = cases["H3 Launch-bound"].find("failure")
    assert message is not None
    assert "waits 6.30 ms a step for launches" in (message.get("message") or "")
    assert "at most 6.25 ms to win" in (message.text or "")
    passed = [looked for looked in report.looked if looked.result == "nothing"]
    assert all(len(cases[f"{looked.rule} {looked.title}"]) == 0 for looked in passed)
    assert passed


def test_low_findings_pass_with_their_text(report: Report) -> None:
    low = replace(report.findings[0], severity="low")
    cases = _cases(report_junit(replace(report, findings=(low,))))
    case = cases[f"{low.rule} {low.title}"]
    assert case.find("failure") is None
    assert low.says in (case.findtext("system-out") or "")


def test_checks_fail_or_are_skipped(report: Report) -> None:
    first, second, *rest = report.trust.checks
    failed = replace(first, result=Result.FAIL, withheld=(Withheld(Metric.IDLE, 3),))
    skipped = replace(second, result=Result.NOT_CHECKED)
    trust = replace(report.trust, checks=(failed, skipped, *rest))
    cases = _cases(report_junit(replace(report, trust=trust)))
    failure = cases[f"{first.rule} {first.title}"].find("failure")
    assert failure is not None
    assert failure.text == "withheld: idle of rank 3"
    assert cases[f"{second.rule} {second.title}"].find("skipped") is not None


def test_counts_are_those_of_the_cases() -> None:
    cases = [Case("a", "passed"), Case("b", "failed", "x"), Case("c", "skipped", "y")]
    root = ElementTree.fromstring(junit_text({"s": cases, "t": cases[:1]}))
    counts = [(e.get("tests"), e.get("failures"), e.get("skipped")) for e in (root, *root)]
    assert counts == [("4", "1", "1"), ("3", "1", "1"), ("1", "0", "0")]


def test_any_name_is_text() -> None:
    text = junit_text({"s": [Case(HOSTILE, "failed", HOSTILE, f"{HOSTILE}\nsecond")]})
    [case] = ElementTree.fromstring(text).iter("testcase")
    [failure] = case
    assert len(failure) == 0
    assert "<x a=" in (failure.text or "")
    assert (failure.text or "").endswith("\nsecond")
    assert not set(text) & {"\x00", "\x1b", "\u202e", "\ud800"}


def test_annotations_tell_the_verdict_first(report: Report) -> None:
    lines = report_annotations(report).splitlines()
    assert lines[0].startswith("::notice title=commscope::Exposed communication takes 19.0 %25")
    assert lines[1].startswith("::error title=H3 Launch-bound::")
    assert len(lines) == 1 + len(report.findings)


def test_annotations_are_as_many_of_a_kind_as_are_shown() -> None:
    many = [Annotation("warning", "w", "says"), Annotation("notice", "n", "says")] * 30
    lines = annotation_lines([*many, Annotation("error", "last", "says")]).splitlines()
    assert [line.partition(" ")[0] for line in lines] == [
        *(["::warning", "::notice"] * MOST_OF_A_KIND),
        "::error",
    ]


def test_what_cannot_be_trusted_is_told_once(report: Report) -> None:
    low = [replace(report.findings[0], severity="low")] * 20
    check = replace(
        report.trust.checks[0], result=Result.FAIL, withheld=(Withheld(Metric.IDLE, 0),)
    )
    trust = replace(report.trust, checks=(check,))
    text = report_annotations(replace(report, trust=trust, findings=(*findings_of(trust), *low)))
    assert text.count(f"{check.rule} {check.title}") == 1
    assert text.count("::error ") == 1


def test_no_text_ends_an_annotation() -> None:
    line = annotation_lines([Annotation("error", "a:b,c\n::warning::x", "100 %\n::error::gone")])
    assert line.count("\n") == 1
    assert line.startswith("::error title=a%3Ab%2Cc\ufffd%3A%3Awarning%3A%3Ax::100 %25\ufffd")
