"""Simulated runs for the grader, and what can be done to them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from commscope.errors import CommscopeError
from commscope.generator.catalog import plan_of
from commscope.generator.engines import Choice, generate
from commscope.generator.grading import Grade, Row, grade, judge
from commscope.generator.grading.run_rows import read_run_file
from commscope.generator.grading.traces import Traces, read_traces
from commscope.generator.grading.truths import read_truths

Line = dict[str, Any]
SMALL = {"ranks": 2, "steps": 3, "layers": 2}


def run_of(scenario: str, folder: Path, knobs: Mapping[str, Any] = SMALL) -> Path:
    """A small simulated run."""
    generate(plan_of(scenario, knobs), Choice(), folder)
    return folder


def graded(folder: Path) -> Grade:
    """The grade of one run."""
    (found,) = grade(folder)
    return found


def failures(folder: Path) -> dict[str, list[Row]]:
    """The rows that failed, by check."""
    return _by_check(graded(folder).failures)


@cache
def _traces(folder: Path) -> Traces | CommscopeError:
    return read_traces(folder)


def failures_of_truths(folder: Path, whole: Path) -> dict[str, list[Row]]:
    """The same where only truths differ from those of another run, whose traces are read once."""
    truths = read_truths(sorted(folder.glob("truth_rank*.jsonl")), read_run_file(folder).run)
    return _by_check(judge(folder.name, truths, _traces(whole)).failures)


def _by_check(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.check, []).append(row)
    return found


def truth_of(folder: Path, rank: int) -> Path:
    return folder / f"truth_rank{rank}.jsonl"


def lines_of(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def write_lines(file: Path, lines: list[Line]) -> None:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def change_truth(folder: Path, rank: int, change: Callable[[list[Line]], object]) -> None:
    """Changes the lines of a truth file in place."""
    lines = lines_of(truth_of(folder, rank))
    change(lines)
    write_lines(truth_of(folder, rank), lines)


def step_line(lines: list[Line], number: int) -> Line:
    """The line of a step."""
    return next(line for line in lines if line.get("op") == "step" and line["step"] == number)


def change_trace(folder: Path, rank: int, change: Callable[[Line], object]) -> None:
    """Changes the document of a trace in place."""
    file = folder / f"rank{rank}/trace.json.gz"
    document = json.loads(gzip.decompress(file.read_bytes()))
    change(document)
    file.write_bytes(gzip.compress(json.dumps(document).encode(), 1))
