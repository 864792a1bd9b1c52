"""Where the user chose steps, only what belongs to them counts, but for the table of ranks."""

from __future__ import annotations

import pytest
from tables import COMPUTE, Gpu, Row, analysis, comm, reading, step, trace, traces

from commscope.analysis.result import Analysis, analyse
from commscope.normalize.selection import StepSelection

#: Two steps with one kernel, one collective each, and one kernel that no step launched.
ROWS: list[Row] = [
    step(1, 10, 10), Gpu(100, 5, launched=11), comm(110, 20, launched=12),
    step(2, 20, 10), Gpu(200, 7, launched=21), comm(205, 30, launched=22),
    Gpu(300, 9, launched=50),
]  # fmt: skip


def _chosen(text: str | None, skip_first: int = 0) -> Analysis:
    return analysis(*ROWS, steps=StepSelection.parse(text, skip_first))


@pytest.mark.parametrize(("text", "skip"), [("2", 0), (None, 1), ("1-2", 1)])
def test_kernels_families_and_calls_are_those_of_the_step(text: str | None, skip: int) -> None:
    found = _chosen(text, skip)
    times = dict(zip(*(found.kernels.column(name).to_pylist() for name in ("name", "total_ns"))))
    assert times[COMPUTE] == 7
    assert sorted(times.values()) == [7, 30]
    assert sum(found.families.column("count").to_pylist()) == 2
    assert found.collectives.column("start_ns").to_pylist() == [205]
    assert found.collective_kinds.column("communication_ns").to_pylist() == [30]


def test_what_is_in_no_step_is_not_chosen_even_where_all_steps_are() -> None:
    assert sum(_chosen("1-2").kernels.column("count").to_pylist()) == 4
    assert sum(_chosen(None).kernels.column("count").to_pylist()) == 5


def test_launches_count_by_step_but_all_of_them_keep_a_stream_busy() -> None:
    rows: list[Row] = [
        step(1, 10, 10), Gpu(100, 50, launched=11),
        step(2, 20, 200), Gpu(150, 5, launched=120), Gpu(250, 5, launched=180),
    ]  # fmt: skip
    (found,) = analysis(*rows, steps=StepSelection.parse("2")).launch.to_pylist()
    assert (found["kernels"], found["launch_bound_share"]) == (2, 0.5)
    assert found["queue_delay_p50_ns"] == 50
    assert found["host_pause_ns"] == 95
    (first,) = analysis(*rows, steps=StepSelection.parse("1")).launch.to_pylist()
    assert (first["kernels"], first["queue_delay_p95_ns"], first["host_pause_ns"]) == (1, 89, 0)


def test_queue_depth_is_that_at_the_launches_of_the_step() -> None:
    rows: list[Row] = [step(1, 10, 10), step(2, 20, 10)]
    rows += [Gpu(100 + 10 * k, 5, launched=11 + k) for k in range(4)] + [Gpu(200, 5, launched=21)]
    (found,) = analysis(*rows, steps=StepSelection.parse("2")).launch.to_pylist()
    assert found["queue_depth_p50"] == 4


def test_a_rank_without_a_kernel_in_the_step_has_no_launch_numbers() -> None:
    other = [step(1, 10, 10), step(2, 20, 10), Gpu(100, 5, launched=11)]
    files = [reading(*ROWS, file="a", rank=0), reading(*other, file="b", rank=1)]
    found = analyse(traces(files, steps=StepSelection.parse("2"))).launch.to_pylist()
    assert [row["kernels"] for row in found] == [2, 0]
    assert found[1]["queue_delay_p50_ns"] is None
    assert found[1]["host_pause_ns"] is None


@pytest.mark.parametrize("text", ["1", "2", "1-2"])
def test_ranks_are_of_the_whole_trace(text: str) -> None:
    found, whole = _chosen(text), _chosen(None)
    assert found.ranks == whole.ranks
    assert found.counts == whole.counts
    assert found.outside_ns.tolist() == whole.outside_ns.tolist() == [9]


def test_that_steps_were_chosen_is_said() -> None:
    found = trace(*ROWS, steps=StepSelection.parse("2"))
    assert found.selection == "--steps 2"
    assert any(n.says.startswith("--steps 2: kernels, collectives and") for n in found.notes)
    assert found.all_steps.column("step").to_pylist() == [1, 2]
    assert trace(*ROWS).selection is None
    assert not any(note.topic == "steps" for note in trace(*ROWS).notes)
