from __future__ import annotations

import gzip
import os
import shutil
import sys
from pathlib import Path

import pytest

from commscope import sample_traces
from commscope.automation.watch import Watched, watch
from commscope.integrations import after
from commscope.integrations.profiler import StepProfiler


@pytest.fixture(autouse=True)
def _not_niced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of the tests stays as it is."""
    monkeypatch.setattr(os, "nice", lambda _: 0)


def test_traces_of_an_earlier_training_do_not_count(tmp_path: Path) -> None:
    for rank, written in ((0, 1_000), (1, 2_000)):
        trace = tmp_path / f"rank{rank}.pt.trace.json.gz"
        trace.touch()
        os.utime(trace, (written, written))
    assert after.missing(tmp_path, frozenset({0, 1, 2}), since=1_500.0) == [0, 2]


def test_without_a_trace_there_is_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert after.main([str(tmp_path), "--ranks", "0-1", "--wait", "0"]) == 1
    told = "commscope: no trace of ranks 0, 1 after 0 s\n"
    assert capsys.readouterr().err == told
    assert (tmp_path / "report.error").read_text() == told


def test_ranks_that_left_no_trace_are_named_in_the_report(tmp_path: Path) -> None:
    sample = sample_traces.path("ddp_straggler") / "rank0.json.gz"
    shutil.copy(sample, tmp_path / "rank0.pt.trace.json.gz")
    assert after.main([str(tmp_path), "--ranks", "0-1", "--wait", "0"]) == 0
    assert "no trace of ranks 1 after 0 s" in (tmp_path / "report.md").read_text()


def test_the_report_lies_next_to_the_traces_and_a_watcher_makes_no_other(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    for rank in (0, 1):
        sample = sample_traces.path("ddp_straggler") / f"rank{rank}.json.gz"
        shutil.copy(sample, traces / f"rank{rank}.pt.trace.json.gz")
    assert after.main([str(traces), "--ranks", "0,1", "--wait", "0"]) == 0
    assert {"report.html", "report.json", "report.md"} <= {it.name for it in traces.iterdir()}
    assert watch(tmp_path, once=True, settle_s=0.0, say=print) == Watched()


def test_traces_without_a_gpu_have_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rank0.pt.trace.json.gz").write_bytes(gzip.compress(b'{"traceEvents": []}'))
    assert after.main([str(tmp_path), "--ranks", "0", "--wait", "0"]) == 0
    assert "No activity of a GPU was recorded" in capsys.readouterr().err
    assert "No activity of a GPU was recorded" in (tmp_path / "report.md").read_text()
    assert (tmp_path / "report.html").is_file()


def test_a_process_of_its_own_is_started_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[tuple[list[str], dict[str, object]]] = []
    monkeypatch.setattr(
        after.subprocess, "Popen", lambda words, **how: started.append((words, how))
    )
    after.start(tmp_path, frozenset({0, 1}), 12.5)
    ((words, how),) = started
    assert words[:4] == [sys.executable, "-m", "commscope.integrations.after", str(tmp_path)]
    assert words[4:] == ["--ranks", "0,1", "--since", "12.500"]
    assert how["start_new_session"] is True
    assert capsys.readouterr().err.startswith("commscope: the report will be ")
    (tmp_path / "file").touch()
    after.start(tmp_path / "file" / "gone", frozenset({0}), 0.0)
    assert len(started) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"the job goes on ({tmp_path / 'file' / 'gone'}: Not a directory)" in told


@pytest.mark.parametrize(("recorded", "starts"), [(None, 0), ([0], 0), ([1], 1)])
def test_nothing_is_not_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: list[int] | None, starts: int
) -> None:
    """Rank 0 knows its own trace; for those of others it waits."""
    started: list[object] = []
    monkeypatch.setattr(after, "start", lambda *given: started.append(given))
    ranks = None if recorded is None else frozenset(recorded)
    profiler = StepProfiler(tmp_path / "traces", steps=(50, 60), ranks=ranks)
    profiler._session.world_size = 2
    profiler.analyze()
    assert len(started) == starts
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "rank0.pt.trace.json.gz").touch()
    profiler.analyze()
    assert len(started) == starts + 1
