"""How alike the steps of one run are."""

from __future__ import annotations

import numpy as np
import pytest

from commscope.compare.independence import _covariances, block_length, correlation_time


@pytest.mark.parametrize("length", [1, 2, 10, 37, 200])
def test_sums_of_products_are_those_of_each_lag(length: int) -> None:
    series = np.random.default_rng(length).normal(5e7, 1e6, length)
    centred = series - series.mean()
    expected = [centred[lag:] @ centred[: length - lag] for lag in range(length)]
    scale = centred @ centred
    assert _covariances(series) == pytest.approx(expected, abs=1e-9 * scale + 1e-9)


def test_steps_that_differ_by_nothing_are_independent() -> None:
    assert correlation_time([np.full(50, 1e6 / 3)]) == 1
    assert block_length([np.full(50, 7.0)]) == 1


def test_steps_that_alternate_are_independent() -> None:
    assert correlation_time([np.tile([1.0, -1.0], 20)]) == 1


def test_a_run_of_alike_steps_is_found() -> None:
    noise = np.random.default_rng(3).normal(size=20_000)
    series = np.empty_like(noise)
    series[0] = noise[0]
    for place in range(1, len(noise)):
        series[place] = 0.5 * series[place - 1] + noise[place]
    assert correlation_time([series]) == pytest.approx((1 + 0.5) / (1 - 0.5), rel=0.1)
