"""What was played is read as if it had been simulated, and becomes traces that are analysed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import BEFORE_NS, MONOTONIC_NS, read_lines, write_lines, write_run

import commscope
from commscope.errors import CommscopeError, CorruptTrace, UnknownFormat, UsageError
from commscope.generator import Simulation, instance_truths, simulate, step_truths
from commscope.generator.playing.activity_trace import (
    TRACE,
    activities_file,
    read_activities,
    write_kineto,
    write_truth_as_trace,
)
from commscope.generator.playing.recording import Recording, read_recording
from commscope.generator.programs import Job, Model, Straggler
from commscope.generator.scenarios import ddp
from commscope.generator.truth import StepTruth

_COLUMNS = (
    "window_ns", "compute_ns", "communication_ns", "hidden_comm_ns", "exposed_comm_ns",
    "exposed_copy_ns", "idle_ns", "exposed_wait_ns", "exposed_transfer_ns",
)  # fmt: skip


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    """Two ranks, of which one is late in the second step."""
    job = Job(ranks=2, steps=3, stragglers=(Straggler(1, 2_000_000, step=1),))
    return simulate(ddp(job, Model(layers=4, input_bytes=1 << 20)))


@pytest.fixture
def recorded(simulation: Simulation, tmp_path: Path) -> Recording:
    """The same, as a program would have recorded it."""
    return read_recording(write_run(simulation, tmp_path / "recorded"), simulation.schedule)


def test_what_was_recorded_has_the_truth_of_what_happened(
    recorded: Recording, simulation: Simulation
) -> None:
    assert recorded.base_ns == MONOTONIC_NS - BEFORE_NS
    assert _durations(recorded.simulation) == _durations(simulation)
    assert [(t.straggler, t.skew_ns, t.transfer_ns) for t in instance_truths(simulation)] == [
        (t.straggler, t.skew_ns, t.transfer_ns) for t in instance_truths(recorded.simulation)
    ]
    for made, run in zip(recorded.simulation.ranks, simulation.ranks):
        assert [(s.label, s.end_ns - s.start_ns) for s in made.spans] == [
            (s.label, s.end_ns - s.start_ns) for s in run.spans
        ]
        assert [call.kind for call in made.calls] == [call.kind for call in run.calls]
    assert set(recorded.sources[0].values()) == {"device"}


def _durations(simulation: Simulation) -> list[StepTruth]:
    """The truth of steps, without when they were."""
    return [replace(truth, start_ns=None, end_ns=None) for truth in step_truths(simulation)]


def test_a_trace_of_activities_tells_what_happened(
    recorded: Recording, simulation: Simulation, tmp_path: Path
) -> None:
    for rank in (0, 1):
        seen = read_activities(activities_file(tmp_path / "recorded", rank))
        write_kineto(recorded, rank, seen, tmp_path / f"traces/rank{rank}" / TRACE)
    report = _agrees(tmp_path / "traces", simulation)
    collectives = report.collectives.to_pandas()
    assert set(collectives["op"]) == {"all_reduce"}
    assert set(collectives["bytes"]) == {64 << 20}


def test_the_truth_itself_can_be_the_trace(
    recorded: Recording, simulation: Simulation, tmp_path: Path
) -> None:
    for rank in (0, 1):
        write_truth_as_trace(recorded, rank, tmp_path / f"traces/rank{rank}" / TRACE)
    _agrees(tmp_path / "traces", simulation)


def _agrees(folder: Path, simulation: Simulation) -> Any:
    report = commscope.analyze(commscope.load(folder))
    rows = report.steps.to_pandas()
    for truth in step_truths(simulation):
        row = rows[(rows["rank"] == truth.rank) & (rows["step"] == truth.step)].iloc[0]
        assert {name: row[name] for name in _COLUMNS} == {
            name: getattr(truth, name) for name in _COLUMNS
        }
    return report


def _without_line(rows: list[dict[str, Any]]) -> None:
    del rows[5]


def _other_rank(rows: list[dict[str, Any]]) -> None:
    rows[0]["rank"] = 1


def _other_schema(rows: list[dict[str, Any]]) -> None:
    rows[0]["schema"] = "commscope.recorded/9"


def _no_header(rows: list[dict[str, Any]]) -> None:
    del rows[0]


def _other_number(rows: list[dict[str, Any]]) -> None:
    rows[3]["i"] = 7


def _backwards(rows: list[dict[str, Any]]) -> None:
    rows[3]["host_end_ns"] = 1


def _half(rows: list[dict[str, Any]]) -> None:
    row = next(row for row in rows if "begin_ns" in row)
    del row["end_ns"]


def _words(rows: list[dict[str, Any]]) -> None:
    rows[4]["host_begin_ns"] = "soon"


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (_without_line, CorruptTrace, "operations, but the schedule has"),
        (_other_rank, CorruptTrace, "is of rank 1 of 2, not of rank 0 of 2"),
        (_other_schema, UnknownFormat, "schema 'commscope.recorded/9'"),
        (_no_header, UnknownFormat, "line 1 is no header of commscope.recorded/1"),
        (_other_number, CorruptTrace, "line 4 (operation 2, .*: it says that it is operation 7"),
        (_backwards, CorruptTrace, "line 4 .*: it ends before it begins"),
        (_half, CorruptTrace, "of begin_ns and end_ns one is missing"),
        (_words, CorruptTrace, "line 5: Expected `int`"),
    ],
)
def test_a_broken_recording_is_one_line(
    spoil: Callable[[list[dict[str, Any]]], None],
    error: type[CommscopeError],
    says: str,
    simulation: Simulation,
    tmp_path: Path,
) -> None:
    path = write_run(simulation, tmp_path) / "recorded_rank0.jsonl"
    rows = read_lines(path)
    spoil(rows)
    write_lines(path, rows)
    with pytest.raises(error, match=says.replace("(", r"\(")):
        read_recording(tmp_path, simulation.schedule)


def test_a_missing_recording_is_one_line(simulation: Simulation, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape("recorded_rank0.jsonl: cannot be read")):
        read_recording(tmp_path, simulation.schedule)


def test_an_activity_that_ends_too_early_is_one_line(
    simulation: Simulation, tmp_path: Path
) -> None:
    path = write_run(simulation, tmp_path) / "activities_rank0.jsonl"
    rows = read_lines(path)
    rows[1]["end_ns"] = 0
    write_lines(path, rows)
    with pytest.raises(CorruptTrace, match="line 2: it ends before it begins"):
        read_activities(path)
