"""Grades of jobs in PyTorch, of which the host's steps and the numbers of collectives are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graded import change_truth, failures, graded, run_of

from commscope.generator.grading import verdict

Line = dict[str, Any]
#: Of two layers, of which each is a bucket of 32 MiB.
_COUNTED = {"all_reduce": {"count": 2, "bytes": 2 * (32 << 20)}}


def _as_torch(lines: list[Line]) -> None:
    """Leaves of a truth what is known of a job in PyTorch."""
    header, steps = lines[0], [line for line in lines if line.get("op") == "step"]
    kept = ("step", "host_begin_ns", "host_end_ns")
    lines[:] = [
        header | {"engine": "torch"},
        *(
            {"op": "host_step", "collectives": _COUNTED, **{name: step[name] for name in kept}}
            for step in steps
        ),
    ]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run, as one in PyTorch would tell of itself."""
    folder = run_of("ddp-overlap", tmp_path / "run")
    (folder / "run.json").unlink()
    for rank in (0, 1):
        change_truth(folder, rank, _as_torch)
    return folder


def test_what_is_known_is_compared(run: Path) -> None:
    found = graded(run)
    assert found.failures == []
    assert verdict(found).startswith("passed: ")
    numbers = [row.numbers for row in found.rows if row.check == "collectives"]
    assert [(it.truth, it.found) for it in numbers] == [(2, 2)] * 6
    assert {row.check for row in found.rows if row.result == "not_told"} == {
        *("run", "compute", "communication", "hidden comm", "exposed comm", "causes"),
    }
    assert {row.place.what for row in found.rows if row.check == "steps"} == {"", "begin", "end"}


def _one_more(step: Line) -> None:
    step["collectives"] = {"all_reduce": {"count": 3, "bytes": 2 * (32 << 20)}}


def _more_bytes(step: Line) -> None:
    step["collectives"] = {"all_reduce": {"count": 2, "bytes": 5}}


def _another_op(step: Line) -> None:
    step["collectives"] = {"all_gather": {"count": 1, "bytes": 1}}


def _later(step: Line) -> None:
    step["host_begin_ns"] += 50_000_000


@pytest.mark.parametrize(
    ("alter", "check"),
    [
        (_one_more, "collectives"),
        (_another_op, "collectives"),
        (_more_bytes, "sizes"),
        (_later, "steps"),
    ],
)
def test_what_differs_fails(alter: Callable[[Line], None], check: str, run: Path) -> None:
    change_truth(run, 1, lambda lines: alter(lines[-1]))
    found = failures(run)
    assert set(found) == {check}
    assert {(row.place.rank, row.place.step) for row in found[check]} == {(1, 2)}


def test_a_step_that_is_missing_fails(run: Path) -> None:
    change_truth(run, 0, lambda lines: lines.pop())
    assert "was it cut?" in failures(run)["truth file"][0].says


def test_messages_are_not_compared(run: Path) -> None:
    def send(lines: list[Line]) -> None:
        lines[-1]["collectives"] = {"send": {"count": 1, "bytes": 1}}

    change_truth(run, 0, send)
    rows = [row for row in graded(run).rows if row.place.what == "send"]
    assert [row.result for row in rows] == ["not_told"]
