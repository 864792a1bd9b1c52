"""Between which values the next run of the same job is to be expected, from those there were.

Runs are independent, their number is small, and their spread is what a gate has to bear. From 39
runs on (19 for one side) the smallest and greatest of them bound 95 % of further runs whatever the
distribution is (Wilks, Ann. Math. Stat. 12 (1941) 91): no method that assumes nothing can do with
fewer, as a further run is the most extreme of n + 1 with a chance of 1/(n + 1). With fewer, the
prediction interval of Student's t is taken, which assumes that the runs' means, each over many
steps, are about normal; and below five nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

Side = Literal["both", "upper", "lower"]
Method = Literal["order_statistics", "student_t", "too_few"]

LEAST_RUNS = 5


@dataclass(frozen=True, slots=True)
class Band:
    """Where a further run is expected; bounds are null on a side not asked for, or unknown."""

    low: float | None
    high: float | None
    method: Method
    runs: int
    level: float

    @property
    def is_known(self) -> bool:
        """Whether there were enough runs to tell."""
        return self.method != "too_few"

    def holds(self, value: float) -> bool:
        """Whether a value is within the bounds that are known."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def says(self) -> str:
        """What the band rests on."""
        if self.method == "too_few":
            return f"{self.runs} independent runs of the baseline: at least {LEAST_RUNS} are needed"
        how = {
            "order_statistics": "the extremes of",
            "student_t": "Student's t, as if means of runs were normal, over",
        }[self.method]
        return f"{self.level:.0%} of further runs are expected there: {how} {self.runs} runs"


def noise_band(
    runs: Sequence[float], *, level: float = 0.95, side: Side = "both", floor_ratio: float = 0.0
) -> Band:
    """The band for one further run, from one value (a mean or median of steps) a run.

    It reaches at least ``floor_ratio`` of the mean to each side, so that a baseline that happens to
    be quiet alarms nobody about nothing.
    """
    if len(runs) < LEAST_RUNS:
        return Band(None, None, "too_few", len(runs), level)
    values = np.sort(np.asarray(runs, np.float64))
    tail = (1 - level) / (2 if side == "both" else 1)
    centre = float(values.mean())
    # The chance of a further run beyond an extreme is 1/(n + 1); rounding must not cost a run.
    if 1 / (len(values) + 1) <= tail * (1 + 1e-9):
        method: Method = "order_statistics"
        low, high = _extremes(values.tolist(), tail)
    else:
        method, reach = "student_t", _prediction(values.tolist(), tail)
        low, high = centre - reach, centre + reach
    least = floor_ratio * abs(centre)
    low, high = min(low, centre - least), max(high, centre + least)
    return Band(
        None if side == "upper" else low, None if side == "lower" else high,
        method, len(values), level,
    )  # fmt: skip


def _extremes(ordered: Sequence[float], tail: float) -> tuple[float, float]:
    """The innermost values beyond which a further one is with no more than this chance."""
    place = math.floor(tail * (len(ordered) + 1) * (1 + 1e-9))
    return ordered[place - 1], ordered[-place]


def _prediction(values: Sequence[float], tail: float) -> float:
    """How far from the mean a further value is expected: t s sqrt(1 + 1/n)."""
    spread = float(np.std(values, ddof=1))
    return student_t_quantile(1 - tail, len(values) - 1) * spread * math.sqrt(1 + 1 / len(values))


@lru_cache(maxsize=1024)
def student_t_quantile(chance: float, freedom: int) -> float:
    """The value that Student's t stays below with this chance, of one half at least."""
    low, high = 0.0, 1.0
    while _student_t_chance(high, freedom) < chance:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_t_chance(middle, freedom) < chance else (low, middle)
    return high


def _student_t_chance(value: float, freedom: int) -> float:
    """The chance of Student's t to stay below a value that is not negative.

    The finite sums of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = math.atan(value / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for k in range(1 + odd, freedom - 1, 2):
        term *= square * k / (k + 1)
        total += term
    if odd:
        inside = 2 / math.pi * (angle + (math.sin(angle) * total if freedom > 1 else 0.0))
    else:
        inside = math.sin(angle) * total
    return (1 + inside) / 2
