"""Overlap gaps: against the independent calculator, and against the exposed communication."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from gap_rows import expected_gaps, found_gaps
from hypothesis import given, settings
from random_gaps import Explained, Job, explained, jobs
from tables import Gpu, Host, analysis, comm, copy, step

from commscope.analysis.gaps import PARTS, TRANSFER, UNMATCHED, WAIT
from commscope.analysis.timeline import on_axis

pytestmark = pytest.mark.long

each_job = given(jobs())
thorough = settings(deadline=None, max_examples=150)
quick = settings(deadline=None, max_examples=40)


@thorough
@each_job
def test_gaps_and_causes_equal_the_reference(job: Job) -> None:
    found = explained(job)
    expected = expected_gaps(found.analysis.trace, found.across)
    assert found_gaps(found.analysis, found.gaps, found.causes) == expected


@quick
@each_job
def test_gaps_add_up_to_exposed_communication(job: Job) -> None:
    found = explained(job)
    ranks, steps = found.partitions()
    whole, inside = _sums(found)
    for row in ranks:
        for part, name in enumerate(PARTS):
            assert whole[row["rank"], part] == (row[f"exposed_{name}_ns"] or 0)
        assert sum(whole[row["rank"], part] for part in range(3)) == row["exposed_comm_ns"]
    for row in steps:
        if row["start_ns"] is not None:
            of_step = sum(inside[row["rank"], row["step"], part] for part in range(3))
            assert of_step == row["exposed_comm_ns"]


def _sums(found: Explained) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int, int], int]]:
    """By rank and part, in all and in each step."""
    whole, inside = defaultdict(int), defaultdict(int)
    for rank, gaps in found_gaps(found.analysis, found.gaps, found.causes).items():
        for gap in gaps:
            whole[rank, PARTS.index(gap.part)] += gap.length
            inside[rank, gap.step, PARTS.index(gap.part)] += gap.length
    return whole, inside


@quick
@each_job
def test_a_gap_lies_in_one_exposure_and_one_step(job: Job) -> None:
    found = explained(job)
    gaps, exposures = found.gaps, found.gaps.exposures
    assert (exposures.start[gaps.exposure] <= gaps.start).all()
    assert (gaps.end <= exposures.end[gaps.exposure]).all()
    assert (gaps.length > 0).all()
    start, end = found.analysis.windows.axis(found.analysis.timeline)
    for edge in (*start.tolist(), *end.tolist()):
        assert not ((gaps.start < edge) & (edge < gaps.end)).any()


@quick
@each_job
def test_the_collective_of_a_gap_is_the_one_that_keeps_it_going(job: Job) -> None:
    """In waiting the one complete first; else the last to end with the exposure, or at all."""
    found = explained(job)
    rank, start, end = (of.tolist() for of in on_axis(found.analysis.timeline, found.across.calls))
    matching = found.across.matching
    for place, time in enumerate(found.gaps.start.tolist()):
        part = int(found.gaps.part[place])
        limit = int(found.gaps.exposures.end[found.gaps.exposure[place]])
        rated = {}
        for call, (begin, finish) in enumerate(zip(start, end)):
            if begin <= time < finish:
                arrival = begin + int(matching.wait_ns[call])
                state = WAIT if time < arrival else TRANSFER
                state = UNMATCHED if matching.instance[call] < 0 else state
                if state == part:
                    late = finish > limit + 1_000
                    rated[call] = (arrival, 0) if part == WAIT else (late, -finish)
        call = int(found.gaps.call[place])
        assert rated[call] == min(rated.values())
        assert rank[call] == found.gaps.rank[place]


def test_no_communication_has_no_gaps() -> None:
    for rows in ([Gpu(1, 5)], [copy(1, 5)], [Gpu(1, 5), step(0, 1, 9)], [Gpu(5, 5, launched=2)]):
        assert not len(analysis(*rows).gaps.start)


def test_one_collective_is_one_gap() -> None:
    found = analysis(comm(10, 5))
    assert found.gaps.length.tolist() == [5]
    assert found.gaps.exposures.before.tolist() == [-1]
    assert found.gaps.exposures.after.tolist() == [-1]


def test_copies_neither_hide_nor_cut() -> None:
    found = analysis(comm(10, 30), copy(15, 5), Gpu(60, 5))
    assert found.gaps.length.tolist() == [30]
    after = found.gaps.exposures.after
    assert found.timeline.activities.start_ns[after].tolist() == [60]


def test_gaps_after_a_year_are_exact() -> None:
    year = 365 * 86_400 * 10**9
    rows = (Gpu(year, 10), comm(year + 5, 20), Host(year - 5, 3))
    assert analysis(*rows).gaps.length.tolist() == [15]


def test_many_collectives_beside_a_long_one() -> None:
    """Each gap is told its collective without walking through all that began before."""
    count = 20_000
    small = [comm(10 + 100 * n, 50, stream=1) for n in range(count)]
    kernels = [Gpu(65 + 100 * n, 40) for n in range(count)]
    found = analysis(comm(1, 100 * count + 50, stream=2), *small, *kernels)
    assert len(found.gaps.start) == count + 1
    assert np.unique(found.gaps.call).tolist() == [0]
