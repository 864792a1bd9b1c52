"""Bands for the next run of a baseline."""

from __future__ import annotations

import numpy as np
import pytest

from commscope.compare.noise_band import noise_band, student_t_quantile


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (10, 2.2281), (11, 2.2010), (30, 2.0423)],
)
def test_student_t_is_that_of_the_tables(freedom: int, expected: float) -> None:
    assert student_t_quantile(0.975, freedom) == pytest.approx(expected, abs=5e-5)


def test_below_five_runs_nothing_is_said() -> None:
    band = noise_band([1.0, 2.0, 3.0, 4.0])
    assert not band.is_known
    assert (band.low, band.high) == (None, None)
    assert "at least 5" in band.says()


def test_a_prediction_interval_by_hand() -> None:
    band = noise_band([10.0, 11.0, 12.0, 13.0, 14.0])
    reach = 2.776445 * np.sqrt(2.5) * np.sqrt(1.2)
    assert band.method == "student_t"
    assert (band.low, band.high) == (pytest.approx(12 - reach), pytest.approx(12 + reach))


def test_many_runs_need_no_distribution() -> None:
    values = [float(v) for v in range(39)]
    band = noise_band(values)
    assert (band.method, band.low, band.high) == ("order_statistics", 0.0, 38.0)
    assert noise_band(values[:38]).method == "student_t"
    upper = noise_band(values[:19], side="upper")
    assert (upper.method, upper.low, upper.high) == ("order_statistics", None, 18.0)
    assert noise_band(values[:18], side="upper").method == "student_t"


def test_the_floor_keeps_a_quiet_baseline_quiet() -> None:
    band = noise_band([100.0] * 6, floor_ratio=0.02)
    assert (band.low, band.high) == (98.0, 102.0)
    assert band.holds(101.9)
    assert not band.holds(102.1)


@pytest.mark.parametrize("runs", [5, 11, 19, 39])
@pytest.mark.parametrize("side", ["both", "upper"])
def test_one_run_in_twenty_is_outside(runs: int, side) -> None:
    random = np.random.default_rng(runs)
    outside = 0
    for _ in range(1000):
        values = np.exp(random.normal(0, 0.02, runs + 1))
        outside += not noise_band(values[:-1].tolist(), side=side).holds(float(values[-1]))
    assert 0.03 * 1000 <= outside <= 0.07 * 1000
