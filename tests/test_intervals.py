"""Intervals against a bitmap: the same set, written as one bit an instant."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commscope import intervals
from commscope.intervals import Intervals

SIZE = 64
PAIRS = st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)), max_size=12)


def arrays(pairs):
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def bitmap(pairs) -> np.ndarray:
    bits = np.zeros(SIZE, bool)
    for start, end in pairs:
        bits[start:end] = True
    return bits


def bits_of(of: Intervals) -> np.ndarray:
    return bitmap(zip(of.starts, of.ends, strict=True))


def assert_canonical(of: Intervals) -> None:
    assert (of.ends > of.starts).all()
    assert (of.starts[1:] > of.ends[:-1]).all()


@given(PAIRS)
def test_union_is_the_bitmap(pairs):
    got = intervals.union(*arrays(pairs))
    assert_canonical(got)
    assert (bits_of(got) == bitmap(pairs)).all()
    assert got.total == bitmap(pairs).sum()


@given(PAIRS, PAIRS)
def test_intersection_and_difference_are_the_bitmaps(a, b):
    left, right = intervals.union(*arrays(a)), intervals.union(*arrays(b))
    both, only = intervals.intersection(left, right), intervals.difference(left, right)
    assert_canonical(both)
    assert_canonical(only)
    assert (bits_of(both) == (bitmap(a) & bitmap(b))).all()
    assert (bits_of(only) == (bitmap(a) & ~bitmap(b))).all()


@given(PAIRS, PAIRS)
def test_grouped_union_is_the_union_of_each_group(a, b):
    starts, ends = arrays(a + b)
    groups = np.array([0] * len(a) + [1] * len(b), np.int64)
    group, begins, finishes = intervals.grouped_union(groups, starts + 2**62, ends + 2**62)
    for number, pairs in enumerate((a, b)):
        alone = intervals.union(*arrays(pairs))
        assert (begins[group == number] - 2**62).tolist() == alone.starts.tolist()
        assert (finishes[group == number] - 2**62).tolist() == alone.ends.tolist()


@given(PAIRS, PAIRS)
def test_measure_counts_the_bits_of_each_window(pairs, windows):
    of, bits = intervals.union(*arrays(pairs)), bitmap(pairs)
    starts, ends = arrays(windows)
    expected = [bits[start:end].sum() for start, end in windows]
    assert intervals.measure(of, starts, ends).tolist() == expected


@given(PAIRS, st.integers(0, SIZE), st.integers(0, SIZE))
def test_clip_is_the_bitmap_inside_the_window(pairs, start, end):
    clipped = intervals.clip(intervals.union(*arrays(pairs)), start, end)
    assert_canonical(clipped)
    assert (bits_of(clipped) == (bitmap(pairs) & bitmap([(start, end)]))).all()


def test_exact_beyond_what_a_float_can_hold():
    base = 2**62
    of = intervals.union(np.array([base, base + 2]), np.array([base + 1, base + 5]))
    assert of.total == 4
    assert intervals.measure(of, np.array([base + 3]), np.array([base + 4])).tolist() == [1]


@given(PAIRS, st.sets(st.integers(0, SIZE)))
def test_cut(pairs, edges):
    """The pieces cover the same, and no edge is inside one."""
    of = intervals.union(*arrays(pairs))
    starts, ends = intervals.cut(of.starts, of.ends, np.array(sorted(edges), np.int64))
    assert (bitmap(zip(starts, ends, strict=True)) == bits_of(of)).all()
    pieces = list(zip(starts.tolist(), ends.tolist(), strict=True))
    assert not any(start < edge < end for start, end in pieces for edge in edges)
    assert {start for start, _ in pieces} <= {*of.starts.tolist(), *edges}
