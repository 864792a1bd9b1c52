"""Which steps of a job are recorded, which are only timed, and when the profiler warms up."""

from __future__ import annotations

from dataclasses import dataclass

#: Steps that are timed without the profiler, and the fewest worth it before the warm-up.
_TIMED = 5
_FEWEST = 3
#: Steps after the trace that still pay for it: the one in which it is written, and the next.
_AFTERMATH = 2


@dataclass(frozen=True)
class Plan:
    """The first and the last step asked for, counted from 0, and the steps of warm-up before."""

    first: int
    last: int
    warmup: int

    @property
    def prepare(self) -> int:
        """The step in which the profiler is switched on but keeps nothing."""
        return max(self.first - self.warmup, 0)

    @property
    def closing(self) -> int:
        """One step more than asked for is recorded: its begin is where the last one ends."""
        return self.last + 1

    @property
    def timed(self) -> range:
        """Steps timed without the profiler: before it, never the first, or else after it."""
        before = range(max(self.prepare - _TIMED, 1), self.prepare)
        begin = self.closing + _AFTERMATH
        return before if len(before) >= _FEWEST else range(begin, begin + _TIMED)
