"""The time of a step without the profiler, for the report to state what the profiler adds."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any


class StepTimes:
    """Takes the instants at which some steps begin, and writes the median once they are over."""

    def __init__(
        self, steps: range, clock: Callable[[], Any], write: Callable[[float], object]
    ) -> None:
        self._steps, self._make_clock, self._write = steps, clock, write
        self._clock: Any = None
        self._instants: list[tuple[int, Any]] = []
        self._is_over = not steps

    def begin_step(self, step: int) -> None:
        """A step begins; where numbers were left out, the interval counts for several steps."""
        if self._is_over or step < self._steps.start:
            return
        if self._clock is None:
            self._clock = self._make_clock()
        self._instants.append((step, self._clock.now()))
        if step >= self._steps.stop:
            self._finish()

    def _finish(self) -> None:
        self._is_over = True
        numbers = [step for step, _ in self._instants]
        times = self._clock.between_ms([instant for _, instant in self._instants])
        pairs = zip(numbers, numbers[1:])  # noqa: RUF007 - Python 3.9 has no pairwise
        counts = [after - before for before, after in pairs]
        self._instants = []
        if times:
            self._write(statistics.median(time / count for time, count in zip(times, counts)))


def append_step_time(log: Path, rank: int, milliseconds: float) -> None:
    """Adds a line to the log that the ranks of a node share.

    Raises OSError where it cannot be written.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        line = f'{{"rank": {rank}, "unprofiled_step_ms": {milliseconds:.6f}}}\n'
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
