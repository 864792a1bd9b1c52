"""Which steps the user wants to see."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from commscope.columns import Bool, Int64
from commscope.errors import UsageError

_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")


@dataclass(frozen=True, slots=True)
class StepSelection:
    """Ranges of step numbers (all if empty), after leaving out the first few of each rank."""

    ranges: tuple[tuple[int, int], ...] = ()
    skip_first: int = 0

    @classmethod
    def parse(cls, text: str | None, skip_first: int = 0) -> StepSelection:
        """Reads ``3-7,9``; raises UsageError on anything else."""
        ranges = []
        for word in text.split(",") if text is not None else []:
            found = _RANGE.fullmatch(word.strip())
            if not found or int(found[2] or found[1]) < int(found[1]):
                raise UsageError(f"--steps {text}: write step numbers and ranges such as 3-7,9")
            ranges.append((int(found[1]), int(found[2] or found[1])))
        return cls(tuple(ranges), skip_first)

    @property
    def is_active(self) -> bool:
        """Whether the user chose any."""
        return bool(self.ranges or self.skip_first)

    def chosen(self, numbers: Int64) -> Bool:
        """Which of one rank's steps, in order, are wanted."""
        wanted = np.arange(len(numbers)) >= self.skip_first
        if not self.ranges:
            return wanted
        inside = np.zeros(len(numbers), np.bool_)
        for first, last in self.ranges:
            inside |= (numbers >= first) & (numbers <= last)
        return wanted & inside

    def __str__(self) -> str:
        ranges = ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in self.ranges)
        steps = f"--steps {ranges}" if ranges else ""
        skip = f"--skip-first {self.skip_first}" if self.skip_first else ""
        return " ".join(filter(None, (steps, skip)))
