"""Least numbers of runs, against looking at every number."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commscope.analysis.minima import Minima

_numbers = st.lists(st.integers(-5, 5), min_size=1, max_size=40)


@given(_numbers, st.integers(-6, 6))
def test_the_first_at_most(values: list[int], limit: int) -> None:
    places = np.arange(len(values) + 1)
    found = Minima(np.array(values)).first_at_most(places, np.full(len(places), limit))
    for place in places.tolist():
        fits = (n for n in range(place, len(values)) if values[n] <= limit)
        assert found[place] == next(fits, len(values))


@given(_numbers)
def test_the_least_of_every_run(values: list[int]) -> None:
    low, high = np.array(
        [(a, b) for a in range(len(values)) for b in range(a + 1, len(values) + 1)]
    ).T
    expected = [min(values[a:b]) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    assert Minima(np.array(values)).least(low, high).tolist() == expected


def test_of_nothing() -> None:
    none = np.empty(0, np.int64)
    minima = Minima(none)
    assert minima.first_at_most(np.zeros(2, np.int64), np.zeros(2, np.int64)).tolist() == [0, 0]
    assert minima.least(none, none).tolist() == []
