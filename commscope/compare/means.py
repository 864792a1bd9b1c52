"""Means over the runs of a side, exact, and whole numbers that add up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from commscope.columns import NONE, int64
from commscope.compare.rank_test import Float64
from commscope.compare.scope import Scope

_Key = TypeVar("_Key", bound=Hashable)

#: The parts of a step that add up to it.
PARTS = (
    "compute_ns",
    "exposed_wait_ns",
    "exposed_transfer_ns",
    "exposed_unmatched_ns",
    "exposed_copy_ns",
    "idle_ns",
)
#: The same where it is not known what of exposed communication is waiting.
MERGED = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")


def parts_known(scopes: Sequence[Scope]) -> tuple[str, ...]:
    """The parts that all runs can tell; none where they do not tell what is exposed."""
    for parts in (PARTS, MERGED):
        if all(_tells(scope, parts) for scope in scopes):
            return parts
    return ()


def _tells(scope: Scope, parts: Sequence[str]) -> bool:
    return not any((int64(scope.partitions, name) == NONE).any() for name in parts)


def by_step(scope: Scope, part: str) -> Float64:
    """A part of each step in order: the mean over the ranks."""
    values = int64(scope.partitions, part)
    return np.asarray(values.reshape(-1, len(scope.ranks)).mean(axis=1))


def mean_of(scopes: Sequence[Scope], part: str) -> Fraction:
    """A part of the step: the mean over runs of the mean over their steps and ranks."""
    return sum((_mean(scope, part) for scope in scopes), Fraction(0)) / len(scopes)


def _mean(scope: Scope, part: str) -> Fraction:
    return Fraction(int(int64(scope.partitions, part).sum()), scope.cells)


def mean_ns(scopes: Sequence[Scope], part: str) -> int:
    """As ``mean_of``, to the nearest ns."""
    return round(mean_of(scopes, part))


def by_rank(scopes: Sequence[Scope], part: str) -> list[int]:
    """A part of each rank, to the nearest ns: the mean over runs of the mean over its steps.

    All runs have the same ranks.
    """
    sums = [
        int64(scope.partitions, part).reshape(-1, len(scope.ranks)).sum(axis=0).tolist()
        for scope in scopes
    ]
    steps = [max(len(scope.steps), 1) for scope in scopes]
    means = (
        sum(map(Fraction, of_rank, steps), Fraction(0)) / len(scopes) for of_rank in zip(*sums)
    )
    return [round(mean) for mean in means]


def mean_sums(scopes: Sequence[Scope], sums: Sequence[Counter[_Key]]) -> dict[_Key, Fraction]:
    """Sums of each run as means per step and rank, over all runs."""
    total: dict[_Key, Fraction] = {}
    for scope, of_run in zip(scopes, sums):
        for key, value in of_run.items():
            share = Fraction(value, scope.cells * len(scopes))
            total[key] = total.get(key, Fraction(0)) + share
    return total


def whole_numbers(values: Mapping[_Key, Fraction]) -> dict[_Key, int]:
    """The values rounded so that they add up to their rounded sum, by the largest remainders."""
    low = {key: math.floor(value) for key, value in values.items()}
    missing = round(sum(values.values(), Fraction(0))) - sum(low.values())
    order = sorted(values, key=lambda key: (low[key] - values[key], str(key)))
    for key in order[:missing]:
        low[key] += 1
    return low
