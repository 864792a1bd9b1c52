from __future__ import annotations

import gzip
import os
import shutil
import sys
from pathlib import Path

import pytest

from commscope import sample_traces
from commscope.automation.watch import Watched, watch
from commscope.errors import NoDeviceEvents
from commscope.integrations import after


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
    assert capsys.readouterr().err == "commscope: no trace of ranks 0, 1 after 0 s\n"


def test_the_report_lies_next_to_the_traces_and_a_watcher_makes_no_other(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    for rank in (0, 1):
        sample = sample_traces.path("ddp_straggler") / f"rank{rank}.json.gz"
        shutil.copy(sample, traces / f"rank{rank}.pt.trace.json.gz")
    assert after.main([str(traces), "--ranks", "0,1", "--wait", "0"]) == 0
    assert {"report.html", "report.json", "report.md"} <= {it.name for it in traces.iterdir()}
    assert watch(tmp_path, once=True, settle_s=0.0, say=print) == Watched()


def test_traces_without_a_gpu_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rank0.pt.trace.json.gz").write_bytes(gzip.compress(b'{"traceEvents": []}'))
    assert after.main([str(tmp_path), "--ranks", "0", "--wait", "0"]) == NoDeviceEvents.exit_code
    assert "no GPU activity" in capsys.readouterr().err


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
    after.start(tmp_path / "gone", frozenset({0}), 0.0)
    assert len(started) == 1
    assert "the job goes on" in capsys.readouterr().err
