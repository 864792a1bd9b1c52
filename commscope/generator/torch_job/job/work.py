"""A step of a job, and what it communicates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

#: By operation, how many there are in a step, and their bytes together.
Counts = dict[str, tuple[int, int]]


def no_counts() -> Counts:
    """Not known."""
    return {}


@dataclass(frozen=True)
class Work:
    """``step`` computes, communicates and optimises once, and gives the loss, if this rank has it.

    ``counts`` tells what was communicated, as far as that is known without looking.
    """

    step: Callable[[], Tensor | None]
    counts: Callable[[], Counts] = field(default=no_counts)


Make = Callable[[Any, Any], Work]
