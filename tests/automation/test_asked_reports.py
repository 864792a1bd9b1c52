"""Whoever asks for the report on a collected run gets it, and the folder too if the job is over."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from collected_runs import add_node, end_node, reports, start_job

from commscope.automation.asked import report_asked_for
from commscope.automation.finish import finish_node
from commscope.automation.join import finish_run
from commscope.errors import UsageError

ALL = ["report.html", "report.json", "report.md"]


def hidden(job: Path) -> list[str]:
    return sorted(path.name for path in job.glob(".commscope-*"))


def test_a_report_is_written_once(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    add_node(job, 0, [0, 1], world=2)
    first = report_asked_for(job)
    assert (first.is_written, first.says) == (True, "")
    assert str(job / "report.html") in first.line
    state = hidden(job), (job / "report.html").stat().st_ino
    assert report_asked_for(job).made.verdict == first.made.verdict
    assert (hidden(job), (job / "report.html").stat().st_ino) == state


def test_it_is_the_report_that_the_nodes_make(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    node = add_node(job, 0, [0, 1], world=2, status={"exit_code": 7})
    asked = report_asked_for(job)
    finish_node(job, node)
    assert finish_run(job, 0.0) is None
    assert asked.says == "the job failed with exit code 7"
    assert asked.made.told == (asked.says,)


def test_a_node_that_never_came_is_named_and_may_still_come(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run")
    add_node(job, 0, [0, 1])
    asked = report_asked_for(job)
    assert asked.says == "missing: node 1 never wrote into run (ranks 2-3)"
    assert reports(job) == ALL
    late = add_node(job, 1, [2, 3])
    finish_node(job, late)
    assert finish_run(job, 0.0, late) is not None


def test_a_job_that_runs_keeps_its_own_report(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run")
    add_node(job, 0, [0, 1])
    running = add_node(job, 1, [2, 3], status=None)
    asked = report_asked_for(job)
    assert not asked.is_written
    assert asked.line.startswith("no report is written: the job has not ended on all nodes")
    assert "node 1 (host1) has not ended" in asked.says
    assert (reports(job), hidden(job)) == ([], [])
    assert report_asked_for(job, now_s=time.time() + 86_400).is_written
    assert reports(job) == ALL
    end_node(job, running)
    assert report_asked_for(job).says == ""


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    add_node(job, 0, [0])
    monkeypatch.setattr(os, "access", lambda *_: False)
    asked = report_asked_for(job)
    assert (asked.is_written, reports(job)) == (False, [])
    assert "cannot be written" in asked.line


def test_settings_that_cannot_be_read_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    add_node(job, 0, [0])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "commscope.toml").write_text("[")
    with pytest.raises(UsageError, match=r"commscope\.toml"):
        report_asked_for(job)
