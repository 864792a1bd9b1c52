"""The page on grading names every check, and its tolerances are those of the code."""

from __future__ import annotations

import pytest
from support import ROOT

from commscope.generator.grading import tolerances
from commscope.generator.grading.model import CHECKS

PAGE = ROOT / "docs/generate.md"
if not PAGE.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)
_ROWS = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
TABLE = {name: row for row in _ROWS for name in row[0].removeprefix("| ").split(", ")}


def test_every_check_is_on_the_page() -> None:
    assert set(CHECKS) <= set(TABLE)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("truth adds up", f"{tolerances.ROUNDING_NS} ns"),
        ("steps", f"{tolerances.STEP_NS // 10**6} ms"),
        ("clock", f"{tolerances.CLOCK_NS // 10**6} ms"),
        ("drift", f"{tolerances.DRIFT_PPM:.0f} ppm, and {tolerances.TICK_NS // 1000} us"),
        ("kernel times", f"{tolerances.KERNEL_NS // 1000} us"),
        ("collective times", f"{tolerances.MOCK_SHARE:.1%}".replace("%", " %")),
        ("compute", f"{tolerances.COMPUTE_SHARE:.1%}".replace("%", " %")),
        ("compute", f"or {tolerances.PER_KERNEL_NS / 1000} us a kernel"),
        ("communication", f"mocks {tolerances.MOCK_SHARE:.1%}".replace("%", " %")),
        ("exposed comm", f"2 %, or {tolerances.PER_COLLECTIVE_NS // 1000} us a collective"),
        ("waits", f"{tolerances.PER_COLLECTIVE_NS // 1000} us a collective"),
    ],
)
def test_tolerances_are_those_of_the_code(check: str, words: str) -> None:
    assert words in TABLE[check][2]


def test_two_percent_are_exposed() -> None:
    assert tolerances.EXPOSED_SHARE == 0.02
