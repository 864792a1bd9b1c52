"""What a profile of counters adds to findings on contention."""

from __future__ import annotations

import pytest
from counter_samples import dispatch, folder
from rule_cases import FORWARD, examine
from rule_cases_overlap import CASES

from commscope.counters import by_kernel, kernel_counters
from commscope.engine.counters import load_counters
from commscope.findings.case import Case
from commscope.findings.contended import look_contention, look_harm
from commscope.findings.quality import trust_of

LIMITS = {"min_stretch": 1.25, "min_samples": 10}
SAYS = "is memory-bound (96.0 % of the measured rate of HBM), so it needs the memory bandwidth"


@pytest.mark.parametrize(
    ("rule", "look", "called"), [("O4", look_contention, "it"), ("O5", look_harm, FORWARD)]
)
def test_the_slowed_kernel_is_explained(rule, look, called: str, tmp_path) -> None:
    profile = load_counters([folder(tmp_path / "p", [dispatch(f"{FORWARD}(int) [clone .kd]")])])
    found = examine(CASES[rule].fires)
    case = Case.of(found.analysis, trust_of(found.analysis))
    (plain,) = look(case, LIMITS).drafts
    case.counters = by_kernel([FORWARD], kernel_counters(profile.tables))
    (explained,) = look(case, LIMITS).drafts
    assert explained.says.startswith(plain.says + "; by its counters ")
    assert f"by its counters {called} {SAYS}" in explained.says
    assert explained.measured["roof_share"].value == pytest.approx(0.96)
    assert "roof_share" not in plain.measured
