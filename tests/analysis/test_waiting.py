"""Exposed communication told apart, against counting every nanosecond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matched import Matched, match_trace
from tables import Gpu, comm, reading, step, traces

from commscope.analysis.waiting import (
    call_waits,
    instance_table,
    waiting_of,
    waiting_table,
    with_split,
)
from commscope.columns import int64

pytestmark = pytest.mark.long

LATEST = 120
PARTS = ("exposed_wait_ns", "exposed_transfer_ns", "exposed_unmatched_ns")


@st.composite
def _job(draw: st.DrawFn) -> tuple[list[list[Gpu]], list[tuple[int, int]], int]:
    """The activities of two ranks; of each collective instance and wait; where a step ends."""
    ranks = []
    for _ in range(2):
        spans = draw(st.lists(st.tuples(st.integers(1, LATEST), st.integers(1, 40)), max_size=8))
        first = Gpu(draw(st.integers(1, LATEST)), 3, launched=1)
        rows = [comm(start, dur, stream=10 + n, launched=1) for n, (start, dur) in enumerate(spans)]
        spans = draw(st.lists(st.tuples(st.integers(1, LATEST), st.integers(1, 40)), max_size=4))
        more = [Gpu(start, dur, stream=30 + n, launched=1) for n, (start, dur) in enumerate(spans)]
        ranks.append([first, *rows, *more])
    judged = st.tuples(st.integers(-1, 3), st.integers(0, 40))
    return ranks, draw(st.lists(judged, min_size=20, max_size=20)), draw(st.integers(5, LATEST))


def _with_random_matches(job: tuple[list[list[Gpu]], list[tuple[int, int]], int]) -> Matched:
    ranks, judged, _ = job
    found = match_trace(
        traces([reading(*rows, step(0, 1, 1), rank=r, file=f"{r}") for r, rows in enumerate(ranks)])
    )
    duration = int64(found.analysis.collectives, "dur_ns")
    instance = np.array([judged[n][0] for n in range(len(duration))], np.int64)
    wait = np.minimum([judged[n][1] for n in range(len(duration))], duration)
    matching = replace(
        found.matching, instance=instance, wait_ns=np.where(instance < 0, 0, wait).astype(np.int64)
    )
    return replace(found, matching=matching)


def _counted(found: Matched, rows: list[Gpu], rank: int, span: tuple[int, int]) -> list[int]:
    """Waiting, transfer and unmatched, by looking at every nanosecond of a span."""
    times = found.analysis.collectives.to_pylist()
    amounts = [0, 0, 0]
    for now in range(*span):
        computes = any(r.name == Gpu(0, 0).name and r.start <= now < r.start + r.dur for r in rows)
        running = [
            (found.matching.instance[n] >= 0, now < c["start_ns"] + found.matching.wait_ns[n])
            for n, c in enumerate(times)
            if c["rank"] == rank and c["start_ns"] <= now < c["start_ns"] + c["dur_ns"]
        ]
        if running and not computes:
            transfers = any(matched and not waits for matched, waits in running)
            unmatched = any(not matched for matched, _ in running)
            amounts[1 if transfers else 2 if unmatched else 0] += 1
    return amounts


@settings(deadline=None, max_examples=60)
@given(_job())
def test_parts_of_exposed_communication_equal_a_count_of_instants(
    job: tuple[list[list[Gpu]], list[tuple[int, int]], int],
) -> None:
    found = _with_random_matches(job)
    analysis = found.analysis
    waiting = waiting_of(analysis.timeline, analysis.collectives, found.matching)
    for table in (analysis.ranks, analysis.steps):
        for rank, row in enumerate(with_split(table, analysis.timeline, waiting).to_pylist()):
            parts = [row[part] for part in PARTS]
            expected = _counted(found, job[0][rank], rank, (0, 2 * LATEST))
            matched = (found.matching.instance[found.rank == rank] >= 0).any()
            assert parts == (expected if matched else [None, None, expected[2]])
            assert sum(part or 0 for part in parts) == row["exposed_comm_ns"]


def _two_ranks() -> Matched:
    """Rank 1 comes 40 and 60 ns late; compute hides 10 ns of the first wait of rank 0."""
    one = [Gpu(1, 20), comm(11, 50), comm(101, 80)]
    two = [Gpu(1, 5), comm(51, 10), comm(161, 20)]
    return match_trace(traces([reading(*rows, rank=r) for r, rows in enumerate((one, two))]))


def test_who_waited_for_whom() -> None:
    found = _two_ranks()
    timeline, times = found.analysis.timeline, found.times
    waiting = waiting_of(timeline, times, found.matching)
    calls = call_waits(times, timeline, found.matching, waiting)
    assert calls.column("wait_ns").to_pylist() == [40, 60, 0, 0]
    assert calls.column("transfer_ns").to_pylist() == [10, 20, 10, 20]
    assert calls.column("exposed_wait_ns").to_pylist() == [30, 60, 0, 0]
    assert waiting_table(calls, timeline, found.matching).to_pylist() == [
        {"waiter": 0, "straggler": 1, "communicator": 0, "wait_ns": 100, "exposed_wait_ns": 90}
    ]


def test_instances_with_what_they_cost() -> None:
    found = _two_ranks()
    rows = instance_table(found.analysis.collectives, found.analysis.timeline, found.matching)
    assert [
        [
            row[name]
            for name in ("last_arrival_ns", "skew_ns", "transfer_ns", "straggler", "members")
        ]
        for row in rows.to_pylist()
    ] == [[51, 40, 10, 1, 2], [161, 60, 20, 1, 2]]


@pytest.mark.parametrize("column", ["instance", "wait_ns", "transfer_ns", "exposed_wait_ns"])
def test_what_has_no_partner_has_no_wait(column: str) -> None:
    found = match_trace(traces([reading(Gpu(1, 20), comm(11, 50), rank=0)]))
    timeline, times = found.analysis.timeline, found.times
    waiting = waiting_of(timeline, times, found.matching)
    calls = call_waits(times, timeline, found.matching, waiting)
    assert calls.column(column).to_pylist() == [None]
    (row,) = with_split(found.analysis.ranks, timeline, waiting).to_pylist()
    assert [row[part] for part in PARTS] == [None, None, 40]


def test_a_step_without_a_window_has_no_parts() -> None:
    found = _two_ranks()
    steps = found.analysis.steps.drop_columns(list(PARTS))
    empty = steps.set_column(
        steps.column_names.index("start_ns"), "start_ns", pa.nulls(steps.num_rows, pa.int64())
    )
    waiting = waiting_of(found.analysis.timeline, found.times, found.matching)
    split = with_split(empty, found.analysis.timeline, waiting)
    assert all(split.column(part).null_count == steps.num_rows for part in PARTS)
