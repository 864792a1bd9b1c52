"""Records the planned steps of one rank.

Steps are told from outside by their numbers, and the ranges ``ProfilerStep#N`` in the trace have
the same numbers. One step more than planned is recorded: only its begin ends the last one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .capture import Capture, in_progress
from .packing import Place, pack, trace_of
from .plan import Plan
from .telling import shielded, tell

#: How long the exit of a process waits for a device that is still busy.
_PATIENCE_S = 5.0


class Recorder:
    """One trace of one rank, written to ``rankR.pt.trace.json.gz`` in the folder."""

    def __init__(
        self,
        plan: Plan,
        rank: int,
        folder: Path,
        capture: Callable[..., Any] = Capture,
        place: Place = os.replace,
    ) -> None:
        self._place = place
        self._plan, self._rank, self._make = plan, rank, capture
        self._target = trace_of(folder, rank)
        self._thread = threading.get_ident()
        self._capture: Any = None
        self._recorded: list[int] = []
        self._step = -1
        self._is_done = False
        self._packing: threading.Thread | None = None

    @property
    def is_recording(self) -> bool:
        """Whether there is something recorded that is in no file yet."""
        is_packing = self._packing is not None and self._packing.is_alive()
        return is_packing or (bool(self._recorded) and not self._is_done)

    def begin_step(self, step: int) -> None:
        """A step begins, and the one before ends."""
        if self._is_done or threading.get_ident() != self._thread:
            return
        self._step = step
        if self._capture is not None:
            self._capture.end_step()
        if step > self._plan.closing and self._recorded:
            self._packing = threading.Thread(target=shielded(pack, _leave), args=self._taken())
            self._packing.start()
        elif step > self._plan.last and not self._recorded:
            self._give_up(f"the first step that could be recorded is {step}")
        else:
            self._record(step)

    def finish(self) -> str | None:
        """The job ends: writes what there is, and says what is missing, if anything."""
        if self._packing is not None:
            self._packing.join()
        if self._is_done:
            return None
        steps = f"the job ended after {max(self._step, 0)} steps"
        if not self._recorded:
            self.abandon()
            return f"no trace: {steps}, and the first asked for is step {self._plan.first}"
        if not self._capture.is_drained(_PATIENCE_S):
            self._is_done = True
            return "no trace: the job ended while it was recorded, and the device is still busy"
        pack(*self._taken())
        begin, end = self._recorded[0], self._recorded[-1]
        return f"{steps}: the trace holds {begin} to {end}, the last of them not to its end"

    def abandon(self) -> None:
        """Ends without a trace."""
        capture, self._capture = self._capture, None
        self._is_done = True
        if capture is not None:
            capture.stop()

    def _record(self, step: int) -> None:
        if self._capture is None and step >= self._plan.prepare:
            if in_progress():
                self._give_up(f"the job's own profiler is on in step {step}")
                return
            self._capture = self._make(self._make_way)
        if self._capture is None or step < self._plan.first:
            return
        if not self._recorded:
            self._capture.start()
            if step > self._plan.first:
                tell(f"rank {self._rank}: the first step that can be recorded is {step}")
        self._recorded.append(step)
        self._capture.begin_step(step)

    def _taken(self) -> tuple[Path, Path, Place]:
        """The trace as it was recorded, where it belongs, and what puts it there."""
        capture, self._capture = self._capture, None
        self._is_done = True
        capture.stop()
        return capture.export(), self._target, self._place

    def _make_way(self) -> None:
        if not self._is_done:
            self._give_up("the job starts a profiler of its own")

    def _give_up(self, why: str) -> None:
        self.abandon()
        tell(f"rank {self._rank}: no trace, for {why}")


def _leave() -> None:
    """A trace that cannot be packed is told of; nothing else depends on it."""
