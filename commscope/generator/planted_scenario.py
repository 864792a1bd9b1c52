"""What a scenario gives: the job with its cause, and the same job without it."""

from __future__ import annotations

from dataclasses import dataclass

from commscope.generator.kineto_style import Vendor
from commscope.generator.planted_shape import Setup


@dataclass(frozen=True, slots=True)
class Scenario:
    """``rank`` is to blame, for what it ``did``; both are empty where no rank differs.

    ``path`` leads from the rank that is late last to the one that was late first. ``vendor`` is
    given where the cause is one of its own.
    """

    planted: Setup
    healthy: Setup
    rank: int | None = None
    did: str = ""
    path: tuple[int, ...] = ()
    vendor: Vendor | None = None
