"""Properties of the partition and of what is summed from it, on random traces of several ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instants import ALL_REDUCE, Step, partition, windows
from tables import Gpu, comm, copy, reading, shuffled, step, traces

from commscope.analysis.breakdown import PARTITION, partition_windows
from commscope.analysis.result import Analysis, analyse
from commscope.analysis.waiting import EXPOSED_PARTS
from commscope.columns import NONE, int64
from commscope.parsers.base import Reading

pytestmark = pytest.mark.long

LATEST = 160


@dataclass(frozen=True)
class Rank:
    """One rank: its activities, and its steps on the host."""

    number: int
    rows: tuple[Gpu, ...]
    steps: tuple[Step, ...]

    def reading(self, later: int = 0) -> Reading:
        rows = [
            replace(
                row,
                start=row.start + later,
                launched=None if row.launched is None else row.launched + later,
            )
            for row in self.rows
        ]
        marks = [step(s.number, s.start + later, s.end - s.start) for s in self.steps]
        return reading(*rows, *marks, file=f"rank{self.number}.json", rank=self.number)


@st.composite
def _row(draw: st.DrawFn) -> Gpu:
    make = draw(st.sampled_from([Gpu, comm, copy]))
    start = draw(st.integers(1, LATEST))
    launched = draw(st.none() | st.integers(1, start))
    found: Gpu = make(start, draw(st.integers(0, 50)), launched=launched)
    return replace(found, stream=draw(st.integers(0, 2)))


@st.composite
def _rank(draw: st.DrawFn, number: int) -> Rank:
    # A stream starts one activity at a time.
    rows = draw(st.lists(_row(), max_size=14, unique_by=lambda row: (row.stream, row.start)))
    edges = sorted(draw(st.sets(st.integers(1, LATEST), max_size=5)))
    first = draw(st.integers(0, 5))
    steps = [Step(first + i, *edge) for i, edge in enumerate(pairwise(edges))]
    return Rank(number, (Gpu(draw(st.integers(1, LATEST)), 3), *rows), tuple(steps))


@st.composite
def _job(draw: st.DrawFn) -> list[Rank]:
    numbers = sorted(draw(st.sets(st.integers(0, 9), min_size=1, max_size=3)))
    return [draw(_rank(number)) for number in numbers]


each_job = given(_job())
quick = settings(deadline=None, max_examples=30)


def _analyse(job: list[Rank], later: int = 0) -> Analysis:
    return analyse(traces([rank.reading(later) for rank in job]))


def _parts(row: dict[str, Any]) -> dict[str, int]:
    return {name: row[name] for name in PARTITION}


def _of_one_rank(table: pa.Table) -> list[dict[str, Any]]:
    """The rows without what only several ranks together tell."""
    across = (*EXPOSED_PARTS, "kind", "communicator")
    return table.drop_columns([n for n in across if n in table.column_names]).to_pylist()


def _shown(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(str(row) for row in rows)


@quick
@each_job
def test_ranks_equal_sets_of_instants(job: list[Rank]) -> None:
    for rank, row in zip(job, _analyse(job).ranks.to_pylist()):
        counted = [one for one in rank.rows if one.dur]
        whole = min(r.start for r in counted), max(r.start + r.dur for r in counted)
        assert _parts(row) == partition(rank.rows, whole)


@quick
@each_job
def test_steps_equal_sets_of_instants(job: list[Rank]) -> None:
    steps = _analyse(job).steps.to_pylist()
    for rank in job:
        expected = windows(rank.rows, rank.steps)
        mine = [
            row for row in steps if row["rank"] == rank.number and row["source"] == "annotation"
        ]
        # Without a launch an annotation of the host says nothing of the device.
        has_launches = any(r.launched is not None for r in rank.rows)
        assert len(mine) == (len(rank.steps) if has_launches else 0)
        for row in mine:
            window = expected.get(row["step"], (None, None))
            assert (row["start_ns"], row["end_ns"]) == window
            if None not in window:
                assert _parts(row) == partition(rank.rows, window)


@quick
@each_job
def test_parts_add_up_exactly(job: list[Rank]) -> None:
    found = _analyse(job)
    for row in [*found.ranks.to_pylist(), *found.steps.to_pylist()]:
        if row["window_ns"] is None:
            continue
        parts = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
        assert sum(row[name] for name in parts) == row["window_ns"]
        assert row["hidden_comm_ns"] + row["exposed_comm_ns"] == row["communication_ns"]


@quick
@each_job
def test_steps_tile_and_sum_to_their_union(job: list[Rank]) -> None:
    found = _analyse(job)
    for index, rank in enumerate(job):
        mine = found.steps.filter(pa.array(int64(found.steps, "rank") == rank.number))
        mine = mine.filter(pa.array(int64(mine, "start_ns") != NONE))
        starts, ends = int64(mine, "start_ns"), int64(mine, "end_ns")
        assert ends[:-1].tolist() == starts[1:].tolist()
        if len(starts):
            at = np.array([index])
            union = partition_windows(found.timeline, at, starts[:1], ends[-1:])
            assert {n: int(int64(mine, n).sum()) for n in PARTITION} == {
                n: int(union[n][0]) for n in PARTITION
            }


@quick
@each_job
def test_busy_time_is_inside_the_steps_or_outside(job: list[Rank]) -> None:
    found = _analyse(job)
    busy = int64(found.ranks, "window_ns") - int64(found.ranks, "idle_ns")
    inside = dict.fromkeys(found.ranks.column("rank").to_pylist(), 0)
    for row in found.steps.to_pylist():
        if row["window_ns"] is not None:
            inside[row["rank"]] += row["window_ns"] - row["idle_ns"]
    assert (busy - found.outside_ns).tolist() == list(inside.values())


@quick
@each_job
def test_collectives_are_hidden_or_exposed(job: list[Rank]) -> None:
    found = _analyse(job)
    for row in found.collectives.to_pylist():
        rows = next(rank.rows for rank in job if rank.number == row["rank"])
        alone = partition(rows, (row["start_ns"], row["start_ns"] + row["dur_ns"]))
        assert row["hidden_ns"] == alone["hidden_comm_ns"] == row["dur_ns"] - row["exposed_ns"]
    for rank in job:
        kinds = [row for row in found.collective_kinds.to_pylist() if row["rank"] == rank.number]
        kinds.sort(key=lambda row: row["communicator"])
        for row, rows in zip(kinds, _by_communicator(rank), strict=True):
            alone = partition(rows, (0, max(r.start + r.dur for r in rows)))
            assert row["communication_ns"] == alone["communication_ns"]
            assert row["hidden_ns"] == alone["hidden_comm_ns"]
            assert row["exposed_ns"] == alone["exposed_comm_ns"]


def _by_communicator(rank: Rank) -> list[list[Gpu]]:
    """For each stream with collectives, these and all else; without names it stands for a group."""
    is_collective = [r.name == ALL_REDUCE and r.dur > 0 for r in rank.rows]
    streams = sorted({r.stream for r, known in zip(rank.rows, is_collective) if known})
    return [
        [r for r, known in zip(rank.rows, is_collective) if not known or r.stream == stream]
        for stream in streams
    ]


@quick
@given(_job(), st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(job: list[Rank], seed: int) -> None:
    readings = [rank.reading() for rank in job]
    one, other = analyse(traces(readings)), analyse(traces([shuffled(r, seed) for r in readings]))
    for name in ("ranks", "steps", "kernels", "families", "collective_kinds", "launch", "coverage"):
        assert _shown(getattr(one, name).to_pylist()) == _shown(getattr(other, name).to_pylist())
    assert one.outside_ns.tolist() == other.outside_ns.tolist()
    assert one.counts == other.counts


@quick
@given(_job(), st.integers(1, 2 * 10**18))
def test_later_times_change_nothing_but_times(job: list[Rank], later: int) -> None:
    one, other = _analyse(job), _analyse(job, later)
    times = {"start_ns", "end_ns", "host_start_ns", "host_end_ns"}
    for name in ("ranks", "steps", "kernels", "collectives", "collective_kinds", "launch"):
        here, there = getattr(one, name).to_pylist(), getattr(other, name).to_pylist()
        for row, moved in zip(here, there, strict=True):
            for key, value in row.items():
                expected = value + later if key in times and value is not None else value
                assert moved[key] == expected, (name, key)


@quick
@each_job
def test_all_ranks_at_once_equal_each_rank_alone(job: list[Rank]) -> None:
    together, alone = _analyse(job), [_analyse([rank]) for rank in job]
    for name in ("ranks", "steps", "collective_kinds", "launch", "coverage", "graphs"):
        apart = [row for one in alone for row in _of_one_rank(getattr(one, name))]
        assert _shown(_of_one_rank(getattr(together, name))) == _shown(apart), name
    assert together.outside_ns.tolist() == [int(one.outside_ns[0]) for one in alone]
    assert together.counts == {rank: n for one in alone for rank, n in one.counts.items()}


@pytest.mark.parametrize("number", [0, 7])
def test_rank_whose_steps_hold_nothing(number: int) -> None:
    rows = (Gpu(50, 10, launched=2), Gpu(5, 20, launched=1))
    found = _analyse([Rank(number, rows, (Step(1, 70, 90),))])
    assert found.outside_ns.tolist() == [30]
    assert found.steps.column("window_ns").to_pylist() == [None]


@pytest.mark.parametrize("number", [0, 7])
def test_annotations_without_a_launch_say_nothing_of_the_device(number: int) -> None:
    found = _analyse([Rank(number, (Gpu(50, 10), Gpu(5, 20)), (Step(1, 10, 90),))])
    assert found.steps.column("source").to_pylist() == ["whole_trace"]
    assert found.steps.column("window_ns").to_pylist() == [55]
