"""Twelve real starts of one job: none may be called slower than the others; a slower job is.

DDP of a small transformer on two H200, 31 profiled steps and 60 more without the profiler, started
anew each time; the last two have a batch that is 1/16 larger. The times are medians.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from gate_runs import run

from commscope.gate.judge import check_run
from commscope.gate.measures import GateRun

_PROFILED_NS = (
    *(9_441_655, 9_629_065, 9_739_914, 9_598_919, 9_640_938, 9_505_289),
    *(9_717_321, 9_521_318, 9_782_457, 9_355_224, 9_590_392, 9_578_120),
)
_UNPROFILED_NS = (
    *(9_256_669, 9_269_156, 9_375_458, 9_330_148, 9_289_031, 9_301_598),
    *(9_249_958, 9_255_530, 9_329_795, 9_227_061, 9_278_266, 9_255_020),
)
_SLOWER = ((10_517_336, 9_995_380), (10_504_331, 10_089_354))


def _runs() -> list[GateRun]:
    pairs = enumerate(zip(_PROFILED_NS, _UNPROFILED_NS), 1)
    return [
        run(f"start-{n}", step_ns=profiled, unprofiled_ns=without, closed_steps=30)
        for n, (profiled, without) in pairs
    ]


def test_no_start_is_slower_than_the_others() -> None:
    runs = _runs()
    verdicts = [check_run(one, [], [r for r in runs if r is not one]).result for one in runs]
    assert verdicts == ["pass"] * 12


def test_no_pair_is_slower_than_the_others() -> None:
    runs = _runs()
    alarms = sum(
        check_run(one, [], [r for r in runs if r not in pair]).result != "pass"
        for pair in combinations(runs, 2)
        for one in pair
    )
    assert alarms <= 0.05 * 132


def test_five_starts_are_a_baseline() -> None:
    runs = _runs()
    verdicts = [check_run(runs[n], [], runs[n - 5 : n]).result for n in range(5, 12)]
    assert verdicts == ["pass"] * 7


@pytest.mark.parametrize(("profiled", "without"), _SLOWER)
def test_a_larger_batch_is_slower(profiled: int, without: int) -> None:
    slower = run("slower", step_ns=profiled, unprofiled_ns=without, closed_steps=30)
    found = check_run(slower, [], _runs())
    assert found.result == "fail"
    assert len([one for one in found.gate if one.result == "fail"]) == 2
