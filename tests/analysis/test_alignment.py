"""Which collectives of two ranks are the same: by number, on one clock, on two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commscope.analysis.alignment import SAME_CLOCK_NS, Lane, Pairing, find_pairing
from commscope.columns import NONE, Int64

#: Ends that follow each other in no regular way.
_IRREGULAR = np.cumsum(np.random.default_rng(1).integers(200_000, 3_000_000, 200))


def _lane(end: Int64, *, seq: Int64 | None = None) -> Lane:
    count = len(end)
    return Lane(
        start=end - 50_000,
        end=end,
        kind=np.zeros(count, np.int64),
        synchronises=np.ones(count, np.bool_),
        seq=np.full(count, NONE) if seq is None else seq,
    )


def _chosen(lane: Lane, rows: Int64) -> Lane:
    return Lane(
        lane.start[rows], lane.end[rows], lane.kind[rows], lane.synchronises[rows], lane.seq[rows]
    )


def _assert_pairs(found: Pairing | None, one: Int64, other: Int64) -> None:
    """``one`` and ``other`` say which operation each place of a lane is."""
    assert found is not None
    assert np.array_equal(one[found.one], other[found.other])
    assert len(found.one) == len(np.intersect1d(one, other))


@pytest.mark.parametrize("tolerance", [SAME_CLOCK_NS, None])
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 60), st.integers(120, 200), st.integers(0, 60), st.integers(120, 200))
def test_files_that_begin_and_end_elsewhere(
    tolerance: int | None, first: int, last: int, begin: int, end: int
) -> None:
    one, other = np.arange(first, last), np.arange(begin, end)
    ahead = 0 if tolerance else 7_000_000_000_000
    lanes = _lane(_IRREGULAR[one]), _lane(_IRREGULAR[other] + ahead + other % 7 * 1_000)
    _assert_pairs(find_pairing(*lanes, tolerance), one, other)


def test_operations_lost_in_the_middle_are_skipped_on_one_clock() -> None:
    one = np.setdiff1d(np.arange(200), [20, 21, 22, 150])
    other = np.setdiff1d(np.arange(200), [60, 61, 120, *range(180, 190)])
    found = find_pairing(_lane(_IRREGULAR[one]), _lane(_IRREGULAR[other]), SAME_CLOCK_NS)
    _assert_pairs(found, one, other)


def test_numbers_decide_whatever_the_times_are() -> None:
    one, other = np.arange(5, 90), np.delete(np.arange(40, 150), [3, 50])
    lanes = (_lane(np.arange(len(n)) * 1_000_000, seq=n) for n in (one, other))
    _assert_pairs(find_pairing(*lanes, None), one, other)


def test_numbers_that_are_not_unique_do_not_count() -> None:
    rows = np.arange(100)
    one, other = (_lane(_IRREGULAR[rows], seq=rows // 2) for _ in range(2))
    _assert_pairs(find_pairing(one, other, SAME_CLOCK_NS), rows, rows)


@pytest.mark.parametrize("tolerance", [SAME_CLOCK_NS, None])
def test_a_periodic_job_is_ambiguous_on_unknown_clocks(tolerance: int | None) -> None:
    ends = np.arange(60) * 2_000_000
    assert find_pairing(_lane(ends), _lane(ends[5:] + 10**12), tolerance) is None


def test_a_periodic_job_is_matched_on_one_clock() -> None:
    rows = np.arange(60)
    found = find_pairing(_lane(rows * 2_000_000), _lane(rows[5:] * 2_000_000), SAME_CLOCK_NS)
    _assert_pairs(found, rows, rows[5:])


def test_ends_that_agree_by_chance_do_not_make_one_clock() -> None:
    """Operations every 60 us are always within 100 us of another one."""
    ends = np.cumsum(np.random.default_rng(2).integers(40_000, 80_000, 300))
    rows = np.arange(300)
    assert find_pairing(_lane(ends), _lane(ends + 29_023), SAME_CLOCK_NS) is None
    _assert_pairs(find_pairing(_lane(ends), _lane(ends + 29_023), None), rows, rows)
    unrelated = np.cumsum(np.random.default_rng(3).integers(40_000, 80_000, 300))
    assert find_pairing(_lane(ends), _lane(unrelated), SAME_CLOCK_NS) is None


def test_drift_does_not_hide_a_shift() -> None:
    rows = np.arange(200)
    drifting = _IRREGULAR + 10**13 + _IRREGULAR // 50_000
    _assert_pairs(find_pairing(_lane(_IRREGULAR), _lane(drifting[7:]), None), rows, rows[7:])


def test_operations_must_agree() -> None:
    rows = np.arange(200)
    lane = replace(_lane(_IRREGULAR), kind=rows % 3)
    other = replace(_lane(_IRREGULAR + 10**12), kind=rows % 3 + 3)
    assert find_pairing(lane, other, None) is None
    assert find_pairing(lane, _lane(_IRREGULAR + 10**12), None) is None
    unknown = replace(other, kind=np.full(200, -1))
    _assert_pairs(find_pairing(lane, unknown, None), rows, rows)


def test_operations_that_do_not_synchronise_follow_the_others() -> None:
    rows = np.arange(200)
    early = np.where(rows % 4 == 3, 150_000, 0)
    lane = replace(_lane(_IRREGULAR), synchronises=rows % 4 != 3)
    other = replace(_lane(_IRREGULAR - early), synchronises=rows % 4 != 3)
    _assert_pairs(find_pairing(lane, _chosen(other, rows[9:]), SAME_CLOCK_NS), rows, rows[9:])


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_operations_tell_nothing_on_unknown_clocks(count: int) -> None:
    ends = _IRREGULAR[:count]
    assert find_pairing(_lane(ends), _lane(ends + 10**12), None) is None


def test_a_shift_that_few_operations_share_may_still_be_the_right_one() -> None:
    """A regular stretch fits itself under many shifts; the true one is not to be forgotten."""
    ends = np.cumsum(np.concatenate((np.full(20, 1_000_000), [1_000_050] * 20)))
    assert find_pairing(_lane(ends[:24]), _lane(ends[18:] + 10**12), None) is None


def test_lanes_that_share_too_little_are_not_matched() -> None:
    assert find_pairing(_lane(_IRREGULAR[:100]), _lane(_IRREGULAR[90:]), SAME_CLOCK_NS) is None
