"""``commscope check``, through the whole program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compared import write_ddp
from small_run import write_run

STEPS = 9


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of one job: five earlier ones, a new one like them, and a slower one."""
    folder = tmp_path_factory.mktemp("jobs")
    for seed in range(6):
        write_ddp(folder / f"job{seed}", seed=seed, steps=STEPS)
    write_ddp(folder / "slow", seed=9, steps=STEPS, percent=110)
    return folder


@pytest.fixture
def here(jobs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for job in jobs.iterdir():
        (tmp_path / job.name).symlink_to(job)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path  # type: ignore[return-value]


EARLIER = [argument for seed in range(5) for argument in ("--baseline", f"job{seed}")]


def test_like_its_baseline(here: Path, call: Any) -> None:
    outcome = call("check", "job5", *EARLIER)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("pass: 1 limit kept\n")


def test_slower_than_its_baseline(here: Path, call: Any) -> None:
    outcome = call("check", "slow", *EARLIER, "--junit", "gate.xml", "-o", "gate.json", "--github")
    assert outcome.code == 10
    assert outcome.out.startswith("::error title=commscope::fail: summary.step_ns.p50 > baseline")
    document = json.loads((here / "gate.json").read_text())
    assert document["baseline"] == [f"job{seed}" for seed in range(5)]
    beyond = {one["expression"] for one in document["watched"] if one["result"] == "fail"}
    assert "per_step.compute_ns > baseline" in beyond
    assert 'failures="1"' in (here / "gate.xml").read_text()


def test_a_named_baseline(here: Path, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(5):
        options = ("--dir", "kept", "--unprofiled-step-ms", "2.5")
        assert call("baseline", "save", "main", f"job{seed}", *options).code == 0
    asked = ("--baseline", "main", "--baseline-dir", "kept", "--step-time", "2.6")
    found = json.loads(call("check", "job5", *asked, "--format", "json").out)
    assert found["baseline"] == [f"main/run-{number}" for number in range(1, 6)]
    assert [one["result"] for one in found["gate"]] == ["pass", "fail"]
    assert found["profiler"]["unprofiled_step_ns"] == 2.6e6
    assert call("check", "job5", "--baseline", "kept/main", "-q").out == "pass: 1 limit kept\n"
    run = here / "kept" / "main" / "run-2" / "run.json"
    run.write_text(run.read_text().replace('"definitions":1', '"definitions":0'))
    run.write_text(run.read_text().replace('"definitions": 1', '"definitions": 0'))
    outcome = call("check", "job5", "--baseline", "kept/main", "-q")
    assert outcome.code == 11
    assert "main/run-2 of the baseline was saved by a version with other definitions" in outcome.out


def test_a_run_whose_manifest_is_damaged_is_no_baseline(
    here: Path, call: Any, refused: Any
) -> None:
    for seed in range(2):
        assert call("baseline", "save", "broken", f"job{seed}", "--dir", "kept").code == 0
    (here / "kept/broken/run-1/run.json").write_text("junk")
    told = refused(3, "check", "job5", "--baseline", "broken", "--baseline-dir", "kept")
    assert "broken/run-1/run.json: no saved run can be read from it" in told


def test_limits_alone(tmp_path: Path, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    run = write_run(tmp_path / "run")
    kept = call("check", run, "--fail-on", "shares.exposed_comm > 50%", "--github")
    assert (kept.code, kept.out.count("::notice")) == (0, 1)
    assert summary.read_text().startswith("<!-- commscope:check -->")
    broken = call("check", run, "--fail-on", "shares.exposed_comm > 10%", "--format", "md")
    assert (broken.code, broken.out.count("| `FAIL` |")) == (10, 1)
    unknown = call("check", run, "--fail-on", "summary.upper_bound.speedup < baseline")
    assert (unknown.code, "no baseline is given" in unknown.out) == (11, True)


def test_three_steps_cannot_be_judged(tmp_path: Path, call: Any) -> None:
    run = write_run(tmp_path / "run")
    outcome = call("check", run, "--baseline", run)
    assert outcome.code == 11
    assert "it is the run that is judged" in outcome.out


def test_what_is_refused(tmp_path: Path, refused: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run")
    assert "nothing to judge by" in refused(2, "check", "run")
    assert "did you mean shares?" in refused(2, "check", "run", "--fail-on", "shars.idle > 1")
    assert "holds no baseline main" in refused(2, "check", "run", "--baseline", "main")
    assert "no such file" in refused(2, "check", "run", "--baseline", "a/b")
    limit = ("--fail-on", "step_ns.p50 > 1s")
    assert "write a share" in refused(2, "check", "run", *limit, "--floor", "much")
    assert "more than all" in refused(2, "check", "run", *limit, "--floor", "2")
    assert "neither a number" in refused(2, "check", "run", *limit, "--step-time", "x")
    into = ("--junit", "run/rank0.json")
    assert "would be lost" in refused(2, "check", "run", *limit, *into)
    assert "there is no folder" in refused(2, "check", "run", *limit, "--junit", "a/b.xml")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "nowhere/summary.md")
