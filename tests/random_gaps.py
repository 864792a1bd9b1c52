"""Random jobs for what is told of gaps: streams, queues, launches, calls that block, and waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tables import ALL_REDUCE, COMPUTE, Gpu, Host, Row, reading, step, traces

from commscope.analysis.across import Across
from commscope.analysis.causes import Causes, causes_of
from commscope.analysis.gaps import Gaps, gaps_of
from commscope.analysis.result import Analysis, analyse
from commscope.analysis.waiting import waiting_of, with_split
from commscope.columns import int64

LATEST = 120
OPTIMIZER = "multi_tensor_apply_kernel<adam>"
_COMPUTES = (COMPUTE, COMPUTE, COMPUTE, OPTIMIZER)
_COPIES = ("Memcpy DtoD (Device -> Device)", "Memcpy HtoD (Host -> Device)")
_CALLS = (
    ("hipEventQuery", "runtime"),
    ("hipEventQuery", "runtime"),
    ("hipEventSynchronize", "sync"),
    ("hipStreamWaitEvent", "runtime"),
    ("hipMemcpyWithStream", "launch"),
    ("hipLaunchKernel", "launch"),
    ("hipMalloc", "memory"),
    ("Optimizer.step#Adam.step", "annotation"),
)
#: A unit of time: in the largest, 25 us are between 3 and 4 of them, and 100 us between 14 and 15.
_UNITS = (7_000, 1_000, 300, 1)


@dataclass(frozen=True)
class Job:
    """The rows of each rank, and of each collective of all: instance (-1: none) and wait."""

    ranks: tuple[tuple[Row, ...], ...]
    judged: tuple[tuple[int, int], ...]
    unit: int


@dataclass(frozen=True)
class Explained:
    """An analysis with these waits, and the gaps that it then has."""

    analysis: Analysis
    across: Across
    gaps: Gaps
    causes: Causes

    def partitions(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The rows of ranks and of steps, whose exposed time is told apart by these waits."""
        timeline, waiting = self.analysis.timeline, self.across.waiting
        ranks, steps = (
            with_split(table.drop_columns([n for n in table.column_names if n in _PARTS]),
                       timeline, waiting).to_pylist()
            for table in (self.analysis.ranks, self.analysis.steps)
        )  # fmt: skip
        return ranks, steps


_PARTS = ("exposed_wait_ns", "exposed_transfer_ns", "exposed_unmatched_ns")


@st.composite
def _activity(draw: st.DrawFn, number: int, ends: Sequence[int]) -> tuple[Row, ...]:
    """An activity, often begun as another ends, and the call that launched it, if it is known."""
    kind = draw(st.sampled_from(["compute", "compute", "communication", "communication", "copy"]))
    names = {"compute": _COMPUTES, "communication": (ALL_REDUCE,), "copy": _COPIES}[kind]
    follows = st.sampled_from(ends).flatmap(lambda end: st.sampled_from([end, end, end + 1]))
    start = draw(follows | st.integers(1, LATEST))
    row = Gpu(
        start,
        draw(st.integers(1, 40)),
        draw(st.sampled_from(names)),
        stream=draw(st.integers(0, 2)),
        queue=draw(st.sampled_from([None, None, 0, 1])),
        kind="memcpy" if kind == "copy" else "kernel",
        correlation=number,
    )
    lag = draw(st.sampled_from([None, 0, 0, 1, 2, 5, 10, 20, 40]))
    if lag is None:
        return (row,)
    launch = Host(max(start - lag, 1), 1, correlation=number, thread=draw(st.integers(1, 2)))
    return row, launch


@st.composite
def _call(draw: st.DrawFn) -> Row:
    name, kind = draw(st.sampled_from(_CALLS))
    start, dur = draw(st.integers(1, LATEST)), draw(st.sampled_from([0, 1, 5, 20, 60]))
    return Host(start, dur, name, kind, thread=draw(st.sampled_from([1, 1, 2, 3])))


@st.composite
def _rank(draw: st.DrawFn) -> tuple[Row, ...]:
    rows: list[Row] = [Gpu(draw(st.integers(1, LATEST)), 3, stream=3)]
    for number in range(draw(st.integers(1, 14))):
        ends = [row.start + row.dur for row in rows if isinstance(row, Gpu)]
        rows += draw(_activity(number, ends))
    edges = sorted(draw(st.sets(st.integers(1, LATEST), max_size=4)))
    steps = [step(number, a, b - a) for number, (a, b) in enumerate(pairwise(edges))]
    return (*rows, *steps, *draw(st.lists(_call(), max_size=8)))


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """One to three ranks."""
    ranks = draw(st.lists(_rank(), min_size=1, max_size=3))
    judged = st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([0, 0, 3, 30]))
    count = sum(isinstance(row, Gpu) and row.name == ALL_REDUCE for rows in ranks for row in rows)
    waits = draw(st.lists(judged, min_size=count, max_size=count))
    if draw(st.booleans()):
        waits = [(-1, 0)] * count
    return Job(tuple(ranks), tuple(waits), draw(st.sampled_from(_UNITS)))


def explained(job: Job) -> Explained:
    """The job read and analysed, with its random waits instead of those that were found."""
    analysis = analyse(
        traces(
            reading(*(_scaled(row, job.unit) for row in rows), rank=rank, file=f"{rank}.json")
            for rank, rows in enumerate(job.ranks)
        )
    )
    return with_waits(analysis, job.judged, job.unit)


def with_waits(analysis: Analysis, judged: tuple[tuple[int, int], ...], unit: int) -> Explained:
    """The analysis as if its collectives had been matched and had waited like this."""
    calls = analysis.across.calls
    instance, wait = np.array([*judged, (0, 0)], np.int64)[: calls.num_rows].T
    wait = np.where(instance < 0, 0, np.minimum(wait * unit, int64(calls, "dur_ns")))
    matching = replace(analysis.across.matching, instance=instance, wait_ns=wait)
    waiting = waiting_of(analysis.timeline, calls, matching)
    across = replace(analysis.across, matching=matching, waiting=waiting)
    gaps = gaps_of(analysis.timeline, across, analysis.windows)
    causes = causes_of(analysis.trace, analysis.timeline, analysis.host, gaps, waiting.has_matches)
    return Explained(analysis, across, gaps, causes)


def _scaled(row: Row, unit: int) -> Row:
    assert isinstance(row, (Gpu, Host))
    return replace(row, start=row.start * unit, dur=row.dur * unit)
