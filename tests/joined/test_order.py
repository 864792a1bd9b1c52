"""Stretches of a log that a trace shows, against looking at every one of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commscope.joined.order import align
from commscope.normalize.stretches import ANY

numbers = st.lists(st.integers(0, 2), max_size=12)
shown_numbers = st.lists(st.integers(ANY, 2), min_size=1, max_size=5)


def fits(shown: list[int], places: tuple[int, ...], logged: list[int]) -> bool:
    return all(one in (ANY, logged[place]) for one, place in zip(shown, places))


@given(shown_numbers, numbers)
def test_whole_stretches_are_those_that_fit_number_by_number(
    shown: list[int], logged: list[int]
) -> None:
    found = align(np.array(shown, np.int64), np.array(logged, np.int64))
    count = len(shown)
    starts = [
        start
        for start in range(len(logged) - count + 1)
        if fits(shown, tuple(range(start, start + count)), logged)
    ]
    known = any(one != ANY for one in shown)
    if known and starts:
        assert found.shifts == len(starts)
        assert not len(found.lacking)
        expected = range(starts[0], starts[0] + count) if len(starts) == 1 else [-1] * count
        assert found.place.tolist() == list(expected)
    if not known:
        assert found.shifts == 0


@given(shown_numbers, numbers)
def test_holes_are_only_told_where_no_whole_stretch_fits_and_something_does(
    shown: list[int], logged: list[int]
) -> None:
    found = align(np.array(shown, np.int64), np.array(logged, np.int64))
    if not len(found.lacking):
        return
    possible = [
        places
        for places in combinations(range(len(logged)), len(shown))
        if fits(shown, places, logged)
    ]
    assert possible
    spans = [places[-1] - places[0] for places in possible]
    assert min(spans) >= len(shown)  # no stretch without a hole
    if found.shifts == 1:
        assert tuple(found.place.tolist()) in possible


def test_one_missing_collective_is_found_and_named() -> None:
    logged = np.array([9, 1, 2, 3, 1, 2, 1, 2, 3], np.int64)
    shown = np.array([1, 2, 3, 1, 2, 1, 3], np.int64)
    found = align(shown, logged)
    assert (found.shifts, found.place.tolist()) == (1, [1, 2, 3, 4, 5, 6, 8])
    assert found.lacking.tolist() == [7]


def test_repeated_steps_fit_in_several_ways_and_none_is_chosen() -> None:
    found = align(np.array([1, 2], np.int64), np.array([1, 2] * 5, np.int64))
    assert (found.shifts, found.place.tolist()) == (5, [-1, -1])


def test_what_is_too_different_fits_nowhere() -> None:
    found = align(np.array([1, 2, 3], np.int64), np.array([1, 5, 5, 5, 2, 5, 3], np.int64))
    assert (found.shifts, found.place.tolist()) == (0, [-1, -1, -1])


def test_numbers_are_not_found_across_their_bytes() -> None:
    """256 after 0 holds the bytes of 65,536 one place on."""
    found = align(np.array([65_536], np.int64), np.array([0, 256, 0], np.int64))
    assert found.shifts == 0
