"""Which ranks and steps of the runs can be set against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from commscope.analysis.result import Analysis
from commscope.columns import NONE, Bool, Int64, int64
from commscope.report.model import Report
from commscope.wording import counted, rank_spans


@dataclass(frozen=True, eq=False)
class Examined:
    """A run as it was read: its report, and the analysis below it."""

    name: str
    report: Report
    analysis: Analysis

    @cached_property
    def ranks(self) -> set[int]:
        """The ranks whose traces there are."""
        return set(self.analysis.timeline.ranks.tolist())

    @cached_property
    def contents(self) -> frozenset[str]:
        """The digests of its files, by which it is known again; none where they are not known."""
        return frozenset(file.sha256 for file in self.report.inputs if file.sha256)

    @cached_property
    def world(self) -> int | None:
        """How many ranks the job had, where the traces tell."""
        told = [size for size in self.analysis.trace.ranks.column("world_size").to_pylist() if size]
        return max(told, default=None)


@dataclass(frozen=True, eq=False)
class Scope:
    """A run with the ranks and steps of it that are compared; no steps: the whole trace is."""

    run: Examined
    ranks: tuple[int, ...]
    steps: tuple[int, ...]

    def holds(self, rank: Int64, step: Int64) -> Bool:
        """Which rows, of a rank and a step, are compared."""
        mine = np.isin(rank, self.ranks)
        return mine & np.isin(step, self.steps) if self.steps else mine

    @property
    def cells(self) -> int:
        """How many steps of ranks, or traces of ranks, that are."""
        return len(self.ranks) * max(len(self.steps), 1)

    @cached_property
    def partitions(self) -> pa.Table:
        """The rows of the report's steps, or of its ranks, that are compared: by step and rank."""
        report = self.run.report
        table = report.steps.arrow if self.steps else report.ranks.arrow
        rank = int64(table, "rank")
        step = int64(table, "step") if self.steps else np.zeros(len(rank), np.int64)
        rows = np.flatnonzero(self.holds(rank, step))
        return table.take(pa.array(rows[np.lexsort((rank[rows], step[rows]))]))

    @cached_property
    def windows(self) -> Bool:
        """Which windows of the analysis are compared."""
        analysis = self.run.analysis
        rank = analysis.timeline.ranks[analysis.windows.rank]
        return self.holds(rank, int64(analysis.active_steps, "step"))


@dataclass(frozen=True, slots=True)
class Sides:
    """What is compared of the runs of both sides, and what is not."""

    base: tuple[Scope, ...]
    new: tuple[Scope, ...]
    notes: tuple[str, ...]

    @property
    def every(self) -> tuple[Scope, ...]:
        """All runs, the base first."""
        return (*self.base, *self.new)

    @property
    def has_steps(self) -> bool:
        """Whether steps are compared, and not whole traces."""
        return all(scope.steps for scope in self.every)


def scopes_of(base: Sequence[Examined], new: Sequence[Examined]) -> Sides:
    """Chooses ranks and steps: those ranks that all runs have, and their closed steps.

    Where the number of ranks of the job itself differs, no rank corresponds to another: then each
    run has all of its own.
    """
    runs = [*base, *new]
    ranks, notes = _ranks(runs)
    steps = [_steps(run, of) for run, of in zip(runs, ranks)]
    notes += [note for _, note in steps if note]
    if not all(found for found, _ in steps):
        notes.append(
            "steps: the whole traces are compared, as not every run has a closed step of all "
            "ranks; their length is what was recorded, so it is not judged or explained"
        )
        steps = [((), "") for _ in runs]
    scopes = [Scope(run, of, found) for run, of, (found, _) in zip(runs, ranks, steps)]
    return Sides(tuple(scopes[: len(base)]), tuple(scopes[len(base) :]), tuple(notes))


def _ranks(runs: Sequence[Examined]) -> tuple[list[tuple[int, ...]], list[str]]:
    everything = [tuple(sorted(run.ranks)) for run in runs]
    if len(set(everything)) == 1:
        return everything, []
    common = set.intersection(*(run.ranks for run in runs))
    worlds = {run.world for run in runs if run.world is not None}
    if len(worlds) > 1 or not common:
        note = (
            "ranks: each side is the mean over all its ranks, as the jobs differ in them "
            f"({_counts(everything)}): no rank corresponds to another"
        )
        return everything, [note]
    left_out = sorted(set.union(*(run.ranks for run in runs)) - common)
    note = f"ranks: {rank_spans(left_out)}"
    return [tuple(sorted(common))] * len(runs), [f"{note} left out, as not every run has them"]


def _counts(ranks: Sequence[tuple[int, ...]]) -> str:
    return " and ".join(dict.fromkeys(counted(len(of), "rank") for of in ranks))


def _steps(run: Examined, ranks: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """The closed steps of all these ranks; without those of which numbers are withheld, if any."""
    table = run.report.steps.arrow
    if run.report.summary.step_source == "whole_trace":
        return (), f"{run.name}: its trace shows no steps"
    is_open = np.asarray(table.column("open").to_numpy(zero_copy_only=False), np.bool_)
    closed = np.isin(int64(table, "rank"), ranks) & ~is_open & _is_told(table, "window_ns")
    known = closed & _is_told(table, "exposed_comm_ns") & _is_told(table, "idle_ns")
    every, told = (_common(int64(table, "step")[rows], len(ranks)) for rows in (closed, known))
    if not every:
        return (), f"{run.name}: no step is closed on all of its ranks"
    missing = len(every) - len(told)
    if not told or not missing:
        return every, ""
    return told, f"{run.name}: {counted(missing, 'step')} left out, as numbers of it are withheld"


def _is_told(table: pa.Table, name: str) -> Bool:
    return np.asarray(int64(table, name) != NONE)


def _common(step: Int64, ranks: int) -> tuple[int, ...]:
    """The steps that all ranks have."""
    found, count = np.unique(step, return_counts=True)
    return tuple(found[count == ranks].tolist())
