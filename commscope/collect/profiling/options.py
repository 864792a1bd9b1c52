"""What to profile, as the command line says it."""

from __future__ import annotations

import re
from dataclasses import dataclass

KINDS = ("none", "kineto", "rocprofv3")
#: The first of them costs what switching the profiler on costs; more fill buffers on ROCm.
WARMUP = 2
_MOST_RANKS = 1 << 20


@dataclass(frozen=True)
class ProfileOptions:
    """Which profiler, which steps (first and last, counted from 0) and which ranks (None: all).

    ``marker``: a regular expression; each range of the job whose name matches begins a step. None:
    the optimizer ends a step. Raises ValueError for what makes no sense.
    """

    kind: str = "none"
    steps: tuple[int, int] = (10, 12)
    ranks: frozenset[int] | None = None
    marker: str | None = None
    warmup: int = WARMUP

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"profiler {self.kind!r}: give one of {', '.join(KINDS)}")
        if not _are_steps(self.steps):
            raise ValueError(f"steps {self.steps}: give the first and the last, as (10, 12)")
        if self.ranks is not None and min(self.ranks, default=0) < 0:
            raise ValueError(f"rank {min(self.ranks)}: ranks are counted from 0")
        if self.warmup < 0:
            raise ValueError(f"warm-up of {self.warmup} steps: give 0 or more")
        if self.marker is not None:
            _check_expression(self.marker)


def _are_steps(given: object) -> bool:
    """Whether somebody who writes Python has given what the type says."""
    if not isinstance(given, (tuple, list)) or [type(it) for it in given] != [int, int]:
        return False
    first, last = given
    return bool(0 <= first <= last)


def parse_steps(text: str) -> tuple[int, int]:
    """The first and the last step of ``10-12`` or ``10``; raises ValueError."""
    found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text.strip(), re.ASCII)
    if found is None:
        raise ValueError(f"{text}: give first-last, counted from 0, as in 10-12")
    first, last = int(found[1]), int(found[2] or found[1])
    if first > last:
        raise ValueError(f"{text}: the first step comes after the last")
    return first, last


def parse_ranks(text: str) -> frozenset[int]:
    """The ranks of ``0,8-15``; raises ValueError."""
    ranks: set[int] = set()
    for part in text.split(","):
        try:
            first, last = parse_steps(part)
        except ValueError:
            raise ValueError(f"{text}: give ranks and ranges of them, as in 0,8-15") from None
        if last >= _MOST_RANKS:
            raise ValueError(f"{text}: no job has a rank {last}")
        ranks.update(range(first, last + 1))
    return frozenset(ranks)


def _check_expression(text: str) -> None:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"marker {text}: not a regular expression ({error})") from None
