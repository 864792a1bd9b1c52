"""The whole way, for real: processes play a job, are traced, analysed, and graded."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from graded import graded
from host_program import host_program

from commscope.generator.catalog import plan_of
from commscope.generator.engines import Choice, generate
from commscope.generator.programs import Straggler
from commscope.generator.run_folder import read_run

pytestmark = pytest.mark.long

_MS = 1_000_000


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program, compiled once for all tests."""
    monkeypatch.setenv("COMMSCOPE_CACHE_DIR", str(host_program().parents[2]))


@pytest.mark.parametrize(
    ("scenario", "ranks", "where"),
    [
        ("straggler-host", 2, "host"),
        ("straggler-device", 4, "device"),
        ("straggler-input", 2, "input"),
    ],
)
def test_a_job_of_processes_passes_its_grade(
    scenario: str, ranks: int, where: Literal["host", "device", "input"], tmp_path: Path
) -> None:
    # So late that no other process of this machine comes near it.
    late = Straggler(1, 20 * _MS, None, where)
    plan = plan_of(scenario, {"ranks": ranks, "steps": 3, "stragglers": (late,)})
    generate(plan, Choice(engine="host"), tmp_path / "run")
    found = graded(tmp_path / "run")
    assert found.failures == []
    assert found.result == "pass"
    passed = {tally.check for tally in found.tallies if tally.passed}
    assert passed >= {"order", "sizes", "compute", "exposed comm", "exposed wait", "causes"}


def test_the_truth_as_trace_passes_its_grade(tmp_path: Path) -> None:
    plan = plan_of("straggler-host", {"ranks": 2, "steps": 2, "layers": 2})
    generate(plan, Choice(engine="host", profiler="none"), tmp_path / "run")
    found = graded(tmp_path / "run")
    assert [row for row in found.failures if row.check != "causes"] == []


def test_a_run_tells_how_it_was_played(tmp_path: Path) -> None:
    plan = plan_of("ddp-overlap", {"ranks": 1, "steps": 1, "layers": 2, "comm": "mock"})
    generate(plan, Choice(engine="host", env={"WHO": "me"}), tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert (run.engine, run.backend, run.profiler) == ("host", "host", "own")
    assert run.exit_codes == [0]
    assert run.commands[0][0].endswith("commscope-gen")
    assert run.files == {0: ["rank0/output.log", "rank0/trace.json.gz"]}
