"""Annotations of a host, and the steps that they may mark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.classify import Expression
from commscope.columns import Int64, codes, int64, where_equal
from commscope.intervals import union
from commscope.normalize.steps import HostSteps
from commscope.trace import StepSource

_DIGITS = re.compile(r"\d+")
#: Annotations that overlap by no more than this follow each other: their ends are rounded.
_ROUNDING_NS = 1_000


@dataclass(frozen=True, slots=True)
class Annotations:
    """Annotations of the host in order of start; ``words[name[i]]`` is the name of row i."""

    name: Int64
    words: list[str]
    starts: Int64
    ends: Int64

    def take(self, rows: Int64) -> Annotations:
        """Some of them."""
        return Annotations(self.name[rows], self.words, self.starts[rows], self.ends[rows])

    def names(self) -> tuple[str, ...]:
        """The name of each row."""
        return tuple(self.words[code] for code in self.name.tolist())

    def fitting(self, pattern: Expression) -> Annotations:
        """The outermost ones whose name has the pattern in it."""
        fits = np.array([bool(pattern.search(word)) for word in self.words] + [False])
        return self.outermost(np.flatnonzero(fits[self.name]))

    def outermost(self, rows: Int64) -> Annotations:
        """Some of them, without those that begin inside an earlier one of them.

        Those are parts of a step that its name fits too, or another thread's record of it.
        """
        chosen = self.take(rows)
        rounding = np.minimum((chosen.ends - chosen.starts) // 2, _ROUNDING_NS)
        reach = np.maximum.accumulate(chosen.ends - rounding)
        first = np.append(True, chosen.starts[1:] >= reach[:-1])[: len(rows)]
        return chosen.take(np.flatnonzero(first))


def annotations_of(host: pa.Table) -> Annotations:
    """All annotations of a host."""
    rows = np.flatnonzero(where_equal(host, "kind", "annotation"))
    starts, (names, words) = int64(host, "start_ns"), codes(host, "name")
    rows = rows[np.argsort(starts[rows], kind="stable")]
    return Annotations(names[rows], words, starts[rows], starts[rows] + int64(host, "dur_ns")[rows])


def without_digits(name: str) -> str:
    """A name in which each number is a ``#``."""
    return _DIGITS.sub("#", name)


def launches_of(host: pa.Table) -> Int64:
    """The times of all launches, in order."""
    return np.sort(int64(host, "start_ns")[where_equal(host, "kind", "launch")])


def share_inside(steps: Annotations, times: Int64) -> float:
    """Share of the (sorted) times that lie inside any of the annotations."""
    if not len(times):
        return 0.0
    covered = union(steps.starts, steps.ends)
    inside = np.searchsorted(times, covered.ends) - np.searchsorted(times, covered.starts)
    return float(inside.sum() / len(times))


def beginning_at(
    names: Sequence[str], begins: Int64, end: int, source: StepSource, *, on_device: bool = False
) -> HostSteps:
    """Steps that each begin at a time and end where the next begins."""
    ends = np.append(begins[1:], max(end, int(begins[-1]) + 1))
    follows = np.append(np.ones(len(begins) - 1, np.bool_), False)
    numbers = np.arange(len(begins))
    return HostSteps(numbers, tuple(names), begins, ends, follows, source, on_device)
