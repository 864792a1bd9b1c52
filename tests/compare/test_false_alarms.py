"""How often noise is called a change, and a change noise, on simulated runs with known answers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from commscope.compare.independence import block_length, block_means, correlation_time
from commscope.compare.statistics import Judgement, holm, judge

pytestmark = pytest.mark.long

STEPS, SPREAD = 50, 0.03
#: Of what a step is made: parts with their own noise, as ``compare`` judges them together.
SHARES = {"compute": 0.5, "wait": 0.2, "transfer": 0.1, "copy": 0.05, "idle": 0.15}


def run(random: np.random.Generator, factor: float = 1.0, likeness: float = 0.0):
    """The parts of the steps of a run, and the steps: 3 % of spread, each a bit like the last."""
    parts = {}
    for name, share in SHARES.items():
        noise = random.normal(size=STEPS + 50) * np.sqrt(1 - likeness**2)
        for place in range(1, len(noise)):
            noise[place] += likeness * noise[place - 1]
        spread = SPREAD / np.sqrt(sum(s**2 for s in SHARES.values()))
        parts[name] = (
            share * (1 + spread * noise[50:]) * (factor * 2 - 1 if name == "compute" else 1)
        )
    return {**parts, "step": np.sum(list(parts.values()), axis=0)}


def judged(random: np.random.Generator, factor: float, likeness: float = 0.0):
    base, new = run(random, 1.0, likeness), run(random, factor, likeness)
    return judge({name: ([base[name]], [new[name]]) for name in base})


def share_of(times: int, hit) -> float:
    return sum(map(hit, range(times))) / times


def test_five_percent_more_is_found_and_no_change_is_not() -> None:
    random = np.random.default_rng(7)
    found = share_of(100, lambda _: judged(random, 1.05)["step"].is_significant)
    alarms = share_of(100, lambda _: any(j.is_significant for j in judged(random, 1.0).values()))
    assert found >= 0.95
    assert alarms <= 0.05


@pytest.mark.parametrize("likeness", [0.3, 0.6])
def test_steps_that_are_alike_for_a_while_alarm_nobody(likeness: float) -> None:
    random = np.random.default_rng(11)
    alarms = share_of(100, lambda _: judged(random, 1.0, likeness)["step"].is_significant)
    assert alarms <= 0.05


def test_without_blocks_they_would() -> None:
    random = np.random.default_rng(11)
    series = [run(random, 1.0, 0.6)["step"] for _ in range(40)]
    assert np.median([block_length([one, other]) for one, other in pairwise(series)]) >= 4


def test_independent_steps_are_taken_one_by_one() -> None:
    random = np.random.default_rng(2)
    lengths = [block_length([random.normal(size=50) for _ in range(2)]) for _ in range(50)]
    assert np.median(lengths) <= 2


def test_constant_steps_have_no_correlation() -> None:
    assert correlation_time([np.ones(20), np.ones(20)]) == 1.0


def test_blocks_leave_out_the_first_steps() -> None:
    assert block_means(np.array([9.0, 1.0, 3.0, 5.0, 7.0]), 2).tolist() == [2.0, 6.0]


def test_four_steps_are_never_judged() -> None:
    base, new = np.arange(4.0), np.arange(4.0) + 100
    found = judge({"step": ([base], [new])})["step"]
    assert found.verdict == "cannot_judge"
    assert (found.p_value, found.shift) == (None, None)


def test_several_runs_are_the_units() -> None:
    random = np.random.default_rng(4)

    def runs(count: int, factor: float):
        luck = random.normal(1, 0.02, count)
        return [100 * factor * one * random.normal(1, 0.001, 20) for one in luck]

    same = judge({"step": (runs(6, 1.0), runs(6, 1.0))})["step"]
    other = judge({"step": (runs(6, 1.0), runs(6, 1.2))})["step"]
    assert same.units.kind == other.units.kind == "runs"
    assert (same.verdict, other.verdict) == ("not_significant", "significant")
    assert judge({"step": (runs(4, 1), runs(9, 2))})["step"].verdict == "cannot_judge"


def test_runs_with_luck_of_their_own_would_alarm_by_their_steps() -> None:
    random = np.random.default_rng(4)
    base, new = (100 * luck * random.normal(1, 0.001, 20) for luck in (1.0, 1.01))
    assert judge({"step": ([base], [new])})["step"].is_significant


def test_holm_by_hand() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "c": 0.06, "b": 0.06}


def test_judging_more_metrics_asks_for_more() -> None:
    base, new = np.arange(6.0), np.arange(6.0) + 3
    alone = judge({"a": ([base], [new])})["a"]
    others = {str(n): ([base], [base]) for n in range(20)}
    together: Judgement = judge({"a": ([base], [new]), **others})["a"]
    assert alone.p_value == together.p_value
    assert (alone.adjusted_p_value or 0) < (together.adjusted_p_value or 0)
