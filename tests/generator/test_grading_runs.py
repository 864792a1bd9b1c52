"""Grades of runs that nobody tampered with: simulated ones exactly, real ones as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from graded import graded, run_of
from support import case

from commscope.errors import UsageError
from commscope.generator.catalog import SCENARIOS
from commscope.generator.grading import grade, verdict

pytestmark = pytest.mark.long

#: A check that compares times, but is not exact in a simulation, would compare nothing there.
TIMES = ("compute", "communication", "hidden comm", "exposed comm", "idle", "window", "clock")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_simulated_runs_pass_to_the_nanosecond(scenario: str, tmp_path: Path) -> None:
    found = graded(run_of(scenario, tmp_path / "run", {"steps": 3}))
    assert found.failures == []
    assert found.result == "pass"
    for row in found.rows:
        assert row.numbers.deviation in (0, None)
        assert row.numbers.tolerance == 0
    passed = {tally.check for tally in found.tallies if tally.passed}
    assert passed.issuperset((*TIMES, "steps", "order", "sizes", "causes"))


@pytest.mark.parametrize("name", ["mock", "ddp", "kin"])
def test_real_runs_pass(name: str) -> None:
    found = graded(case(f"generator_h200/{name}"))
    assert found.failures == []
    assert verdict(found).startswith("passed: ")


def test_what_the_traces_of_mock_collectives_do_not_tell() -> None:
    rows = [row for row in graded(case("generator_h200/mock")).rows if row.result == "not_told"]
    assert {(row.check, row.place.what) for row in rows} == {
        ("run", ""), ("steps", "begin and end"),
        ("order", "collectives"), ("sizes", "collectives"), ("causes", ""),
    }  # fmt: skip


def test_events_that_stand_farther_from_kernels_than_is_allowed_for() -> None:
    """The steps that test_generator_truth.py names, and nothing else."""
    found = graded(case("generator_h200/serial"))
    assert {row.check for row in found.failures} == {"exposed comm"}
    beyond = [tuple(row.place)[:2] for row in found.failures]
    assert beyond == [(0, 3), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4)]
    for row in found.failures:
        assert row.suspect == "truth"
        assert "these lie between the events by which the job timed them" in row.says


@pytest.mark.parametrize("name", ["mock", "ddp", "serial"])
def test_the_trace_of_the_other_rank_does_not_fit(name: str, tmp_path: Path) -> None:
    """Ranks of a real job do the same to 9 us, but each its own to 0.2 us."""
    real = case(f"generator_h200/{name}")
    for rank in (0, 1):
        truth = (real / f"truth_rank{1 - rank}.jsonl").read_text(encoding="utf-8")
        swapped = truth.replace(f'"rank":{1 - rank}', f'"rank":{rank}', 1)
        (tmp_path / f"truth_rank{rank}.jsonl").write_text(swapped, encoding="utf-8")
        (tmp_path / f"trace_rank{rank}.json.gz").write_bytes(
            (real / f"trace_rank{rank}.json.gz").read_bytes()
        )
    rows = [row for row in graded(tmp_path).failures if row.check == "kernel times"]
    assert [row.place.rank for row in rows] == [0, 1]
    assert "the kernels fit the truth of rank 1; were traces or truths exchanged?" in rows[0].says


def test_a_suite_is_graded_run_by_run(tmp_path: Path) -> None:
    for scenario in ("ddp-tail", "straggler-host"):
        run_of(scenario, tmp_path / scenario)
    (tmp_path / "notes").mkdir()
    grades = grade(tmp_path)
    assert [found.run for found in grades] == ["ddp-tail", "straggler-host"]
    assert [found.scenario for found in grades] == ["ddp-tail", "straggler-host"]


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_folder_that_is_no_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=f"{name}: (is no folder|holds no truth_rank)"):
        grade(tmp_path / name)
