"""Impossible time stamps and unknown streams."""

from __future__ import annotations

import numpy as np
import pytest
from tables import COMPUTE, Gpu, Host, Row, comm, reading

from commscope.columns import NONE
from commscope.normalize.impossible import MAX_DISTANCE_NS, is_before_launch, is_impossible
from commscope.normalize.launches import link_launches
from commscope.normalize.ranks import split_ranks
from commscope.normalize.repair import repair_events
from commscope.schema import Flag
from commscope.trace import Repair

T = 10**15


def _repaired(*rows: Row) -> tuple[dict[str, list[int]], Repair]:
    (part,), _ = split_ranks([reading(*rows)], {})
    events, repair = repair_events(link_launches(part.tables).events, 4)
    return {name: events.column(name).to_pylist() for name in ("dur_ns", "stream", "flags")}, repair


@pytest.mark.parametrize(
    ("start", "dur"),
    [
        (0, 0), (0, 50), (-1, 5), (T, -1), (T, MAX_DISTANCE_NS + 1), (T - MAX_DISTANCE_NS - 1, 5),
        (T + MAX_DISTANCE_NS + 1, 5), ((1 << 63) - 1, 0), (-(1 << 63), 0), (T, (1 << 63) - 1),
    ],
)  # fmt: skip
def test_impossible(start: int, dur: int) -> None:
    starts, durs = np.array([T, T, start, T]), np.array([5, 5, dur, 5])
    assert is_impossible(starts, durs).tolist() == [False, False, True, False]


@pytest.mark.parametrize(("start", "dur"), [(1, 5), (T, 0), (T + MAX_DISTANCE_NS, 5)])
def test_possible(start: int, dur: int) -> None:
    assert not is_impossible(np.array([start] * 2), np.array([dur] * 2)).any()


def test_nothing_is_possible() -> None:
    assert is_impossible(np.array([0, -5]), np.array([1, 1])).all()
    assert not is_impossible(np.empty(0, np.int64), np.empty(0, np.int64)).any()


def test_a_stamp_near_zero_of_a_clock_that_stands_far_on_was_never_written() -> None:
    late = np.array([10**13, 10**13 + 5, 7])
    assert is_impossible(late, np.array([5, 5, 5])).tolist() == [False, False, True]
    early = np.array([10**11, 10**11 + 5, 7])
    assert not is_impossible(early, np.array([5, 5, 5])).any(), "a clock that just began"


@pytest.mark.parametrize(
    ("start", "launch", "is_broken"),
    [
        ([50, 60, 70], [40, 50, 60], [0, 0, 0]),
        ([50, -(10**9) - 50, 70], [40, 50, 60], [0, 1, 0]),
        ([50, -(10**9) + 50, 70], [40, 50, 60], [0, 0, 0]),
        ([50, -(2 * 10**9), 70], [40, NONE, 60], [0, 0, 0]),
        # Most of them: then it is the clocks.
        ([-(3 * 10**9), -(2 * 10**9), 70], [40, 50, 60], [0, 0, 0]),
    ],
)
def test_nothing_runs_long_before_its_launch(
    start: list[int], launch: list[int], is_broken: list[int]
) -> None:
    launches = np.array([NONE if one == NONE else one + T for one in launch])
    found = is_before_launch(np.array(start) + T, launches)
    assert found.tolist() == list(map(bool, is_broken))


def test_broken_rows_are_flagged_and_counted() -> None:
    found, repair = _repaired(Gpu(T, 100), Gpu(0, 7), Gpu(T + 500, 100))
    assert found["flags"] == [0, Flag.BROKEN, 0]
    assert repair == Repair(4, 1, 0, 0, 200, 200)


@pytest.mark.parametrize(
    ("over", "kept", "flag", "counts"),
    [
        (0, 0, 0, (0, 0)),
        (27, 27, 0, (0, 1)),
        (1000, 1000, 0, (0, 1)),
        (1001, 0, Flag.CLIPPED, (1, 0)),
    ],
)
def test_an_end_past_the_next_start(
    over: int, kept: int, flag: int, counts: tuple[int, int]
) -> None:
    found, repair = _repaired(Gpu(T, 5000 + over), Gpu(T + 5000, 10))
    assert found["dur_ns"] == [5000 + kept, 10]
    assert found["flags"] == [flag, 0]
    assert (repair.clipped, repair.tolerated) == counts
    assert (repair.busy_before_ns, repair.busy_after_ns) == (5010 + over, 5010 + kept)


def test_streams_and_graphs_overlap_freely() -> None:
    graph = Host(T - 5, 1, "hipGraphLaunch", correlation=9)
    rows = [Gpu(T, 9000), comm(T + 100, 9000), Gpu(T + 200, 9000, stream=3, correlation=9)]
    rows.append(Gpu(T + 300, 9000, stream=3, correlation=9))
    found, repair = _repaired(*rows, graph)
    assert found["dur_ns"] == [9000] * 4
    assert not repair.clipped


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_that_start_at_once_the_longest_stays(order: tuple[int, int]) -> None:
    rows = [Gpu(T, 5000), Gpu(T, 8000)]
    found, repair = _repaired(*(rows[i] for i in order))
    assert [found["dur_ns"][i] for i in order] == [0, 8000]
    assert repair.clipped == 1


def test_a_late_end_is_cut_at_the_next_start_only() -> None:
    found, _ = _repaired(Gpu(T, 10**9), Gpu(T + 5000, 10), Gpu(T + 9000, 10))
    assert found["dur_ns"] == [5000, 10, 10]


class TestStreams:
    """A null stream is told from the kernel's name, or not at all."""

    def test_name_that_is_only_on_one(self) -> None:
        found, _ = _repaired(Gpu(T, 5, stream=None), Gpu(T + 9, 5, stream=3))
        assert found["stream"] == [3, 3]
        assert found["flags"] == [Flag.STREAM_REPAIRED, 0]

    @pytest.mark.parametrize("others", [(), (3, 4)])
    def test_name_on_several_or_none(self, others: tuple[int, ...]) -> None:
        rows = [Gpu(T + 9 * s, 5, stream=s) for s in others]
        found, _ = _repaired(Gpu(T, 5, stream=None), *rows)
        assert found["stream"][0] is None
        assert found["flags"][0] == Flag.STREAM_AMBIGUOUS

    def test_one_call_on_several(self) -> None:
        rows = [Gpu(T, 5, stream=s, launched=T - 5, correlation=7) for s in (1, 2)]
        found, _ = _repaired(*rows, Gpu(T, 5, stream=1, launched=T - 4, correlation=8))
        assert found["flags"] == [Flag.STREAM_AMBIGUOUS, Flag.STREAM_AMBIGUOUS, 0]

    @pytest.mark.parametrize("kind", ["memcpy", "memset"])
    def test_copies_of_one_call_may(self, kind: str) -> None:
        rows = [Gpu(T, 5, COMPUTE, T - 5, s, kind=kind, correlation=7) for s in (1, 2)]
        assert _repaired(*rows)[0]["flags"] == [0, 0]

    def test_64_bits(self) -> None:
        assert _repaired(Gpu(T, 5, stream=(1 << 62) + 1))[0]["stream"] == [(1 << 62) + 1]
