"""What the user may say about a trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from commscope.classify import NO_PATTERNS, Expression, Patterns
from commscope.normalize.selection import StepSelection


@dataclass(frozen=True, slots=True)
class Options:
    """What the user may say about a trace; the defaults find everything by themselves."""

    patterns: Patterns = NO_PATTERNS
    ranks: Mapping[int, str] = field(default_factory=dict)  #: rank -> file
    capture: int | str | None = None  #: number from 0, "all", or the newest complete one
    step_marker: Expression | None = None  #: each annotation that fits begins a step
    steps: StepSelection = field(default_factory=StepSelection)
