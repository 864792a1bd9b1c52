"""Which runs of a baseline a run can be judged by, and why one cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commscope._version import DEFINITIONS_VERSION
from commscope.compare.noise_band import LEAST_RUNS
from commscope.gate.measures import GateRun, Setup
from commscope.wording import counted, listed, rank_spans

#: With fewer closed steps the middle of a run is luck.
LEAST_STEPS = 5
#: The mean of so much fewer steps varies so much more that other runs do not tell by how much.
_MOST_MORE_STEPS = 1.25


@dataclass(frozen=True, slots=True)
class Baseline:
    """The independent runs of a baseline; ``unfit`` says why they cannot judge, if they cannot."""

    runs: tuple[GateRun, ...]
    unfit: tuple[str, ...]
    notes: tuple[str, ...]


def fitted(run: GateRun, given: Sequence[GateRun]) -> Baseline:
    """The baseline without what is there twice, and without the run that is judged."""
    runs, notes = _apart(run, given)
    return Baseline(tuple(runs), tuple(_unfit(run, runs)), tuple(notes))


def _apart(run: GateRun, given: Sequence[GateRun]) -> tuple[list[GateRun], list[str]]:
    """A run that is counted twice feigns that there is no noise."""
    kept: list[GateRun] = []
    notes = []
    for other in given:
        if other.contents & run.contents:
            notes.append(f"{other.name}: left out of the baseline, as it is the run that is judged")
        elif any(other.contents & known.contents for known in kept):
            notes.append(
                f"{other.name}: left out of the baseline, as it holds the files of another"
            )
        else:
            kept.append(other)
    return kept, notes


def _unfit(run: GateRun, runs: Sequence[GateRun]) -> Iterator[str]:
    if len(runs) < LEAST_RUNS:
        yield (
            f"the baseline has {counted(len(runs), 'independent run')}: at least {LEAST_RUNS} are "
            "needed to know the noise between them"
        )
    for one in (run, *runs):
        if one.document["trust"]["verdict"] == "unusable":
            yield f"the trace of {one.name} cannot be trusted: see its report"
    if run.closed_steps < LEAST_STEPS:
        yield _too_short([run])
    if short := [other for other in runs if other.closed_steps < LEAST_STEPS]:
        yield _too_short(short)
    for other in runs:
        if why := _difference(run, other):
            yield f"{other.name} of the baseline {why}"


def _too_short(runs: Sequence[GateRun]) -> str:
    least = min(run.closed_steps for run in runs)
    return (
        f"{listed(run.name for run in runs)}: {counted(least, 'closed step')}, at least "
        f"{LEAST_STEPS} are needed"
    )


def _difference(run: GateRun, other: GateRun) -> str:
    """Why two runs cannot be set against each other; empty where they can."""
    if other.definitions != DEFINITIONS_VERSION:
        return (
            f"was saved by a version with other definitions ({other.definitions}, now "
            f"{DEFINITIONS_VERSION}): record it anew"
        )
    if says := _other_setup(run.setup, other.setup):
        return says
    if _alike(run.closed_steps, other.closed_steps):
        return ""
    return (
        f"has {counted(other.closed_steps, 'closed step')}, not about {run.closed_steps:,}: "
        "record as many, or choose them by --steps"
    )


def _other_setup(mine: Setup, its: Setup) -> str:
    if its.gpus != mine.gpus:
        return f"ran on {listed(its.gpus) or 'unknown GPUs'}, not {listed(mine.gpus) or 'unknown'}"
    if None not in (its.world, mine.world) and its.world != mine.world:
        return f"is of a job of {its.world:,} ranks, not {mine.world:,}"
    if its.ranks != mine.ranks:
        return f"has {rank_spans(its.ranks)}, not {rank_spans(mine.ranks)}"
    if its.step_source != mine.step_source:
        return f"has steps by {its.step_source}, not {mine.step_source}"
    return ""


def _alike(some: int, others: int) -> bool:
    return max(some, others) <= _MOST_MORE_STEPS * min(some, others)
