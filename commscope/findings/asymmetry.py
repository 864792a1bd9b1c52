"""The rule on what one rank lacks and the others have (Q2)."""

from __future__ import annotations

import numpy as np

from commscope.analysis.percentiles import group_percentile
from commscope.analysis.result import Analysis
from commscope.columns import NONE, Int64, int64
from commscope.findings.completeness import withhold_kernels
from commscope.findings.lost_streams import lost_streams
from commscope.findings.model import Check, Result
from commscope.wording import counted

#: By how much a rank may fall short of the others' kernels in a step.
MAX_SHORTFALL = 0.20
_SHOWN = 4
_UNKNOWN = int(np.iinfo(np.int64).max)  #: sorts behind all counts


def check_asymmetry(analysis: Analysis) -> Check:
    """Q2: does one rank lack what the others have?"""
    title = "Ranks recorded alike"
    ranks = len(analysis.counts)
    if ranks < 2:
        return Check("Q2", title, Result.NOT_CHECKED, "one rank only")
    lacking = _lacking_kinds(analysis.counts)
    lost = lost_streams(analysis)
    says = [f"rank {rank} has no {kind} kernels, which other ranks have" for rank, kind in lacking]
    says += [
        f"rank {one.rank} has {one.kind} kernels on {counted(one.has, 'stream')}, the other ranks "
        f"on {one.others} or more"
        for one in lost
    ]
    says += _fewer_in_steps(analysis)
    if not says:
        return Check("Q2", title, Result.PASS, f"all {ranks} ranks have the same kinds of kernels")
    more = f"; and {len(says) - _SHOWN} more" if len(says) > _SHOWN else ""
    blind = sorted({rank for rank, _ in lacking} | {one.rank for one in lost})
    return Check(
        "Q2", title, Result.FAIL, "; ".join(says[:_SHOWN]) + more,
        withhold_kernels((rank, None) for rank in blind),
    )  # fmt: skip


def _lacking_kinds(counts: dict[int, dict[str, int]]) -> list[tuple[int, str]]:
    """(Rank, kind of kernel) of what was surely not recorded: see ROCm/rocm-systems issue 1327."""
    kinds = {
        "compute": {rank: count["compute"] for rank, count in counts.items()},
        "communication": {rank: count["collectives"] for rank, count in counts.items()},
    }
    return [
        (rank, kind)
        for kind, by_rank in kinds.items()
        for rank, count in by_rank.items()
        if not count and any(by_rank.values())
    ]


def _fewer_in_steps(analysis: Analysis) -> list[str]:
    """What is said of ranks that have far fewer kernels in a closed step than the others there."""
    ranks = int64(analysis.ranks, "rank")
    steps, kernels = _by_step(analysis, ranks)
    says = []
    for index, rank in enumerate(ranks):
        mine, others = kernels[:, index], np.delete(kernels, index, axis=1)
        told = np.flatnonzero((mine != _UNKNOWN) & (others != _UNKNOWN).any(axis=1))
        mine, usual = mine[told], _median(others[told])
        short = np.flatnonzero(mine < (1 - MAX_SHORTFALL) * usual)
        if len(short):
            worst = short[np.argmin(mine[short] / usual[short])]
            more = f" (and fewer in {counted(len(short) - 1, 'other step')})" * (len(short) > 1)
            has = f"{counted(int(mine[worst]), 'kernel')} in step {steps[told[worst]]}"
            says.append(f"rank {rank} has {has}, the others {usual[worst]:,}{more}")
    return says


def _by_step(analysis: Analysis, ranks: Int64) -> tuple[Int64, Int64]:
    """(Numbers of the steps, kernels by step and rank): unknown where it is open or not there."""
    table = analysis.steps
    is_open = np.asarray(table.column("open").to_numpy(zero_copy_only=False), np.bool_)
    told = np.flatnonzero(~is_open | (int64(table, "start_ns") == NONE))
    steps, place = np.unique(int64(table, "step"), return_inverse=True)
    kernels = np.full((len(steps), len(ranks)), _UNKNOWN)
    index = np.searchsorted(ranks, int64(table, "rank")[told])
    kernels[place.reshape(-1)[told], index] = int64(table, "kernels")[told]
    return steps, kernels


def _median(rows: Int64) -> Int64:
    """The median of what is known in each row: at least one number."""
    ordered = np.sort(rows, axis=1)
    first = np.arange(rows.shape[0]) * rows.shape[1]
    return group_percentile(ordered.reshape(-1), first, (ordered != _UNKNOWN).sum(axis=1), 50)
