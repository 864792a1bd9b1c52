"""Steps of one run follow from each other: how many of them together are as good as independent.

A slow step is often followed by another, as caches, clocks and allocators remember. A test that
takes such steps for independent cries wolf. So they are taken in blocks, long enough that what
remains between neighbours no longer matters, and the means of the blocks are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from commscope.compare.rank_test import Float64

#: Fewer steps do not show whether neighbours are alike.
LEAST_TO_CHECK = 10
#: More values of a run tell no more, but cost time.
_MOST_BLOCKS = 200
#: What rounding makes of a correlation that is none.
_NOTHING = 1e-12


def correlation_time(series: Sequence[Float64]) -> float:
    """How many steps of these runs are worth one independent one: 1 where neighbours differ.

    The sum of all autocorrelations, up to where pairs of them are no longer positive: Geyer's
    initial positive sequence, Statist. Sci. 7 (1992) 473. The runs are taken for alike in this, as
    one estimate of both is steadier than two.
    """
    lags = min(len(of) for of in series) // 2 * 2
    covariance = np.sum([_covariances(of)[:lags] for of in series], axis=0)
    if not covariance[0] > 0:
        return 1.0
    pairs = covariance.reshape(-1, 2).sum(axis=1) / covariance[0]
    ends = np.flatnonzero(pairs <= _NOTHING)
    positive = pairs[: ends[0]] if len(ends) else pairs
    return max(2 * float(positive.sum()) - 1, 1.0)


def _covariances(series: Float64) -> Float64:
    """Sums of products of deviations by lag, from 0 on."""
    size = 2 * len(series)  # so that no step meets one of the other end
    spectrum = np.fft.rfft(series - series.mean(), size)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, size)[: len(series)])


def block_length(series: Sequence[Float64]) -> int:
    """How many steps of these runs make a block.

    Means of blocks as long as the correlation time are still alike, and that time is found too
    short in short runs. Three times what it exceeds one by keeps false alarms of one metric within
    2 to 8 % at a level of 5 %, for runs of 20 to 200 steps with a correlation of 0 to 0.6 from one
    step to the next, at the cost of more that cannot be judged.
    """
    checked = [of for of in series if len(of) >= LEAST_TO_CHECK]
    longest = correlation_time(checked) if checked else 1.0
    most = max((math.ceil(len(of) / _MOST_BLOCKS) for of in series), default=1)
    return max(math.ceil(1 + 3 * (longest - 1) - 1e-9), most)


def block_means(series: Float64, length: int) -> Float64:
    """The means of blocks of so many steps, without the first steps where some are left over."""
    count = len(series) // length
    return np.asarray(series[len(series) - count * length :].reshape(count, length).mean(axis=1))
