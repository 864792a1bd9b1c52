"""``commscope analyze`` and ``report`` on a folder of ``commscope run``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from collected_runs import add_node, job_log, reports, start_job
from log_rule_cases_errors import timeout

ALL = ["report.html", "report.json", "report.md"]
NOTHING = "No activity of a GPU was recorded, and no record of RCCL or NCCL."


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    """A job that failed on its first node; the second never came."""
    job = start_job(tmp_path / "traced")
    add_node(job, 0, [0, 1], status={"exit_code": 9})
    return job


@pytest.fixture
def untraced(tmp_path: Path) -> Path:
    """A job on the CPU that failed, with the facts of its host alone."""
    job = start_job(tmp_path / "untraced", nodes=1)
    node = job / "nodes" / add_node(job, 0, [0], traced=False, status={"exit_code": 7})
    (node / "environment").mkdir()
    facts = {"schema": "commscope.collected/1", "host": "host0", "environment": {}, "tools": []}
    (node / "environment" / "collected.json").write_text(json.dumps(facts))
    return job


def test_how_it_ended_and_what_is_missing_come_first(call: Any, traced: Path) -> None:
    outcome = call("analyze", traced)
    assert outcome.code == 0
    assert outcome.out.splitlines()[:2] == [
        "The job failed with exit code 9.",
        "Missing: node 1 never wrote into traced (ranks 2-3).",
    ]
    assert "Exposed communication takes" in outcome.out
    assert outcome.err.startswith(f"commscope: report: {traced / 'report.html'}")
    assert reports(traced) == ALL


def test_the_verdict_alone(call: Any, traced: Path) -> None:
    outcome = call("analyze", "-q", traced)
    assert (outcome.code, outcome.err) == (0, "")
    ended, verdict, trust = outcome.out.splitlines()
    assert ended.startswith("The job failed with exit code 9; missing: node 1 ")
    assert verdict.startswith("Exposed communication takes")
    assert trust.startswith("Trust ")


def test_json_is_that_of_the_folder(call: Any, traced: Path) -> None:
    printed = json.loads(call("analyze", "--format", "json", traced).out)
    assert printed == json.loads((traced / "report.json").read_text())
    assert "the job failed with exit code 9" in printed["notes"]
    more = json.loads(call("analyze", "--format", "json", "--instances", traced).out)
    assert "instances" in more


def test_a_job_without_a_gpu_is_no_failure(call: Any, untraced: Path) -> None:
    for _ in range(2):
        outcome = call("analyze", "-q", untraced)
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.splitlines() == ["The job failed with exit code 7.", NOTHING]
    assert reports(untraced) == ALL
    assert NOTHING in call("analyze", untraced).out
    printed = json.loads(call("analyze", "--format", "json", untraced).out)
    assert printed["schema"] == "commscope.log/1"


def test_where_it_hung_is_said(call: Any, tmp_path: Path) -> None:
    job = start_job(tmp_path / "hung", nodes=1)
    hung = {"exit_code": 1, "hung": True}
    add_node(job, 0, [0, 1], world=2, log=f"{job_log(0, 1)}{timeout(0)}\n", status=hung)
    ended, verdict, _ = call("analyze", "-q", job).out.splitlines()
    assert ended == "The job hung and was ended."
    assert verdict.startswith("Hang: ")


def test_options_of_reading_read_the_traces_alone(call: Any, traced: Path, untraced: Path) -> None:
    outcome = call("analyze", "--skip-first", "0", traced)
    assert outcome.out.startswith("Exposed communication takes")
    assert call("analyze", "--steps", "1", untraced).code == 3
    assert reports(traced) == reports(untraced) == []


def test_report_writes_into_the_folder(call: Any, untraced: Path) -> None:
    assert call("report", "-q", untraced).code == 0
    assert reports(untraced) == ALL
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", ["traced", "untraced"])
def test_files_of_every_kind(call: Any, request: pytest.FixtureRequest, name: str) -> None:
    job = request.getfixturevalue(name)
    names = ["r.html", "r.json", "r.md", "r.txt", "r.xml"]
    assert call("report", "-q", job, *(part for it in names for part in ("-o", it))).code == 0
    for suffix in ("html", "json", "md"):
        assert Path(f"r.{suffix}").read_bytes() == (job / f"report.{suffix}").read_bytes()
    assert Path("r.txt").read_text() == call("analyze", job).out
    assert ElementTree.parse("r.xml").getroot().tag == "testsuites"
    outcome = call("report", "-q", "--github", job)
    assert outcome.out.startswith("::notice title=commscope::The job failed with exit code ")


def test_where_the_folder_cannot_have_it_the_report_is_here(call: Any, tmp_path: Path) -> None:
    job = start_job(tmp_path / "running", nodes=1)
    add_node(job, 0, [0], world=1, status=None)
    outcome = call("report", "-q", job)
    assert outcome.err.startswith("commscope: no report is written: the job has not ended")
    assert reports(job) == []
    assert reports(Path()) == ["report.html"]
