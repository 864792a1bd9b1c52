"""Percentiles against NumPy's, and exact where floats are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commscope.analysis.percentiles import group_percentile, percentiles

VALUES = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30)


@given(st.lists(VALUES, min_size=1, max_size=5), st.sampled_from([0, 25, 50, 75, 100]))
def test_as_numpy_interpolates(groups: list[list[int]], percent: int) -> None:
    count = np.array([len(group) for group in groups])
    ordered = np.concatenate([np.sort(group) for group in groups])
    found = group_percentile(ordered, np.cumsum(count) - count, count, percent)
    assert found.tolist() == [round(float(np.percentile(group, percent))) for group in groups]


@pytest.mark.parametrize(
    ("values", "found"), [([5], [5, 5]), ([1, 4], [2, 4]), ([4, 3], [4, 4]), ([9, 1, 3], [3, 8])]
)
def test_halves_go_to_the_even_number(values: list[int], found: list[int]) -> None:
    assert percentiles(np.array(values), (50, 95)) == found


def test_exact_where_floats_are_not() -> None:
    late = 1_700_000_000_000_000_001
    assert percentiles(np.array([late, late, late + 2]), (50, 75)) == [late, late + 1]


def test_far_apart() -> None:
    assert percentiles(np.array([0, 8 * 10**18]), (95,)) == [76 * 10**17]
