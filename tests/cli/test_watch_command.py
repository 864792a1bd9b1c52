"""``commscope watch``: lines, exit codes, and what it leaves behind."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import small_run
from collected_runs import add_node, reports, start_job

from commscope.cli.main import run


def watched(*arguments: str) -> int:
    return run(["watch", "--once", "--settle", "0", *arguments])


def test_a_line_a_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = small_run.write_run(tmp_path / "runs" / "one\x1b[31m")
    assert watched(str(tmp_path / "runs")) == 0
    (line,) = capfd.readouterr().out.splitlines()
    assert line.startswith("one\ufffd[31m: Exposed communication takes")
    assert line.endswith("report.html)")
    assert reports(folder) == ["report.html", "report.json", "report.md"]
    assert watched(str(tmp_path / "runs")) == 0
    assert capfd.readouterr() == ("", "")


def test_a_run_that_cannot_be_analysed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "runs" / "bad"
    bad.mkdir(parents=True)
    (bad / "rank0.json").write_bytes(small_run.CUT_EARLY + b"]")
    assert watched(str(tmp_path / "runs")) == 1
    assert capfd.readouterr().out.startswith("bad: cannot be analysed: rank0.json: ")
    assert watched(str(tmp_path / "runs")) == 0


def test_what_is_not_finished(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    small_run.write_run(tmp_path / "runs" / "new")
    assert run(["watch", "--once", "--settle", "3600", str(tmp_path / "runs")]) == 0
    assert capfd.readouterr().err.startswith("not finished: new (written ")


def test_a_trace_under_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = small_run.write_run(tmp_path / "runs" / "one", ranks=1)
    packed = gzip.compress(small_run.trace(1))
    (folder / "rank1.json.gz").write_bytes(packed[: len(packed) // 2])
    assert watched(str(tmp_path / "runs")) == 0
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err == "not finished: one (rank1.json.gz is not written to its end)\n"
    assert watched("--lost", "0", str(tmp_path / "runs")) == 0
    assert reports(folder) == ["report.html", "report.json", "report.md"]


def test_elsewhere_and_in_silence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    small_run.write_run(tmp_path / "runs" / "one")
    assert watched("-q", "-o", str(tmp_path / "out"), str(tmp_path / "runs")) == 0
    assert capfd.readouterr() == ("", "")
    assert len(reports(tmp_path / "out" / "one")) == 3


def test_a_folder_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert watched(str(tmp_path / "nowhere")) == 2
    assert "there is no such folder to watch" in capfd.readouterr().err


def test_a_collected_run_is_analysed_as_it_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    add_node(job, 0, [0, 1], world=2)
    assert run(["analyze", "-q", str(job)]) == 0
    before = capfd.readouterr().out
    assert before.startswith("Exposed communication takes")
    for _ in range(2):
        assert run(["report", "-q", "-o", str(job / "report.html"), str(job)]) == 0
    assert watched(str(tmp_path)) == 0
    assert capfd.readouterr().out == ""
    assert run(["analyze", "-q", str(job)]) == 0
    assert capfd.readouterr().out == before
