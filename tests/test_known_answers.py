"""Simulated jobs with known answers: the right cause first, and no alarm on healthy ones."""

from __future__ import annotations

import pytest
from case_table import CaseTable
from support import ROOT

if not (ROOT / "README.md").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

import known_answers

pytestmark = pytest.mark.long

_PAGE = (ROOT / "docs/known-answers.md").read_text(encoding="utf-8")


def test_the_planted_cause_is_found_first(case_table: CaseTable) -> None:
    answers = list(known_answers.planted_answers())
    table = known_answers.confusion(answers)
    case_table.note(table)
    assert len(answers) == 100
    wrong = [answer for answer in answers if not answer.is_right]
    assert len(wrong) <= 5, wrong
    assert all(0 < a.bound_ns <= 1.1 * a.lost_ns for a in answers if a.is_right)
    assert table in _PAGE, "run: python tools/known_answers.py"


def test_healthy_jobs_raise_no_alarm(case_table: CaseTable) -> None:
    answers = list(known_answers.clean_answers())
    table = known_answers.alarms(answers)
    case_table.note(table)
    assert len(answers) == 100
    above = [(kind, seed, f.says) for kind, seed, found in answers for f in found
             if f.severity != "low"]  # fmt: skip
    assert above == []
    assert table in _PAGE, "run: python tools/known_answers.py"


@pytest.mark.parametrize("cause", known_answers.CAUSES)
def test_every_cause_has_a_rule_that_names_it(cause: str) -> None:
    assert cause in known_answers.RULE
