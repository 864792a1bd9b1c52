"""Whether a difference is more than noise, and what noise between runs allows.

Two runs are compared by their steps, taken in blocks that are as good as independent
(``independence``), by ranks (``rank_test``). Steps of one run share its luck, such as where it was
placed and how warm the machine was; with several independent runs a side the runs are the units,
each with the mean of its steps. Below five units a side nothing is judged: five against five is
also the least with which the smallest p-value, 2/252, passes Holm's correction for six metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from commscope.compare.independence import LEAST_TO_CHECK, block_length, block_means
from commscope.compare.noise_band import Band, noise_band
from commscope.compare.rank_test import Float64, Shift, rank_p_value, shift_between
from commscope.wording import counted

__all__ = [
    "LEAST_UNITS",
    "LEVEL",
    "Band",
    "Judgement",
    "Shift",
    "Units",
    "holm",
    "judge",
    "noise_band",
    "units_of",
]

Verdict = Literal["significant", "not_significant", "cannot_judge"]

LEAST_UNITS = 5
#: A difference that chance makes this often, over all metrics together, is not significant.
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Units:
    """What is compared with what: steps, blocks of steps, or runs; and how many a side."""

    kind: Literal["steps", "blocks", "runs"]
    base: int
    new: int
    steps_in_block: int = 1

    @property
    def suffice(self) -> bool:
        """Whether there are enough of them to judge by."""
        return min(self.base, self.new) >= LEAST_UNITS

    def __str__(self) -> str:
        if self.kind == "blocks":
            return f"{self.base} blocks of {self.steps_in_block} steps against {self.new}"
        return f"{counted(self.base, self.kind[:-1])} against {self.new}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """How sure a difference is; numbers are null where there are too few units to tell.

    ``p_value`` is of the two-sided rank test, ``adjusted_p_value`` after Holm's correction for all
    metrics that were judged together. The shift is in the unit of the values.
    """

    verdict: Verdict
    units: Units
    p_value: float | None = None
    adjusted_p_value: float | None = None
    shift: Shift | None = None

    @property
    def is_significant(self) -> bool:
        """Whether it is more than noise."""
        return self.verdict == "significant"


def units_of(base: Sequence[Float64], new: Sequence[Float64]) -> tuple[Units, Float64, Float64]:
    """The units of runs, each given by the values of its steps in order, and their values."""
    if len(base) > 1 or len(new) > 1:
        means = [np.array([run.mean() for run in side if len(run)]) for side in (base, new)]
        return Units("runs", len(means[0]), len(means[1])), means[0], means[1]
    length = block_length([*base, *new])
    blocks = [
        np.concatenate([block_means(run, length) for run in side] or [np.empty(0)])
        for side in (base, new)
    ]
    kind: Literal["steps", "blocks"] = "steps" if length == 1 else "blocks"
    return Units(kind, len(blocks[0]), len(blocks[1]), length), blocks[0], blocks[1]


def judge(
    metrics: Mapping[str, tuple[Sequence[Float64], Sequence[Float64]]], level: float = LEVEL
) -> dict[str, Judgement]:
    """Judges metrics together: each with the runs of the base and the new ones, step by step."""
    found = {name: _alone(*units_of(base, new)) for name, (base, new) in metrics.items()}
    known = {name: one.p_value for name, one in found.items() if one.p_value is not None}
    for name, adjusted in holm(known).items():
        verdict: Verdict = "significant" if adjusted <= level else "not_significant"
        found[name] = replace(found[name], verdict=verdict, adjusted_p_value=adjusted)
    return found


def _alone(units: Units, base: Float64, new: Float64) -> Judgement:
    if not units.suffice:
        return Judgement("cannot_judge", units)
    p_value = rank_p_value(base, new)
    return Judgement("not_significant", units, p_value, None, shift_between(base, new))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """p-values that hold for all of them together: Holm, Scand. J. Statist. 6 (1979) 65."""
    adjusted, highest = {}, 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        highest = max(highest, min((len(p_values) - place) * p_values[name], 1.0))
        adjusted[name] = highest
    return adjusted


def judged_by(units: Units, steps: int) -> str:
    """A sentence on what a judgement rests on; ``steps`` is how many the shorter run has."""
    if units.kind == "runs":
        return "Judged by runs, which are independent: steps of one run share its luck."
    says = "Judged by steps of one run a side: another start of the same job may differ by more."
    if units.kind == "blocks":
        says += f" Steps are alike for a while, so blocks of {units.steps_in_block} were compared."
    elif steps < LEAST_TO_CHECK:
        says += " So few steps do not show whether neighbours are alike."
    return says
