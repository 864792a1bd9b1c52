"""What holds of all rules on logs: each has a log in which it fires, a quiet and a blind one."""

from __future__ import annotations

import log_rule_cases_errors
import log_rule_cases_settings
import log_rule_cases_transport
import pytest
from log_rule_cases import assert_log_blind, assert_log_fires, assert_log_quiet, examine_log

from commscope.findings.log_rules import BUILT_IN_LOG
from commscope.findings.rules import BUILT_IN

ALL = {
    **log_rule_cases_transport.CASES,
    **log_rule_cases_errors.CASES,
    **log_rule_cases_settings.CASES,
}


@pytest.mark.parametrize("rule", ALL)
def test_fires(rule: str) -> None:
    assert_log_fires(rule, ALL[rule])


@pytest.mark.parametrize("rule", ALL)
def test_quiet(rule: str) -> None:
    assert_log_quiet(rule, ALL[rule].quiet)


@pytest.mark.parametrize("rule", ALL)
def test_blind(rule: str) -> None:
    for lines, reason in ALL[rule].blind:
        assert_log_blind(rule, lines, reason)


def test_each_rule_has_all_three_kinds_of_test() -> None:
    assert sorted(ALL) == sorted(rule.id for rule in BUILT_IN_LOG)
    assert all(case.blind for case in ALL.values())


def test_ids_are_those_of_no_rule_on_traces() -> None:
    assert not {rule.id for rule in BUILT_IN_LOG} & {rule.id for rule in BUILT_IN}


@pytest.mark.parametrize("rule", BUILT_IN_LOG, ids=lambda rule: rule.id)
def test_texts_are_sentences(rule) -> None:
    assert rule.family == "log"
    assert rule.asks.endswith("?")
    assert rule.advice
    for advice in rule.advice:
        assert advice.do.endswith(".")
        assert advice.why.endswith(".")
        assert advice.source.startswith("https://")


@pytest.mark.parametrize("rule", ALL)
def test_findings_can_be(rule: str) -> None:
    findings, looked = examine_log(ALL[rule].fires)
    order = [("high", "medium", "low").index(finding.severity) for finding in findings]
    assert order == sorted(order)
    assert len({finding.id for finding in findings}) == len(findings)
    assert [one.rule for one in looked.values()] == [one.id for one in BUILT_IN_LOG]
    for finding in findings:
        assert not finding.says.endswith(".")
        assert finding.bound_ns is None
        assert set(finding.advice) <= set(
            next(one for one in BUILT_IN_LOG if one.id == finding.rule).advice
        )
        for quote in finding.quotes:
            assert quote.file == "log0"
            assert 1 <= quote.line <= len(ALL[rule].fires)
