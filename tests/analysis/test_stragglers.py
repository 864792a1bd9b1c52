"""Who is late, and whether one rank is to blame for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from matched import Matched, match_trace
from tables import Gpu, comm, reading, step, traces

from commscope.analysis.stragglers import Verdict, straggler_table, straggler_verdicts


def _job(late: Sequence[Sequence[int]], every: int = 10_000_000) -> Matched:
    """Steps with one collective each, into which ranks come late by these ns (step by rank)."""
    readings = []
    for rank in range(len(late[0])):
        rows = []
        for number, of_rank in enumerate(late):
            begin, end = 1 + number * every, 1 + number * every + every // 2 + max(of_rank)
            start = begin + every // 2 - 1_000_000 + of_rank[rank]
            rows += [Gpu(begin + 1, 1_000, launched=begin), step(number, begin, every - 1)]
            rows += [comm(start, end - start, launched=begin)]
        readings.append(reading(*rows, rank=rank, file=f"rank{rank}.json"))
    return match_trace(traces(readings))


def _verdict(found: Matched) -> Verdict:
    a = found.analysis
    (verdict,) = straggler_verdicts(a.timeline, found.matching, a.collectives, a.steps)
    return verdict


def test_the_table_of_stragglers() -> None:
    found = _job([[0, 0, 600_000], [0, 300_000, 0], [0, 0, 600_000]])
    first, second = straggler_table(found.analysis.timeline, found.matching).to_pylist()
    assert first == {
        "rank": 2, "communicator": 0, "instances": 3, "last_count": 2, "last_share": 2 / 3,
        "mean_lateness_ns": 600_000, "waited_by_others_ns": 2_400_000, "caused_share": 0.8,
    }  # fmt: skip
    assert (second["rank"], second["waited_by_others_ns"]) == (1, 600_000)


def test_one_rank_is_late_in_every_step() -> None:
    verdict = _verdict(_job([[0, 0, 600_000]] * 4))
    assert verdict.straggler == 2
    assert verdict.shares == {2: 1.0}
    assert "rank 2" in verdict.says


def test_the_waiting_moves_between_ranks() -> None:
    verdict = _verdict(_job([[600_000, 0], [0, 600_000]] * 2))
    assert verdict.straggler is None
    assert "the waiting moves between ranks" in verdict.says
    assert verdict.shares == {0: 0.5, 1: 0.5}


def test_most_of_the_waiting_is_not_enough() -> None:
    verdict = _verdict(_job([[200_000, 0], [0, 600_000]] * 2))
    assert verdict.straggler is None
    assert verdict.says == "no rank causes 80% of the waiting: rank 1 75%, rank 0 25%"


def test_a_rank_that_is_late_in_most_steps_only_is_no_straggler() -> None:
    verdict = _verdict(_job([[0, 900_000], [0, 900_000], [200_000, 0], [0, 900_000]]))
    assert verdict.shares[1] > 0.8
    assert verdict.straggler is None
    assert "from step to step" in verdict.says


@pytest.mark.parametrize(("late", "straggler"), [(170_000, None), (190_000, 1)])
def test_little_waiting_blames_nobody(late: int, straggler: int | None) -> None:
    """A straggler costs at least one percent of the time in steps, of all ranks."""
    found = _job([[0, late]] * 4)
    window = sum(found.analysis.steps.column("window_ns").to_pylist())
    assert (late * 4 > 0.01 * window) == (straggler is not None), window
    verdict = _verdict(found)
    assert verdict.straggler == straggler
    assert ("too little" in verdict.says) == (straggler is None)


def test_where_nobody_waits_there_is_no_verdict() -> None:
    found = _job([[0, 0]] * 3)
    a = found.analysis
    assert straggler_verdicts(a.timeline, found.matching, a.collectives, a.steps) == []
    assert np.unique(found.matching.wait_ns).tolist() == [0]
