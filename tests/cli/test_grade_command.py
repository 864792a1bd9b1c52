"""``commscope grade``: what it prints, what it ends with, and that no file makes it fall over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graded import Line, change_truth, run_of, step_line


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of("ddp-tail", tmp_path_factory.mktemp("graded") / "run")


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy to tamper with."""
    copy: Path = shutil.copytree(whole, tmp_path / "run")
    return copy


def test_a_run_that_passes(whole: Path, call: Any) -> None:
    outcome = call("grade", whole)
    assert (outcome.code, outcome.err) == (0, "")
    first, _, title, head, *rows = outcome.out.splitlines()
    assert first.startswith("run (ddp-tail, simulate): passed: ")
    assert first.endswith(" comparisons with the truth, all within their tolerances")
    assert (title, head.split()[:3]) == ("Checks", ["check", "result", "within"])
    exposed = next(row for row in rows if row.startswith("exposed comm"))
    assert exposed.split()[2:] == ["pass", "6", "0", "0", "+0", "ns", "exact"]
    assert "What failed" not in outcome.out


def test_every_row_is_shown_if_asked_for(whole: Path, call: Any) -> None:
    outcome = call("grade", whole, "--all")
    rows = outcome.out.split("All rows\n")[1].splitlines()
    document = json.loads(call("grade", whole, "--format", "json").out)
    assert len(rows) - 1 == len(document["runs"][0]["rows"])


def test_a_run_that_fails(run: Path, call: Any) -> None:
    change_truth(run, 1, lambda lines: step_line(lines, 1).update(compute_us=1))
    outcome = call("grade", run)
    assert (outcome.code, outcome.err) == (10, "")
    assert "look first at what the job says of itself: truth adds up (compute of rank 1" in (
        outcome.out.replace("\n", " ")
    )
    assert "What failed" in outcome.out
    assert "suspect truth: truth adds up (compute of rank 1, step 1): it is not" in outcome.out


def test_json_of_several_runs(whole: Path, run: Path, call: Any, tmp_path: Path) -> None:
    change_truth(run, 0, lambda lines: step_line(lines, 0).update(idle_us=1))
    out = tmp_path / "grades.json"
    assert call("grade", whole, run, "-o", out).code == 10
    document = json.loads(out.read_text(encoding="utf-8"))
    assert (document["schema"], document["result"]) == ("commscope.grade/1", "fail")
    assert [found["result"] for found in document["runs"]] == ["pass", "fail"]
    assert {row["result"] for row in document["runs"][0]["rows"]} == {"pass"}
    (check,) = (c for c in document["runs"][1]["checks"] if c["check"] == "truth adds up")
    assert (check["failed"], check["result"]) == (1, "fail")
    (row,) = (
        r for r in document["runs"][1]["rows"] if r["check"] == "idle" and r["result"] == "fail"
    )
    assert (row["rank"], row["step"], row["truth"], row["unit"]) == (0, 0, 1000, "ns")
    assert row["deviation"] == row["found"] - row["truth"]
    assert (row["tolerance"], row["suspect"]) == (0, "profiler")


def test_runs_of_a_suite_are_counted(whole: Path, run: Path, call: Any) -> None:
    change_truth(run, 0, lambda lines: step_line(lines, 0).update(idle_us=1))
    outcome = call("grade", whole, run.parent)
    assert outcome.out.rstrip().endswith("1 of 2 runs passed; failed: run")


def test_what_is_no_run(refused: Any, tmp_path: Path) -> None:
    assert "holds no truth_rank*.jsonl" in refused(2, "grade", tmp_path)
    assert "is no folder" in refused(2, "grade", tmp_path / "x\x1b[2J")
    assert "Missing argument 'RUN...'" in refused(2, "grade")


def _hostile(lines: list[Line]) -> None:
    lines[0].update(scenario="\x1b[2J\x00", world=2**40, plan={"\x1b]0;x": "\u202e"})


def _deep(lines: list[Line]) -> None:
    next(line for line in reversed(lines) if line["op"] == "compute")["name"] = "(" * 10**5


def _numbers(lines: list[Line]) -> None:
    lines[1].update(seq=-(2**61), bytes=2**61)
    step_line(lines, 0).update(host_begin_ns=-(2**61), step=2**61)


def _duplicates(lines: list[Line]) -> None:
    lines += [step_line(lines, 0)] * 3


def _clock(lines: list[Line]) -> None:
    lines[0]["clock"] = {"realtime_ns": -(2**61), "boottime_ns": 2**61, "monotonic_ns": 0}


@pytest.mark.parametrize("change", [_hostile, _deep, _numbers, _duplicates, _clock])
def test_nonsense_fails_in_words(change: Callable[[list[Line]], Any], run: Path, call: Any) -> None:
    change_truth(run, 0, change)
    outcome = call("grade", run)
    assert (outcome.code, outcome.err) == (10, "")
    assert outcome.out.replace("\n", "").isprintable()
    assert max(map(len, outcome.out.splitlines())) <= 120
