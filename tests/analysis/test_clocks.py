"""Clocks of hosts from ends of collectives."""

from __future__ import annotations

import numpy as np
import pytest

from commscope.analysis.clocks import MIN_ERROR_NS, Correction, Ends, find_clocks

SECOND = 10**9
TIMES = np.arange(20) * 3 * SECOND + np.arange(20) ** 2 * 1_000_000


def _ends(one: int, other: int, ahead_ns: int, drift: float = 0.0, **more: bool) -> Ends:
    """Ends on two ranks of which the other's clock is ahead."""
    later = TIMES + ahead_ns + np.rint(TIMES * drift).astype(np.int64)
    return Ends(one, other, TIMES, later, **more)


def _offset(correction: Correction, time_ns: int) -> int:
    return time_ns - int(correction.aligned(np.array([time_ns]))[0])


def test_ranks_of_one_host_share_a_clock_with_the_median_difference_as_error() -> None:
    found = find_clocks(3, [_ends(0, 1, 2_000), _ends(0, 2, -6_000)], [None] * 3)
    assert found.host.tolist() == [0, 0, 0]
    assert found.error_ns.tolist() == [4_000] * 3
    assert found.aligned(np.array([0, 1, 2]), np.array([5, 6, 7])).tolist() == [5, 6, 7]


@pytest.mark.parametrize("ahead", [101_000, -5 * SECOND, 6 * 3600 * SECOND + 1])
def test_offsets_between_hosts(ahead: int) -> None:
    found = find_clocks(2, [_ends(0, 1, ahead)], [None, None])
    assert found.host.tolist() == [0, 1]
    assert found.part.tolist() == [0, 0]
    assert found.corrections[1] == Correction(ahead)
    assert found.error_ns.tolist() == [0, MIN_ERROR_NS]


def test_drift_is_fitted_where_the_residuals_say_so() -> None:
    found = find_clocks(2, [_ends(0, 1, 4 * SECOND, 20e-6)], ["a", "b"])
    assert found.corrections[1].drift == pytest.approx(20e-6, rel=1e-3)
    for time in (TIMES[0], TIMES[-1]):
        true = 4 * SECOND + round(time * 20e-6)
        assert abs(_offset(found.corrections[1], int(time) + true) - true) < 100
    assert find_clocks(2, [_ends(0, 1, 4 * SECOND)], ["a", "b"]).corrections[1].drift == 0


def test_the_error_says_what_the_fit_leaves() -> None:
    """Of a few pairs no drift is fitted: its effect is in the error."""
    few = Ends(0, 1, TIMES[:5], TIMES[:5] + SECOND + TIMES[:5] // 50_000)
    found = find_clocks(2, [few], ["a", "b"])
    assert found.corrections[1].drift == 0
    worst = max(
        abs(_offset(found.corrections[1], int(t)) - SECOND - t // 50_000) for t in TIMES[:5]
    )
    assert 0.9 * worst <= found.error_ns[1] <= worst


def test_outliers_do_not_move_an_offset() -> None:
    ends = _ends(0, 1, SECOND)
    ends.other_ns[3] += 40_000_000
    found = find_clocks(2, [ends], ["a", "b"])
    assert found.corrections[1] == Correction(SECOND)
    assert found.error_ns[1] == MIN_ERROR_NS


def test_ends_that_contradict_each_other_make_no_clock() -> None:
    scattered = Ends(0, 1, TIMES, TIMES + SECOND + np.arange(20) % 5 * 9_000_000)
    found = find_clocks(3, [scattered, _ends(0, 2, SECOND)], ["a", "b", "c"])
    assert found.part.tolist() == [0, 1, 0]
    assert found.corrections[1] == Correction()


def test_a_chain_of_hosts_adds_up_offsets_and_errors() -> None:
    found = find_clocks(3, [_ends(1, 2, SECOND), _ends(0, 1, 7 * SECOND)], ["a", "b", "c"])
    assert [c.offset_ns for c in found.corrections] == [0, 7 * SECOND, 8 * SECOND]
    assert found.error_ns.tolist() == [0, MIN_ERROR_NS, 2 * MIN_ERROR_NS]
    # A link is as good from its other side.
    turned = Ends(1, 0, TIMES + 7 * SECOND, TIMES)
    assert find_clocks(2, [turned], ["a", "b"]).corrections[1].offset_ns == 7 * SECOND


def test_hosts_that_nothing_connects_are_parts_of_their_own() -> None:
    found = find_clocks(4, [_ends(0, 1, SECOND), _ends(2, 3, 2 * SECOND)], list("abcd"))
    assert found.part.tolist() == [0, 0, 2, 2]
    assert [c.offset_ns for c in found.corrections] == [0, SECOND, 0, 2 * SECOND]


def test_messages_are_only_asked_where_there_is_nothing_better() -> None:
    firm, soft = _ends(0, 1, SECOND), _ends(0, 1, SECOND + 5_000_000, firm=False)
    assert find_clocks(2, [soft, firm], ["a", "b"]).corrections[1] == Correction(SECOND)
    assert find_clocks(2, [soft], ["a", "b"]).corrections[1] == Correction(SECOND + 5_000_000)


def test_names_of_hosts_win_over_clocks_that_agree() -> None:
    assert find_clocks(2, [_ends(0, 1, 0)], ["a", "b"]).host.tolist() == [0, 1]
    assert find_clocks(2, [_ends(0, 1, 0)], ["a", None]).host.tolist() == [0, 0]
    assert find_clocks(3, [], ["a", "b", "a"]).host.tolist() == [0, 1, 0]


def test_no_ranks_have_no_clocks() -> None:
    assert find_clocks(0, [], []).error_ns.tolist() == []
