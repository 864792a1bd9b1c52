"""The settings that the launcher leaves in the environment of the job."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .plan import Plan

KINETO = "kineto"
SETTINGS = "COMMSCOPE_PROFILE"
TRACES = "COMMSCOPE_TRACES_DIR"
STEP_TIMES = "unprofiled.log"


@dataclass(frozen=True)
class Settings:
    """What to record. ``ranks`` None: all; ``marker`` None: the optimizer ends a step.

    ``command`` is how the command of rocprofv3 begins; it is empty for Kineto. ``log`` takes the
    step times without the profiler. ``is_shared``: other processes of this job may have written
    traces there, which stay; others give way.
    """

    kind: str
    plan: Plan
    ranks: frozenset[int] | None
    marker: re.Pattern[str] | None
    command: tuple[str, ...]
    traces: Path
    log: Path
    is_shared: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Settings:
        """Reads them; raises KeyError and ValueError where something is missing or broken."""
        given = json.loads(environment[SETTINGS])
        ranks, marker, traces = given["ranks"], given["marker"], Path(environment[TRACES])
        return cls(
            kind=given["kind"],
            plan=Plan(given["first"], given["last"], given["warmup"]),
            ranks=None if ranks is None else frozenset(ranks),
            marker=None if marker is None else re.compile(marker),
            command=tuple(given["command"]),
            traces=traces,
            log=traces.parent / STEP_TIMES,
            is_shared=True,
        )

    def wants(self, rank: int) -> bool:
        """Whether the rank is one of those to profile."""
        return self.ranks is None or rank in self.ranks

    @property
    def speaker(self) -> int:
        """The rank that says what holds for all of them, so that it is said once."""
        return 0 if self.ranks is None else min(self.ranks, default=0)
