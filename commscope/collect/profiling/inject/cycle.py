"""Tells from the calls of optimizers where the steps of a job end.

The optimizer that is called first leads: its calls count the steps. Others that are called
between two of its calls (a GAN's second one, Muon next to AdamW), and further calls of its own
with no forward pass before them (DeepSpeed, once a group of parameters), belong to the same step.
How many calls a step has is learnt from the steps before, so that the step ends after the last.
"""

from __future__ import annotations

import weakref
from typing import Any

#: Calls of others, each with a forward pass of its own, after which the leader is taken to be gone.
_PATIENCE = 16


class Cycle:
    """Counts the steps of one process."""

    def __init__(self) -> None:
        self._leader: weakref.ref[Any] | None = None
        self._step = 0
        self._calls = 0
        self._expected: int | None = None
        self._without_leader = 0

    def called(self, optimizer: Any, *, after_forward: bool) -> int | None:
        """An optimizer has been called; the number of the step that begins now, if one does."""
        self._without_leader += after_forward
        if after_forward and self._leads(optimizer):
            self._without_leader = 0
            self._begin()
        self._calls += 1
        return self._step + 1 if self._calls == (self._expected or 1) else None

    def _leads(self, optimizer: Any) -> bool:
        leader = None if self._leader is None else self._leader()
        if leader is None or self._without_leader > _PATIENCE:
            self._leader = weakref.ref(optimizer)
        return self._leader is not None and self._leader() is optimizer

    def _begin(self) -> None:
        """The first call of a step: what the step before has shown is learnt."""
        if self._calls:
            self._expected = min(self._calls, self._expected or self._calls)
            self._step += 1
        self._calls = 0
