"""Recordings that begin and end in the middle of a job, elsewhere on every rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from commscope.generator.schedule import Communication, ScheduleError
from commscope.generator.simulation import RankRun, Simulation


@dataclass(frozen=True, slots=True)
class Cut:
    """Of one rank: from its operation ``first`` on, and without ``end`` and what follows it.

    Operations are its collectives and messages in the order in which they began, from 0; null:
    to the end.
    """

    first: int = 0
    end: int | None = None


def cut(simulation: Simulation, cuts: Mapping[int, Cut]) -> Simulation:
    """The simulation as recordings that were cut would show it, by rank.

    An activity that begins outside is missing with its launch; calls and steps of the host stay.
    Raises ScheduleError where a rank has no such operation.
    """
    ranks = tuple(
        _cut_rank(rank, run, cuts[rank]) if rank in cuts else run
        for rank, run in enumerate(simulation.ranks)
    )
    return replace(simulation, ranks=ranks)


def _cut_rank(rank: int, run: RankRun, wanted: Cut) -> RankRun:
    starts = sorted(a.start_ns for a in run.activities if isinstance(a.operation, Communication))
    end = len(starts) if wanted.end is None else wanted.end
    if not 0 <= wanted.first < end <= len(starts):
        raise ScheduleError(f"rank {rank}: no operations {wanted.first} to {end} of {len(starts)}")
    begin_ns = starts[wanted.first] if wanted.first else None
    end_ns = starts[end] if end < len(starts) else None
    kept = tuple(
        a
        for a in run.activities
        if (begin_ns is None or a.start_ns >= begin_ns) and (end_ns is None or a.start_ns < end_ns)
    )
    return replace(run, activities=kept)
