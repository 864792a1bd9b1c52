"""What a baseline allows: not crying wolf, finding what is there, and when nothing can be said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gate_runs import SETUP, STEADY, run, runs

from commscope.compare.noise_band import student_t_quantile
from commscope.gate.judge import Limits, check_run
from commscope.gate.measures import GateRun
from commscope.gate.syntax import parse

RUNS = 200


def medians(random: np.random.Generator, count: int, factor: float = 1.0) -> list[float]:
    """Median step times of runs of 50 steps that vary by 3 %."""
    steps = 10e6 * factor * (1 + 0.03 * random.standard_normal((count, 50)))
    return [float(value) for value in np.median(steps, axis=1)]


def failed(new: float, earlier: list[float]) -> bool:
    return check_run(run(step_ns=new), [], runs(*earlier)).result == "fail"


@pytest.mark.parametrize("count", [5, 12])
def test_five_percent_are_found_and_nothing_is_not(count: int) -> None:
    random = np.random.default_rng(count)
    wolves, found = 0, 0
    for _ in range(RUNS):
        earlier = medians(random, count)
        wolves += failed(*medians(random, 1), earlier)
        found += failed(*medians(random, 1, 1.05), earlier)
    assert wolves <= 0.01 * RUNS
    assert found >= 0.95 * RUNS


@pytest.mark.parametrize("skewed", [False, True])
def test_noise_between_runs_that_exceeds_the_floor(skewed: bool) -> None:
    random = np.random.default_rng(1)
    wolves = 0
    for _ in range(RUNS):
        luck = random.exponential(1, 9) if skewed else random.standard_normal(9)
        new, *earlier = (10e6 * (1 + 0.05 * luck)).tolist()
        wolves += failed(new, earlier)
    assert 0 < wolves <= 0.08 * RUNS if skewed else wolves <= 0.03 * RUNS


def test_the_limit_is_that_of_the_prediction_interval() -> None:
    values = [9e6, 10e6, 11e6, 10.5e6, 9.5e6]
    (found,) = check_run(run(step_ns=10e6), [], runs(*values)).gate
    reach = student_t_quantile(0.99, 4) * np.std(values, ddof=1) * np.sqrt(1.2)
    assert found.limit == pytest.approx(10e6 + reach)
    assert found.allowed is not None
    assert (found.allowed.runs, found.allowed.floored) == (5, False)


def test_more_limits_share_the_false_alarms() -> None:
    wild = runs(9e6, 10e6, 11e6, 10.5e6, 9.5e6)
    more = [parse("per_step.idle_ns > baseline"), parse("summary.overlap_ratio < baseline")]
    found = check_run(run(), more, wild).gate
    levels = [judged.allowed.level for judged in found if judged.allowed]
    assert levels == [pytest.approx(1 - 0.01 / 3)] * 2
    assert [judged.result for judged in found] == ["pass", "cannot_judge", "pass"]
    assert found[1].says.startswith("it is not known of new")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("step_ns.p50 > baseline", 10.2e6),
        ("step_ns.p50 > baseline + 5%", 10.5e6),
        ("step_ns.p50 > baseline + 1ms", 11e6),
        ("step_ns.p50 < baseline", 9.8e6),
        ("per_step.idle_ns > baseline", 2.7e6),
        ("shares.exposed_comm > baseline", 0.12),
        ("shares.exposed_comm < baseline - 0.05", 0.05),
    ],
)
def test_a_steady_baseline_has_a_floor(text: str, limit: float) -> None:
    found = check_run(run(), [parse(text)], runs(*[10e6] * 6)).gate[0]
    assert found.limit == pytest.approx(limit)
    assert found.allowed is not None
    assert found.allowed.floored


def test_of_a_short_step_the_floor_is_25_us() -> None:
    found = check_run(run(step_ns=2e5), [], runs(*[2e5] * 6), Limits(floor=0.02)).gate[0]
    assert found.limit == pytest.approx(2.25e5)


def test_a_margin_within_the_noise_changes_nothing() -> None:
    wild = runs(9e6, 10e6, 11e6, 10.5e6, 9.5e6)
    plain, with_margin = (
        check_run(run(), [parse(text)], wild).gate[0].limit
        for text in ("step_ns.p50 > baseline", "step_ns.p50 > baseline + 5%")
    )
    assert plain == with_margin


def test_the_step_time_is_judged_once() -> None:
    asked = check_run(run(), [parse("step_ns.p50 > baseline + 5%")], runs(*STEADY))
    assert len(asked.gate) == 1
    beside = check_run(run(), [parse("step_ns.p50 > 5ms")], runs(*STEADY))
    assert [judged.result for judged in beside.gate] == ["fail", "pass"]


def test_parts_of_the_step_decide_nothing() -> None:
    new = run()
    parts = {**new.document["per_step"], "idle_ns": 9e6}
    found = check_run(replace(new, document={**new.document, "per_step": parts}), [], runs(*STEADY))
    assert found.result == "pass"
    beyond = [judged.expression for judged in found.watched if judged.result == "fail"]
    assert beyond == ["per_step.idle_ns > baseline"]


@pytest.mark.parametrize(
    ("new", "earlier", "says"),
    [
        (run(), runs(*STEADY[:4]), "4 independent runs: at least 5"),
        (run(trust={"verdict": "unusable", "checks": []}), runs(*STEADY), "trace of new cannot be"),
        (run(closed_steps=4), runs(*STEADY), "new: 4 closed steps, at least 5"),
        (
            run(),
            runs(*STEADY, closed_steps=4),
            "run-1, run-2, run-3, run-4 and 2 more: 4 closed steps",
        ),
        (
            run(),
            runs(*STEADY, closed_steps=30),
            "run-1 of the baseline has 30 closed steps, not about 50",
        ),
        (run(), runs(*STEADY, definitions=0), "other definitions (0, now"),
        (run(), runs(*STEADY, setup=replace(SETUP, gpus=("H200",))), "ran on H200, not MI300X"),
        (run(), runs(*STEADY, setup=replace(SETUP, gpus=())), "ran on unknown GPUs"),
        (run(), runs(*STEADY, setup=replace(SETUP, world=16)), "a job of 16 ranks, not 2"),
        (run(), runs(*STEADY, setup=replace(SETUP, ranks=(0,))), "has rank 0, not ranks 0-1"),
        (run(), runs(*STEADY, setup=replace(SETUP, step_source="inferred")), "steps by inferred"),
    ],
)
def test_cannot_judge(new: GateRun, earlier: list[GateRun], says: str) -> None:
    found = check_run(new, [parse("step_ns.p50 > 1s")], earlier)
    assert [judged.result for judged in found.gate] == ["pass", "cannot_judge"]
    assert says in found.gate[1].says
    assert (found.result, found.exit_code, found.watched) == ("cannot_judge", 11, ())


def test_runs_count_once_and_the_judged_one_never() -> None:
    earlier = [*runs(*STEADY), run("again", contents=frozenset({"run-2"}))]
    found = check_run(run("new", contents=frozenset({"run-1", "x"})), [], earlier)
    assert found.baseline == ("run-2", "run-3", "run-4", "run-5", "run-6")
    assert ["run-1" in note or "again" in note for note in found.notes] == [True, True]


def test_the_step_without_the_profiler() -> None:
    earlier = runs(*STEADY, unprofiled_ns=9e6)
    slow = check_run(run(unprofiled_ns=9.5e6), [], earlier)
    assert [judged.result for judged in slow.gate] == ["pass", "fail"]
    assert slow.profiler is not None
    assert slow.profiler.inflation == pytest.approx(10 / 9.5)
    other = check_run(run(unprofiled_ns=11e6), [], earlier)
    assert "not times of the same job" in str(other.profiler)
    without = check_run(run(unprofiled_ns=9.5e6), [], [*earlier[:5], run("old")])
    assert (without.result, len(without.gate)) == ("pass", 1)
    assert "--unprofiled-step-ms" in without.notes[0]


def test_absolute_limits_need_no_steps_and_no_baseline() -> None:
    assert check_run(run(closed_steps=1), [parse("step_ns.p50 > 1s")]).result == "pass"
