"""Runs as the app serves them, each made once in a session."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from support import ROOT, case

import commscope
from commscope.analysis.result import Analysis, analyse
from commscope.dashboards.data import RunView
from commscope.generator import Clock, Job, Model, Simulation, Straggler, simulate, write_traces
from commscope.generator.pipelines import Grid, tp_dp_pp
from commscope.report.build import report_of

SECOND = 10**9
STRAGGLER = ROOT / "sample_traces" / "ddp_straggler"
#: Clocks of the hosts of a simulated job, wrong by seconds and by up to 20 ppm.
CLOCKS = {
    "host1": Clock(3 * SECOND + 123_457, 20_000),
    "host2": Clock(-7 * SECOND - 999, -20_000),
    "host3": Clock(5 * SECOND, 10_000),
}


@dataclass(frozen=True)
class Shown:
    """A run with the analysis that its view was made of."""

    analysis: Analysis
    view: RunView


def shown(folder: Path, name: str = "a run") -> Shown:
    analysis = analyse(commscope.load(folder))
    return Shown(analysis, RunView.of(analysis, report_of(analysis), name))


@cache
def straggler() -> Shown:
    """Two ranks on one host, of which rank 1 comes late."""
    return shown(STRAGGLER)


@cache
def real(path: str) -> Shown:
    return shown(case(path))


@cache
def simulated(ranks: int = 8, per_host: int = 2, steps: int = 4) -> Shown:
    """Tensor, data and pipeline parallel ranks on several hosts, whose clocks differ."""
    late = (Straggler(3, 2_000_000, 1),)
    job = Job(
        ranks=ranks, steps=steps, ranks_per_host=per_host, jitter_ns=60_000, seed=3,
        stragglers=late,
    )  # fmt: skip
    simulation: Simulation = simulate(
        tp_dp_pp(job, Model(layers=2), Grid(dp=ranks // 4), microbatches=2)
    )
    with tempfile.TemporaryDirectory() as folder:
        write_traces(simulation, Path(folder), clocks=CLOCKS)
        return shown(Path(folder))
