"""Columns as arrays: flags and words."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import Gpu, trace

from commscope.columns import (
    NONE,
    Int64,
    at,
    distinct_of,
    flagged,
    order_of,
    order_of_codes,
    parts,
    runs,
    where_equal,
    where_word,
    with_column,
)  # fmt: skip
from commscope.schema import Flag

WORDS = pa.table({"word": pa.array(["a", None, "ab", "a"]).dictionary_encode()})


def test_where_a_word_is_wanted() -> None:
    assert where_equal(WORDS, "word", "a").tolist() == [True, False, False, True]
    assert where_word(WORDS, "word", lambda w: len(w) > 1).tolist() == [False, False, True, False]


@pytest.mark.parametrize("table", [WORDS.slice(0, 0), WORDS.slice(1, 1)])
def test_no_words(table: pa.Table) -> None:
    assert not where_word(table, "word", lambda _: True).any()


@pytest.mark.parametrize("values", [np.array([5, 7], np.int64), np.empty(0, np.int64)])
def test_no_place_is_missing(values: Int64) -> None:
    assert at(values, np.array([-1]), NONE).tolist() == [NONE]
    places = np.arange(len(values))
    assert at(values, places, NONE).tolist() == values.tolist()


@given(st.lists(st.one_of(st.integers(-2, 3), st.integers(-(2**63), 2**63 - 1)), max_size=20))
def test_rows_by_value(values: list[int]) -> None:
    column = np.array(values, np.int64)
    found = [(value, rows.tolist()) for value, rows in parts(column)]
    assert found == [
        (one, [row for row, value in enumerate(values) if value == one])
        for one in sorted(set(values))
    ]
    expected = [[row for row, _ in run] for _, run in groupby(enumerate(values), itemgetter(1))]
    assert [run.tolist() for run in runs(column)] == expected
    distinct, place = distinct_of(column)
    assert distinct.tolist() == sorted(set(values))
    assert distinct[place].tolist() == values


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2), st.integers(0, 1)), max_size=12))
def test_order_by_several_keys(rows: list[tuple[int, int, int]]) -> None:
    keys = [np.array([row[key] for row in rows], np.int64) for key in range(3)]
    expected = sorted(range(len(rows)), key=lambda row: rows[row])
    assert order_of(*keys).tolist() == expected
    assert order_of(np.array([*range(len(rows))], np.int64), *keys).tolist() == [*range(len(rows))]


@pytest.mark.parametrize("most", [1, 65_535, 65_536, 2**62])
def test_order_of_codes_is_stable(most: int) -> None:
    codes = np.array([most, 0, most, 0, most - 1], np.int64)
    expected = sorted(range(5), key=codes.tolist().__getitem__)
    assert order_of_codes(codes).tolist() == expected
    assert order_of_codes(codes[:0]).tolist() == []


def test_a_column_is_replaced_in_its_place() -> None:
    table = WORDS.append_column("number", pa.array([1, 2, 3, 4]))
    words = pa.array(["b"] * 4).dictionary_encode()
    found = with_column(table, "word", words)
    assert found.to_pydict() == {"word": ["b"] * 4, "number": [1, 2, 3, 4]}
    assert found.schema == table.schema


def test_flagged() -> None:
    events = trace(Gpu(5, 5), Gpu(7, -1), Gpu(9, 5, stream=None, name="k")).events
    assert flagged(events, Flag.BROKEN).tolist() == [False, True, False]
    assert flagged(events, Flag.BROKEN | Flag.STREAM_AMBIGUOUS).tolist() == [False, True, True]
