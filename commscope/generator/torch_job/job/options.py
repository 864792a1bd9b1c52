"""What a torch job is told, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Late:
    """A rank that is late, in one step or in all: its host, device or input."""

    rank: int
    delay_us: int
    step: int | None
    where: str


@dataclass(frozen=True)
class JobOptions:
    """The job: how it is parallel, its model, and what disturbs it.

    A layer has two matrices of ``width * 4 width``; a rank computes ``tokens`` rows of ``width`` a
    step, or a micro-step. Ranks meet in the file ``meet``, and write into the folder ``out``.
    """

    strategy: str
    backend: str
    out: str
    meet: str
    timeout_s: int
    layers: int
    width: int
    tokens: int
    dtype: str
    bucket_bytes: int
    steps: int
    warmup: int
    accum: int = 1
    no_sync: bool = True
    prefetch: int = 1
    microbatches: int = 4
    hot_percent: int = 100
    host_gap_us: int = 0
    loop_sync: bool = False
    read_loss: bool = True
    seed: int = 0
    late: tuple[Late, ...] = ()
    profiled: tuple[int, ...] = ()

    def to_json(self) -> str:
        """The options as text."""
        return json.dumps(asdict(self), indent=1)


def read_options(path: str) -> JobOptions:
    """The options of a file."""
    given = json.loads(Path(path).read_text(encoding="utf-8"))
    late = tuple(Late(**each) for each in given.pop("late"))
    return JobOptions(**{**given, "late": late, "profiled": tuple(given["profiled"])})
