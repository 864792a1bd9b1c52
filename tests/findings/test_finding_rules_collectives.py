"""Rules on collectives: what else their sentences and claims depend on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_cases import (
    Collective,
    Job,
    Kernel,
    assert_quiet,
    examine,
)
from rule_cases_collectives import arriving, expected_us, taking_turns, transfers


def test_a_straggler_may_compute_longer() -> None:
    found = examine(Job([arriving(300), arriving(700, computing_until=700)]))
    (finding,) = found.of("C1")
    assert finding.says.startswith(
        "rank 1 is late: before it arrives it computes 400.0 us a step longer "
    )
    assert (finding.rank, finding.bound_ns) == (1, 400_000)


@pytest.mark.parametrize(("other", "blamed"), [(50, [1]), (51, [])])
def test_a_straggler_must_cause_four_fifths_of_the_waiting(other: float, blamed: list[int]) -> None:
    """Rank 1 lets the other wait for 200 us in each step, and waits for it itself."""
    found = examine(taking_turns(200, other)).of("C1")
    assert [finding.rank for finding in found] == blamed


def test_a_rank_for_which_most_of_the_waiting_is_is_named() -> None:
    (finding,) = examine(taking_turns(200, 60)).of("C9")
    assert finding.says == (
        "ranks wait up to 200.0 us a step for each other, most of it for rank 1, but not so much "
        "in every step that it alone is to blame (rank 1 77%, rank 0 23%)"
    )


@pytest.mark.parametrize(("other", "blamed"), [(0, [1]), (250, [])])
def test_a_straggler_must_be_late_in_every_step(other: float, blamed: list[int]) -> None:
    """Rank 1 causes 1200 of 1450 us of waiting, but none in one of the steps."""
    first = [arriving(300 + (other if number == 1 else 0)) for number in range(4)]
    second = [arriving(300 if number == 1 else 700, launched=295) for number in range(4)]
    found = examine(Job([first.__getitem__, second.__getitem__])).of("C1")
    assert [finding.rank for finding in found] == blamed


def test_waiting_besides_that_for_a_straggler() -> None:
    """What is left for others is told by who causes it, without the straggler's share."""

    def rank(*arrivals: float) -> list[Kernel | Collective]:
        begins, ends = (10, 750, 850), (750, 850, 940)
        parts = zip(begins, arrivals, ends)
        items = [(Kernel(b, a, b - 8), Collective(a, e, b - 7)) for b, a, e in parts]
        return [*(item for pair in items for item in pair), Kernel(940, 1010, 935)]

    found = examine(Job([rank(300, 830, 890), rank(700, 800, 890), rank(300, 800, 920)]))
    assert [(finding.rank, finding.severity) for finding in found.of("C1")] == [(1, "high")]
    (finding,) = found.of("C9")
    assert finding.bound_ns == 30_000
    assert finding.says == (
        "ranks wait up to 60.0 us a step for each other, and no one rank is to blame: the waiting "
        "moves between ranks (rank 0 50%, rank 2 50%)"
    )


def test_waiting_that_is_hidden_blames_nobody_for_what_is_exposed() -> None:
    """All waiting for rank 1 is hidden; what is exposed is for rank 0, 30 us a step."""
    first = [
        Kernel(10, 300, 1), Collective(300, 900, 2), Kernel(300, 900, 3, stream=2),
        Kernel(900, 930, 4), Collective(930, 960, 5), Kernel(960, 1010, 6),
    ]  # fmt: skip
    second = [
        Kernel(10, 800, 1), Collective(800, 900, 2),
        Collective(900, 960, 5), Kernel(960, 1010, 6),
    ]  # fmt: skip
    found = examine(Job([first, second]))
    assert found.looked["C1"].result == "nothing"
    assert found.looked["C9"].result == "nothing"


def test_many_ranks_that_wait_are_not_all_listed() -> None:
    found = examine(Job([*[arriving(300)] * 6, arriving(700, launched=690)]))
    (finding,) = found.of("C1")
    assert finding.rank == 6
    assert "ranks 0, 1, 2, 3 and 2 more wait up to 400.0 us a step for it" in finding.says


def test_three_ranks_that_wait() -> None:
    found = examine(Job([arriving(300), arriving(700, launched=690), arriving(300)]))
    (finding,) = found.of("C1")
    assert "; ranks 0, 2 wait up to 400.0 us a step for it" in finding.says


def test_a_bandwidth_as_expected_is_never_slow() -> None:
    """Not even by a threshold above all that is expected."""
    size = 128_000_000
    healthy = transfers((size, expected_us(size) * 0.99))
    job = replace(healthy, limits={"C4.min_expected": 2, "C8.min_expected": 2})
    assert_quiet("C4", job)
    assert_quiet("C8", job)


def test_a_slow_bandwidth_is_told_with_its_digits() -> None:
    (finding,) = examine(transfers((64_000_000, 18_000), op="broadcast")).of("C4")
    assert "reaches 3.56 GB/s" in finding.says


def test_waiting_is_followed_through_other_groups() -> None:
    """Rank 2 waits for rank 1, which was late since it waited for rank 0 in another group."""

    def reduce(begin: float, end: float, comm: str, *members: int) -> Collective:
        return Collective(begin, end, begin - 8, comm=comm, members=members)

    first = [Kernel(10, 300, 1), reduce(700, 750, "tp", 0, 1), Kernel(750, 1010, 693)]
    second = [
        Kernel(10, 300, 1), reduce(300, 750, "tp", 0, 1), reduce(750, 900, "dp", 1, 2),
        Kernel(900, 1010, 743),
    ]  # fmt: skip
    third = [Kernel(10, 350, 1), reduce(350, 900, "dp", 1, 2), Kernel(900, 1010, 343)]
    (finding,) = examine(Job([first, second, third])).of("C1")
    assert (finding.rank, finding.bound_ns) == (0, 400_000)
    assert finding.says == (
        "rank 0 is late: before it arrives its GPU idles 400.0 us a step longer than its peers' "
        "(up to 400.0 us at a time) while its host launches nothing and shows no "
        "call; ranks 1, 2 wait up to 400.0 us a step for it, 100.0 % of all waiting; passed on: "
        "rank 1 (last in dp), which waited for rank 0 (last in tp)"
    )
