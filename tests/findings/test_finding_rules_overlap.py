"""Rules on overlap: each fires, looks and finds nothing, and cannot look."""

from __future__ import annotations

import pytest
from rule_cases import assert_blind, assert_fires, assert_quiet
from rule_cases_overlap import CASES


@pytest.mark.parametrize("rule", CASES)
def test_fires(rule: str) -> None:
    assert_fires(rule, CASES[rule])


@pytest.mark.parametrize("rule", CASES)
def test_quiet(rule: str) -> None:
    assert_quiet(rule, CASES[rule].quiet)


@pytest.mark.parametrize("rule", CASES)
def test_blind(rule: str) -> None:
    for job, reason in CASES[rule].blind:
        assert_blind(rule, job, reason)
