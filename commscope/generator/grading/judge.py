"""Holds the traces of a run against its truth: all checks, in one place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from commscope.errors import CommscopeError, UsageError
from commscope.generator.grading.apart import Apart, apart_of
from commscope.generator.grading.cause_rows import cause_rows
from commscope.generator.grading.clock_rows import clock_rows, fit_rows, shift_ns
from commscope.generator.grading.count_rows import count_rows
from commscope.generator.grading.host_rows import host_rows
from commscope.generator.grading.model import Grade, Row, in_order
from commscope.generator.grading.number_rows import number_rows
from commscope.generator.grading.pairs import Pairs, pair_up
from commscope.generator.grading.recomputed import truth_rows
from commscope.generator.grading.run_rows import read_run_file
from commscope.generator.grading.step_rows import step_rows, steps_of
from commscope.generator.grading.traces import Traces, read_traces, trace_rows
from commscope.generator.grading.truths import PATTERN, Truths, read_truths
from commscope.generator.grading.wait_rows import (
    clock_error,
    length_rows,
    straggler_rows,
    wait_rows,
)
from commscope.generator.run_folder import run_path
from commscope.generator.truth_file import TruthFile


def grade(folder: Path) -> list[Grade]:
    """Grades a run, or every run of a suite's folder.

    Raises UsageError where there is no folder, or no truth in it.
    """
    return [_grade(run) for run in _runs(folder)]


def _runs(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise UsageError(f"{folder}: is no folder; give that of a run of commscope generate")
    if _is_run(folder):
        return [folder]
    runs = sorted(path for path in folder.iterdir() if path.is_dir() and _is_run(path))
    if not runs:
        raise UsageError(
            f"{folder}: holds no {PATTERN}: it is no run of commscope generate, nor a suite of them"
        )
    return runs


def _is_run(folder: Path) -> bool:
    """Whether it has a truth, or lacks it, being a run."""
    return run_path(folder).is_file() or any(folder.glob(PATTERN))


def _grade(folder: Path) -> Grade:
    about = read_run_file(folder)
    truths = read_truths(sorted(folder.glob(PATTERN)), about.run)
    profiled = tuple(about.run.profile_ranks) if about.run else ()
    grade = judge(folder.resolve().name, truths, read_traces(folder), profiled)
    return replace(grade, rows=in_order([*about.rows, *grade.rows]))


def judge(
    run: str,
    truths: Truths,
    traces: Traces | CommscopeError,
    profiled: Collection[int] = (),
) -> Grade:
    """Holds what was read of traces against what was read of truth files.

    ``profiled``: the ranks that should have a trace; none: all.
    """
    header = truths.header
    scenario, engine = (header.scenario, header.engine) if header else (None, None)
    rows = [*truths.rows, *truth_rows(truths.of_rank), *trace_rows(truths, traces, profiled)]
    notes: tuple[str, ...] = ()
    if not isinstance(traces, CommscopeError):
        rows += _rows(truths, traces)
        rows += cause_rows(truths, traces, agree=all(row.result != "fail" for row in rows))
        notes = traces.report.notes
    return Grade(run, scenario, engine, in_order(rows), notes)


def _rows(truths: Truths, traces: Traces) -> Iterator[Row]:
    """What truths and traces tell together, of each rank and of all."""
    there = {rank: truth for rank, truth in truths.of_rank.items() if rank in set(traces.ranks)}
    every = {rank: pair_up(truth, traces) for rank, truth in there.items()}
    job = _Job(truths.of_rank, traces, every, apart_of(every))
    for truth in there.values():
        yield from job.rows_of(truth)
    yield from straggler_rows(there, every, traces, job.apart)


@dataclass(frozen=True, slots=True)
class _Job:
    truths: Mapping[int, TruthFile]
    traces: Traces
    every: Mapping[int, Pairs]
    apart: Apart

    def rows_of(self, truth: TruthFile) -> Iterator[Row]:
        """All that is held against the truth of one rank."""
        traces, pairs = self.traces, self.every[truth.header.rank]
        form = traces.format_of(truth.header.rank)
        steps = steps_of(truth, traces, pairs)
        yield from step_rows(truth, traces, steps, shift_ns(truth, form))
        if truth.host_steps and not truth.steps:
            yield from host_rows(truth, traces)
            return
        yield from clock_rows(truth, form, pairs)
        yield from fit_rows(truth, pairs, self.truths)
        yield from count_rows(pairs, traces)
        yield from length_rows(truth, pairs)
        yield from number_rows(truth, steps, pairs, self.apart, clock_error(traces))
        yield from wait_rows(truth, pairs, self.apart, clock_error(traces))
