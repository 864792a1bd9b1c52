"""An all_to_all in which some members get more: its text, its time, and what traces tell of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import commscope
from commscope.generator import FREE, Link, Network, ScheduleError, from_text, simulate, to_text
from commscope.generator.catalog import plan_of
from commscope.generator.engines import Choice, generate

_HEAD = "dtype bfloat16\ncomm ep 0,1\n"
_LINE = "coll ep ep all_to_all 1000 shares=900,100\n"
_TEXT = f"{_HEAD}rank 0 a\n{_LINE}rank 1 a\n{_LINE}"
#: A byte a nanosecond.
_NETWORK = Network(Link(latency_ns=0, bytes_per_us=1000))


def test_shares_are_part_of_the_text() -> None:
    schedule = from_text(_TEXT)
    assert schedule.programs[0][0].shares == (900, 100)  # type: ignore[union-attr]
    assert to_text(schedule) == _TEXT


def test_the_member_that_gets_most_decides_how_long_it_takes() -> None:
    uneven, even = (
        simulate(from_text(text), FREE, _NETWORK)
        for text in (_TEXT, _TEXT.replace("900,100", "500,500"))
    )
    assert [run.activities[0].end_ns for run in uneven.ranks] == [900, 900]
    assert [run.activities[0].end_ns for run in even.ranks] == [500, 500]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("coll ep ep all_reduce 1000 shares=900,100", "all_reduce has no shares"),
        ("coll ep ep all_to_all 1000 shares=1000", r"shares \[1000\], but 2 members"),
        ("coll ep ep all_to_all 1000 shares=900,90", "990 bytes in all, but a size of 1000"),
        ("coll ep ep all_to_all 1000 shares=900,x", "is not understood"),
    ],
)
def test_shares_that_do_not_fit(line: str, says: str) -> None:
    with pytest.raises(ScheduleError, match=says):
        from_text(f"{_HEAD}rank 0 a\n{line}\nrank 1 a\n")


def test_members_that_mean_other_shares_are_told_apart() -> None:
    text = f"{_HEAD}rank 0 a\n{_LINE}rank 1 a\n{_LINE.replace('900,100', '100,900')}"
    with pytest.raises(ScheduleError, match=r"in shares of \[100, 900\], another member"):
        simulate(from_text(text), FREE, _NETWORK)


def test_a_hot_expert_is_late_and_receives_more(tmp_path: Path) -> None:
    plan = plan_of("moe-a2a", {"ranks": 4, "msg_bytes": 64 << 20, "hot_percent": 200})
    generate(plan, Choice(), tmp_path / "run")
    report = commscope.analyze(commscope.load(tmp_path / "run"))
    found = {finding.rule: finding for finding in report.findings}
    assert report.findings[0].rule == "C1"
    assert (found["C1"].rank, found["C6"].rank) == (0, 0)
    assert found["C6"].measured["skew"].value == pytest.approx(2, abs=0.02)
