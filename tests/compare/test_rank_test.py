"""The rank test against brute force and textbook values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commscope.compare import rank_test
from commscope.compare.rank_test import least_p_value, rank_p_value, shift_between


def by_hand(base: list[int], new: list[int]) -> float:
    """All ways to draw as many values as the base has, by the sum of their mid-ranks."""
    values = [*base, *new]
    ranks = [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]
    middle = len(base) * (len(values) + 1) / 2
    sums = [sum(chosen) for chosen in combinations(ranks, len(base))]
    far = abs(sum(ranks[: len(base)]) - middle)
    return sum(abs(s - middle) >= far for s in sums) / len(sums)


VALUES = st.lists(st.integers(0, 6), min_size=1, max_size=6)


@given(VALUES, VALUES)
@settings(max_examples=40)
def test_p_values_are_exact_with_ties_too(base: list[int], new: list[int]) -> None:
    found = rank_p_value(np.array(base, float), np.array(new, float))
    assert found == pytest.approx(by_hand(base, new))


def test_five_against_five_can_just_be_told_apart() -> None:
    base, new = np.arange(5.0), np.arange(5.0) + 10
    assert rank_p_value(base, new) == pytest.approx(2 / 252) == least_p_value(5, 5)
    assert rank_p_value(new, base) == pytest.approx(2 / 252)


@pytest.mark.parametrize("seed", range(8))
def test_the_normal_distribution_continues_the_exact_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(seed)
    base, new = random.normal(size=20).round(1), random.normal(0.8, size=20).round(1)
    exact, bounds = rank_p_value(base, new), shift_between(base, new)
    monkeypatch.setattr(rank_test, "_MOST_ADDITIONS", 0)
    assert 0.99 * exact <= rank_p_value(base, new) <= 4 / 3 * exact + 2e-4
    assert shift_between(base, new).low == pytest.approx(bounds.low or 0, abs=0.11)


def test_equal_samples_do_not_differ() -> None:
    values = np.array([3.0, 1.0, 2.0, 2.0, 5.0])
    shift = shift_between(values, values)
    assert rank_p_value(values, values) == 1.0
    assert (shift.hodges_lehmann, shift.cliffs_delta) == (0.0, 0.0)
    assert rank_p_value(np.ones(100), np.ones(100)) == 1.0


def test_the_shift_and_its_interval() -> None:
    base = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    shift = shift_between(base, base + 10)
    assert shift.hodges_lehmann == 10.0
    assert shift.cliffs_delta == 1.0
    # Of 25 differences the third smallest and greatest: P(U <= 2) = 4/252, P(U <= 3) = 7/252.
    assert (shift.low, shift.high) == (7.0, 13.0)


def test_too_few_values_bound_nothing() -> None:
    shift = shift_between(np.array([1.0, 2.0]), np.array([3.0, 5.0]))
    assert (shift.hodges_lehmann, shift.low, shift.high) == (2.5, None, None)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        shift = shift_between(random.normal(size=12), random.normal(0.5, size=12))
        held += shift.low is not None and shift.low <= 0.5 <= (shift.high or 0)
    assert held >= 0.92 * 300
