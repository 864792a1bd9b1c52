"""Comparisons of runs in folders, through the whole program."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import commscope
from commscope.compare.build import compare_runs, examine
from commscope.compare.model import Cause, Comparison
from commscope.compare.scope import Examined
from commscope.generator import Job, Model, scenarios, simulate, write_traces


@cache
def run_of(path: Path) -> Examined:
    return examine(str(path), commscope.load(path))


def comparison(base: Path | Sequence[Path], new: Path | Sequence[Path]) -> Comparison:
    sides = ([side] if isinstance(side, Path) else side for side in (base, new))
    return compare_runs(*([run_of(path) for path in side] for side in sides))


def cause(found: Comparison, name: str) -> Cause:
    return next(cause for cause in found.causes or () if cause.name == name)


def write_ddp(
    folder: Path, *, seed: int, percent: int = 100, steps: int = 21, ranks: int = 2
) -> Path:
    """A small data-parallel job whose kernels vary by a few percent and take so much of normal."""
    model = Model(2, 1 << 20, 4_000 * percent, 8_000 * percent, 3_000 * percent)
    job = Job(ranks=ranks, steps=steps, jitter_ns=40_000, seed=seed)
    write_traces(simulate(scenarios.ddp(job, model)), folder)
    return folder
