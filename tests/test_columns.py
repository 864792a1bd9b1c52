"""Columns as arrays: flags and words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tables import Gpu, trace

from commscope.columns import NONE, Int64, at, flagged, where_equal, where_word
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


def test_flagged() -> None:
    events = trace(Gpu(5, 5), Gpu(7, -1), Gpu(9, 5, stream=None, name="k")).events
    assert flagged(events, Flag.BROKEN).tolist() == [False, True, False]
    assert flagged(events, Flag.BROKEN | Flag.STREAM_AMBIGUOUS).tolist() == [False, True, True]
