"""Thresholds that the user sets: by option, and in the configuration file."""

from __future__ import annotations

from pathlib import Path

import pytest

from commscope.config import load_config
from commscope.errors import UsageError
from commscope.findings.limits import parse_limits, require_known
from commscope.findings.rules import BUILT_IN


def test_options_are_read() -> None:
    given = ["C1.min_share=0.7", " H3.min_idle = 1e-1", "C4.min_bytes=64000000"]
    assert parse_limits(given) == {
        "C1.min_share": 0.7, "H3.min_idle": 0.1, "C4.min_bytes": 64_000_000
    }  # fmt: skip


def test_the_last_of_several_holds() -> None:
    assert parse_limits(["C1.min_share=0.7", "C1.min_share=0.9"]) == {"C1.min_share": 0.9}


@pytest.mark.parametrize("given", ["C1.min_share", "C1.min_share=", "C1.min_share=many", "", "="])
def test_what_is_no_threshold_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match=r"write a rule, a name and a number, such as C1\."):
        parse_limits([given])


def test_defaults_are_known() -> None:
    limits = {f"{r.id}.{name}": limit.value for r in BUILT_IN for name, limit in r.limits.items()}
    require_known(limits, BUILT_IN)
    assert len(limits) > 20


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("C1.share", r"^no threshold C1\.share: there are C1\.min_errors, C1\.min_share, C1\."),
        ("c1.min_share", r"^no threshold c1\.min_share: there are C1\."),
        ("H7.min_share", r"^no threshold H7\.min_share: there are C1\."),
        ("", "^no threshold : there are"),
    ],
)
def test_an_unknown_one_is_told_what_there_is(name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        require_known({name: 1.0}, BUILT_IN)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
def test_impossible_numbers_are_refused(value: float) -> None:
    with pytest.raises(UsageError, match=r"^threshold C1\.min_share=.*: a number from 0$"):
        require_known({"C1.min_share": value}, BUILT_IN)


def test_a_file_sets_thresholds(tmp_path: Path) -> None:
    file = tmp_path / "commscope.toml"
    file.write_text("[thresholds.C1]\nmin_share = 0.7\nmin_errors = 4\n[thresholds.H3]\nmin_idle=0")
    assert load_config(file).thresholds == {
        "C1.min_share": 0.7, "C1.min_errors": 4.0, "H3.min_idle": 0.0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[thresholds]\nC1 = 0.7", r"thresholds\.C1: expected a table, \[thresholds\.C1\]"),
        ("thresholds = 1", r"thresholds: expected a table, \[thresholds\]"),
        ("[thresholds.C1]\nmin_share = '0.7'", r"thresholds\.C1\.min_share: expected a number"),
        ("[thresholds.C1]\nmin_share = true", r"thresholds\.C1\.min_share: expected a number"),
        ("[threshold.C1]\nmin_share = 1", "unknown key 'threshold'; known are patterns, threshold"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "commscope.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=says) as caught:
        load_config(file)
    assert str(caught.value).startswith(f"{file}: ")
