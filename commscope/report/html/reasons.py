"""Why a number is not shown: a rule of trust withholds it, or it is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from commscope.findings.model import OUTSIDE, WHOLE, Check, Metric, Trust

Row = dict[str, Any]
Why = Callable[[Row], "Check | None"]


def unknown(row: Row) -> Check | None:  # noqa: ARG001 - a reason like the others
    """No rule: the number is not known."""
    return None


class Reasons:
    """The rules of trust that withhold numbers, by what they withhold."""

    def __init__(self, trust: Trust) -> None:
        self._all = [(withheld, check) for check in trust.checks for withheld in check.withheld]

    def in_steps(self, metric: Metric) -> Why:
        """For rows of a rank's step."""
        return lambda row: self._at(metric, row["rank"], _step(row["step"]))

    def in_ranks(self, metric: Metric) -> Why:
        """For rows of a rank over its whole trace."""
        return lambda row: self._at(metric, row["rank"], WHOLE)

    def anywhere(self, metric: Metric) -> Why:
        """For sums over ranks."""
        found = self.first(metric)
        return lambda row: found  # noqa: ARG005

    def first(self, *metrics: Metric) -> Check | None:
        """The first rule that withholds such numbers of any rank."""
        return next((check for w, check in self._all if w.metric in metrics), None)

    def _at(self, metric: Metric, rank: int, step: int) -> Check | None:
        for withheld, check in self._all:
            is_here = withheld.rank in (None, rank) and withheld.step in (None, step)
            if withheld.metric == metric and is_here:
                return check
        return None


def _step(step: int | None) -> int:
    return OUTSIDE if step is None else step
