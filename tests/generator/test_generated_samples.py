"""The generated jobs of one H200 that are bundled, graded against what they measured."""

from __future__ import annotations

from functools import cache

import pytest

from commscope import sample_traces
from commscope.generator.grading import Grade, grade

RUNS = sorted(folder.name for folder in sample_traces.GENERATED.iterdir())
#: With collectives of 500 us: shorter ones are longer in the trace by more than that.
LONG = (
    "accumulation", "ddp-overlap", "ddp-serial", "ddp-tail", "fsdp-no-prefetch",
    "sync-in-the-loop", "tp",
)  # fmt: skip


@cache
def _grade(name: str) -> Grade:
    (only,) = grade(sample_traces.GENERATED / name)
    return only


def test_there_are_ten() -> None:
    assert len(RUNS) == 10
    assert set(LONG) < set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_they_pass(name: str) -> None:
    assert not [row for row in _grade(name).rows if row.result == "fail"]
    assert any(row.check == "causes" and row.result == "pass" for row in _grade(name).rows)


@pytest.mark.parametrize("name", RUNS)
def test_exposed_within_two_percent_or_five_us_a_collective(name: str) -> None:
    rows = [row for row in _grade(name).rows if row.check == "exposed comm"]
    assert len(rows) >= 5
    assert all(row.result == "pass" for row in rows)


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("check", ["communication", "compute"])
def test_long_collectives_and_kernels_are_as_long_as_they_were(name: str, check: str) -> None:
    rows = [row for row in _grade(name).rows if row.check == check]
    assert len(rows) == 5
    for row in rows:
        assert isinstance(row.numbers.truth, int)
        assert isinstance(row.numbers.found, int)
        assert abs(row.numbers.found - row.numbers.truth) <= 0.002 * row.numbers.truth
