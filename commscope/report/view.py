"""Which ranks and roles the tables of collectives, stragglers and waiting are to show."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.analysis.result import Analysis
from commscope.columns import Bool, int64
from commscope.errors import UsageError


@dataclass(frozen=True, slots=True)
class View:
    """The ranks and roles to show; nothing: all. Collectives are matched over all ranks anyway."""

    ranks: frozenset[int] = frozenset()
    roles: frozenset[str] = frozenset()

    def require(self, analysis: Analysis) -> None:
        """Raises UsageError where the trace has no such rank or role."""
        _require("rank", self.ranks, analysis.timeline.ranks.tolist())
        _require("role", self.roles, {role for role in analysis.across.roles if role})

    def is_shown_role(self, role: str | None) -> bool:
        """Whether communicators of a role are shown."""
        return not self.roles or role in self.roles

    def has_rank(self, table: pa.Table, column: str) -> Bool:
        """Which rows are of a rank that is shown."""
        rank = int64(table, column)
        return np.isin(rank, list(self.ranks)) if self.ranks else np.ones(len(rank), np.bool_)

    def has_role(self, analysis: Analysis, table: pa.Table) -> Bool:
        """Which rows are of a communicator (an index) whose role is shown."""
        communicator = int64(table, "communicator")
        if not self.roles:
            return np.ones(len(communicator), np.bool_)
        return analysis.across.has_role(communicator, *self.roles)


def _require(what: str, wanted: Collection[int | str], there: Collection[int | str]) -> None:
    missing = sorted(set(wanted) - set(there))
    if missing:
        names = ", ".join(map(str, sorted(there))) or "none"
        raise UsageError(f"no {what} {missing[0]}: the trace has {names}")


EVERYTHING = View()
