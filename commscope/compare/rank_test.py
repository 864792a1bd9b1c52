"""Two samples of independent values compared by ranks: no distribution is assumed.

Sources: Mann and Whitney, Ann. Math. Stat. 18 (1947) 50; its exact distribution with ties by the
shift algorithm of Streitberg and Roehmel, Stat. Software Newsletter 12 (1986) 10; Hodges and
Lehmann, Ann. Math. Stat. 34 (1963) 598; Bauer, JASA 67 (1972) 687, for the interval of the shift;
Cliff, Psychol. Bull. 114 (1993) 494.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from commscope.columns import Int64

Float64 = npt.NDArray[np.float64]

#: Beyond so many additions the exact distribution gives way to the normal one, whose p-values by
#: then (more than 20 values a side) are right, or too large where they are small: from 0.001 on by
#: a third at most.
_MOST_ADDITIONS = 2 * 10**6


@dataclass(frozen=True, slots=True)
class Shift:
    """By how much the values of a sample exceed those of another; bounds are null if too few.

    ``low`` to ``high`` holds the true shift with 95 % certainty or more. ``cliffs_delta`` is the
    share of pairs in which the new value is greater, less the share in which it is smaller.
    """

    hodges_lehmann: float
    low: float | None
    high: float | None
    cliffs_delta: float


def rank_p_value(base: Float64, new: Float64) -> float:
    """How often samples of one kind would differ in their ranks as much or more, two-sided."""
    doubled = _doubled_ranks(np.concatenate((base, new)))
    few = min(len(base), len(new))
    chosen = doubled[: len(base)] if few == len(base) else doubled[len(base) :]
    total, middle = int(chosen.sum()), few * (len(doubled) + 1)
    if _additions(len(doubled), few) > _MOST_ADDITIONS:
        return _normal_p_value(doubled, few, abs(total - middle))
    chances = _rank_sum_chances(doubled, few)
    far = np.abs(np.arange(len(chances)) - middle) >= abs(total - middle)
    return min(float(chances[far].sum()), 1.0)


def shift_between(base: Float64, new: Float64, level: float = 0.95) -> Shift:
    """The Hodges-Lehmann shift, its interval by inversion of the rank test, and Cliff's delta."""
    differences = np.sort(np.subtract.outer(new, base), axis=None)
    greater, smaller = (int(np.count_nonzero(of)) for of in (differences > 0, differences < 0))
    outside = _pairs_outside(len(base), len(new), level)
    low, high = (
        (float(differences[outside - 1]), float(differences[-outside])) if outside else (None, None)
    )
    delta = (greater - smaller) / len(differences)
    return Shift(float(np.median(differences)), low, high, delta)


def least_p_value(base: int, new: int) -> float:
    """The smallest p-value that samples of these sizes can give: all of one beyond the other."""
    return 2 / math.comb(base + new, base)


def _doubled_ranks(values: Float64) -> Int64:
    """Twice the ranks from 1 on, whole numbers also where equal values share their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((2 * last - count + 1)[place.reshape(-1)])


def _additions(values: int, few: int) -> int:
    return values * few * values * (values + 1)


def _rank_sum_chances(doubled: Int64, few: int) -> Float64:
    """The chance of each sum of so many of the ranks, drawn at random, by the shift algorithm."""
    ways = np.zeros((few + 1, int(doubled.sum()) + 1))
    ways[0, 0] = 1.0
    for rank in doubled.tolist():
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    return np.asarray(ways[few] / ways[few].sum())


def _normal_p_value(doubled: Int64, few: int, distance: int) -> float:
    """By the normal distribution, with corrections for ties and continuity."""
    count = len(doubled)
    ties = np.unique(doubled, return_counts=True)[1].astype(np.float64)
    spread = count + 1 - float((ties**3 - ties).sum()) / (count * (count - 1))
    deviation = math.sqrt(few * (count - few) / 12 * spread)
    if not deviation:
        return 1.0
    return min(2 * NormalDist().cdf(-max(distance / 2 - 0.5, 0.0) / deviation), 1.0)


def _pairs_outside(base: int, new: int, level: float) -> int:
    """Which smallest and largest difference bound the interval; 0: no bound is that sure."""
    count, few = base + new, min(base, new)
    tail = (1 - level) / 2
    if _additions(count, few) > _MOST_ADDITIONS:
        deviation = math.sqrt(base * new * (count + 1) / 12)
        return max(math.floor(base * new / 2 + NormalDist().inv_cdf(tail) * deviation), 0)
    # Chances are sums, which rounding may lift above the tail: by less than this.
    return int(np.count_nonzero(_chances_without_ties(count, few) <= tail * (1 + 1e-9)))


@lru_cache(maxsize=64)
def _chances_without_ties(count: int, few: int) -> Float64:
    """The chance of each sum of ranks, or of a smaller one, from the smallest sum on."""
    chances = _rank_sum_chances(np.arange(1, count + 1), few)
    return np.asarray(np.cumsum(chances[few * (few + 1) // 2 :]))
