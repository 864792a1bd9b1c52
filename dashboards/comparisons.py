"""Comparisons of the runs that are open, each made when it is asked for first."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from commscope.compare.build import compare_runs
from commscope.compare.model import Comparison
from commscope.compare.scope import Examined


class Comparisons:
    """Any two of several runs. It keeps their analyses, which one run alone does not need."""

    def __init__(self, runs: Sequence[Examined]) -> None:
        self._runs = tuple(runs)
        self._made: dict[tuple[int, int], Comparison] = {}
        self._lock = Lock()

    def of(self, base: int, new: int) -> Comparison:
        """The comparison of two runs by their numbers."""
        with self._lock:
            if (base, new) not in self._made:
                self._made[base, new] = compare_runs([self._runs[base]], [self._runs[new]])
            return self._made[base, new]
