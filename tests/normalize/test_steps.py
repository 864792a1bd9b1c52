"""Steps: by launch, and their windows on the device."""

from __future__ import annotations

from typing import Any

import pytest
from tables import Gpu, Host, Row, comm, copy, step, trace

from commscope.schema import Flag


def _steps(*rows: Row) -> list[tuple[int, int | None, int | None, bool]]:
    return [
        (row["step"], row["start_ns"], row["end_ns"], row["open"])
        for row in trace(*rows).steps.to_pylist()
    ]


def _step_of_events(*rows: Row) -> list[int | None]:
    """The step of each activity, in order of start."""
    found: list[int | None] = trace(*rows).events.column("step").to_pylist()
    return found


#: Two steps of 10 ns on the host whose activities lag behind by 30.
LAGGING = (step(4, 10, 10), step(5, 20, 10), Gpu(40, 5, launched=12), Gpu(60, 5, launched=25))


def test_windows_run_from_first_launched_to_first_launched() -> None:
    assert _steps(*LAGGING) == [(4, 40, 60, False), (5, 60, 65, True)]


@pytest.mark.parametrize(
    ("row", "number"),
    [
        (Gpu(80, 5, launched=19), 4),
        (Gpu(80, 5, launched=20), 5),
        (Gpu(80, 5, launched=29), 5),
        (Gpu(80, 5, launched=30), None),
        (Gpu(80, 5, launched=9), None),
        (comm(62, 90, launched=13), 4),
    ],
)
def test_an_activity_belongs_to_the_step_it_was_launched_in(row: Gpu, number: int | None) -> None:
    assert _step_of_events(*LAGGING, row)[-1] == number


@pytest.mark.parametrize(
    ("start", "number"), [(39, None), (40, 4), (59, 4), (61, 5), (64, 5), (65, None), (99, None)]
)
def test_an_activity_without_launch_takes_the_window_it_starts_in(
    start: int, number: int | None
) -> None:
    found = trace(*LAGGING, copy(start, 1)).events.to_pylist()
    assert next(row["step"] for row in found if row["kind"] == "memcpy") == number


def test_the_last_window_ends_with_the_last_activity_of_its_step() -> None:
    rows = (*LAGGING, comm(61, 50, launched=26), Gpu(150, 9, launched=35), Gpu(200, 9))
    assert _steps(*rows)[-1] == (5, 60, 111, True)


@pytest.mark.parametrize("middle", [step(5, 20, 10), step(5, 20, 0)])
def test_step_without_activity_has_no_window(middle: Host) -> None:
    rows = [step(4, 10, 10), middle, step(6, 30, 10)]
    rows += [Gpu(40, 5, launched=12), Gpu(60, 5, launched=35)]
    assert _steps(*rows) == [(4, 40, 60, False), (5, None, None, True), (6, 60, 65, True)]


def test_numbers_that_do_not_follow_leave_a_window_open() -> None:
    rows = [step(4, 10, 10), step(9, 40, 10), Gpu(40, 5, launched=12), Gpu(60, 5, launched=45)]
    assert _steps(*rows) == [(4, 40, 45, True), (9, 60, 65, True)]


def test_an_open_window_does_not_reach_into_the_next() -> None:
    rows = [step(4, 10, 10), step(9, 40, 10), comm(40, 50, launched=12), Gpu(60, 5, launched=45)]
    assert _steps(*rows) == [(4, 40, 60, True), (9, 60, 65, True)]


def test_windows_tile_where_the_next_step_starts_early_on_another_stream() -> None:
    rows = [step(4, 10, 10), step(5, 20, 10), step(6, 30, 10)]
    rows += [Gpu(50, 5, launched=12), copy(45, 3, launched=21), Gpu(70, 5, launched=33)]
    assert _steps(*rows) == [(4, 50, 50, False), (5, 50, 70, False), (6, 70, 75, True)]


@pytest.mark.parametrize(
    "row",
    [Gpu(30, 0, launched=13), Gpu(0, 5, launched=13), Gpu(30, 5, launched=13, flags=Flag.BROKEN)],
)
def test_what_does_not_count_makes_no_window(row: Gpu) -> None:
    assert _steps(*LAGGING, row)[0] == (4, 40, 60, False)


def test_broken_activity_has_no_step() -> None:
    assert _step_of_events(*LAGGING, Gpu(0, 5, launched=13)) == [None, 4, 5]


def test_step_that_several_threads_repeat_is_the_longest() -> None:
    rows = [step(4, 10, 2), step(4, 9, 11, thread=2), step(4, 12, 1, thread=3)]
    found = trace(*rows, Gpu(40, 5, launched=18)).steps.to_pylist()
    assert [(r["step"], r["host_start_ns"], r["host_end_ns"]) for r in found] == [(4, 9, 20)]


def test_steps_that_overlap_are_cut() -> None:
    found = trace(step(4, 10, 12), step(5, 20, 10), Gpu(40, 5, launched=21)).steps.to_pylist()
    assert [row["host_end_ns"] for row in found] == [20, 30]
    assert [row["start_ns"] for row in found] == [None, 40]


def test_whole_trace_is_one_open_window() -> None:
    rows = [Gpu(10, 5, launched=3), Gpu(40, 5)]
    assert _steps(*rows) == [(0, 10, 45, True)]
    assert _step_of_events(*rows) == [0, 0]


def test_calls_of_the_host_have_steps_too() -> None:
    host = trace(*LAGGING, Host(31, 1)).host.to_pylist()
    launches = [row["step"] for row in host if row["kind"] == "launch"]
    assert launches == [4, 5, None]


def test_ranks_without_steps_are_told() -> None:
    rows: list[Any] = [Gpu(40, 5, launched=12, rank=0), Gpu(40, 5, launched=12, rank=1)]
    found = trace(*rows, step(4, 10, 10, rank=0))
    assert found.step_source.kind == "annotation", "the closed steps are those of rank 0"
    assert any("rank 0: annotation, rank 1: whole_trace" in note.says for note in found.notes)
