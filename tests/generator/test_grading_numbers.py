"""Whatever number of a truth is altered, the grade tells."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from graded import lines_of, run_of, truth_of, write_lines
from hypothesis import given
from hypothesis import strategies as st

from commscope.columns import int64, nullable, with_column
from commscope.generator.grading import judge
from commscope.generator.grading.traces import Traces, read_traces
from commscope.generator.grading.truths import read_truths
from commscope.report.model import ReportTable

STEP = (
    "host_begin_ns", "host_end_ns", "compute_us", "comm_us", "overlap_us", "exposed_comm_us",
    "exposed_wait_us", "exposed_copy_us", "idle_us", "span_us", "step",
)  # fmt: skip
OPERATION = ("begin_us", "end_us", "bytes", "host_ns", "step", "wait_us", "seq")


@cache
def _run() -> tuple[Path, Traces]:
    folder = run_of(
        "straggler-host", Path(mkdtemp()) / "run", {"ranks": 2, "steps": 2, "layers": 1}
    )
    traces = read_traces(folder)
    assert isinstance(traces, Traces)
    return folder, traces


def _judged(rank: int, number: int, name: str, by: int) -> set[str]:
    """The checks that fail where a number of a line is altered by so many ns, bytes or steps."""
    folder, traces = _run()
    lines = lines_of(truth_of(folder, rank))
    line = lines[number]
    line[name] = line[name] + by / 1000 if name.endswith("_us") else line[name] + by
    altered = folder / f"altered/truth_rank{rank}.jsonl"
    altered.parent.mkdir(exist_ok=True)
    write_lines(altered, lines)
    files = [altered, truth_of(folder, 1 - rank)]
    return {row.check for row in judge("", read_truths(files), traces).failures}


def _numbers_of(rank: int, op: tuple[str, ...], names: tuple[str, ...]) -> list[tuple[int, str]]:
    lines: list[dict[str, Any]] = lines_of(truth_of(_run()[0], rank))
    return [
        (number, name)
        for number, line in enumerate(lines)
        for name in names
        if line.get("op") in op and (line["step"] or 0) >= 0 and name in line
    ]


_BY = st.integers(-(10**6), 10**6).filter(bool)


def test_nothing_fails_that_is_not_altered() -> None:
    assert _judged(0, 1, "begin_us", 0) == set()


@given(st.data(), st.integers(0, 1), _BY)
def test_any_number_of_a_step_that_is_altered_fails(
    data: st.DataObject, rank: int, by: int
) -> None:
    number, name = data.draw(st.sampled_from(_numbers_of(rank, ("step",), STEP)))
    assert _judged(rank, number, name, by)


@given(st.data(), st.integers(0, 1), _BY)
def test_any_number_of_an_operation_that_is_altered_fails(
    data: st.DataObject, rank: int, by: int
) -> None:
    ops = ("compute", "collective", "copy")
    number, name = data.draw(st.sampled_from(_numbers_of(rank, ops, OPERATION)))
    assert _judged(rank, number, name, by)


@pytest.mark.parametrize(
    ("column", "check"),
    [
        ("compute_ns", "compute"),
        ("communication_ns", "communication"),
        ("exposed_comm_ns", "exposed comm"),
        ("exposed_wait_ns", "exposed wait"),
        ("idle_ns", "idle"),
    ],
)
def test_an_analysis_that_is_wrong_is_suspect(column: str, check: str) -> None:
    folder, traces = _run()
    steps = traces.report.steps.arrow
    wrong = with_column(steps, column, nullable(int64(steps, column) + 50_000))
    report = replace(traces.report, steps=ReportTable(wrong))
    truths = read_truths([truth_of(folder, rank) for rank in (0, 1)])
    failures = judge("", truths, replace(traces, report=report)).failures
    assert {(row.check, row.suspect) for row in failures} == {(check, "commscope")}
    assert len(failures) == 4
