"""Simulated runs for the grader, and what can be done to them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from commscope.generator.catalog import plan_of
from commscope.generator.engines import Choice, generate
from commscope.generator.grading import Grade, Row, grade

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
    found: dict[str, list[Row]] = {}
    for row in graded(folder).failures:
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


def change_trace(folder: Path, rank: int, change: Callable[[Line], object]) -> None:
    """Changes the document of a trace in place."""
    file = folder / f"rank{rank}/trace.json.gz"
    document = json.loads(gzip.decompress(file.read_bytes()))
    change(document)
    file.write_bytes(gzip.compress(json.dumps(document).encode(), 1))
