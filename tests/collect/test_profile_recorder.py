from __future__ import annotations

import errno
import gzip
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from commscope.collect.profiling.inject import recorder, session
from commscope.collect.profiling.inject.device import HostClock
from commscope.collect.profiling.inject.packing import beside_others, pack
from commscope.collect.profiling.inject.plan import Plan
from commscope.collect.profiling.inject.recorder import Recorder
from commscope.collect.profiling.inject.settings import KINETO, Settings
from commscope.collect.profiling.inject.timing import StepTimes, append_step_time


class Capture:
    """Notes what it is told, in place of the profiler of torch."""

    def __init__(self, folder: Path, make_way: Callable[[], object], drained: bool) -> None:
        self.told: list[str] = ["prepare"]
        self.make_way = make_way
        self._folder, self._drained = folder, drained

    def start(self) -> None:
        self.told.append("start")

    def begin_step(self, step: int) -> None:
        self.told.append(f"begin {step}")

    def end_step(self) -> None:
        self.told.append("end")

    def is_drained(self, seconds: float) -> bool:
        return self._drained

    def stop(self) -> None:
        self.told.append("stop")

    def export(self) -> Path:
        path = self._folder / "plain.json"
        path.write_text("{}")
        return path


class Bench:
    """A recorder of rank 3, steps 4-5 after a warm-up of one, with a profiler that takes notes."""

    def __init__(self, folder: Path, *, drained: bool = True) -> None:
        self.made: list[Capture] = []
        self.trace = folder / "traces" / "rank3.pt.trace.json.gz"

        def capture(make_way: Callable[[], object]) -> Capture:
            self.made.append(Capture(folder, make_way, drained))
            return self.made[-1]

        self.recorder = Recorder(Plan(4, 5, 1), 3, folder / "traces", capture)

    def steps(self, *numbers: int) -> list[str]:
        for number in numbers:
            self.recorder.begin_step(number)
        return [word for word in self.made[0].told if word != "end"] if self.made else []


@pytest.fixture(autouse=True)
def _no_profiler_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "in_progress", lambda: False)


def test_the_steps_asked_for_are_recorded_and_one_that_ends_the_last(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    told = bench.steps(*range(1, 9))
    assert told == ["prepare", "start", "begin 4", "begin 5", "begin 6", "stop"]
    assert bench.recorder.finish() is None
    assert gzip.decompress(bench.trace.read_bytes()) == b"{}"
    assert [path.name for path in bench.trace.parent.iterdir()] == [bench.trace.name]


def test_a_job_that_ends_while_it_is_recorded_leaves_what_there_is(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.steps(1, 2, 3, 4, 5)
    assert bench.recorder.finish() == (
        "the job ended after 5 steps: the trace holds 4 to 5, the last of them not to its end"
    )
    assert bench.trace.exists()
    assert bench.recorder.finish() is None


def test_a_job_that_is_too_short_is_told_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.steps(1, 2, 3) == ["prepare"]
    missing = bench.recorder.finish()
    assert missing == "no trace: the job ended after 3 steps, and the first asked for is step 4"
    assert bench.made[0].told[-1] == "stop"
    assert not bench.trace.exists()


def test_an_exit_does_not_wait_for_a_device_that_hangs(tmp_path: Path) -> None:
    bench = Bench(tmp_path, drained=False)
    bench.steps(3, 4)
    assert "still busy" in str(bench.recorder.finish())
    assert "stop" not in bench.made[0].told


def test_a_recording_that_begins_late_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert Bench(tmp_path).steps(5, 6) == ["prepare", "start", "begin 5", "begin 6"]
    assert "rank 3: the first step that can be recorded is 5" in capsys.readouterr().err
    assert Bench(tmp_path).steps(500) == []
    assert "the first step that could be recorded is 500" in capsys.readouterr().err


def test_the_profiler_of_the_job_has_the_right_of_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    bench.steps(3, 4)
    bench.made[0].make_way()
    assert bench.steps(5, 6)[-1] == "stop"
    assert "the job starts a profiler of its own" in capsys.readouterr().err
    monkeypatch.setattr(recorder, "in_progress", lambda: True)
    assert Bench(tmp_path).steps(3, 4) == []
    assert "the job's own profiler is on in step 3" in capsys.readouterr().err


def test_steps_are_timed_before_the_warm_up_or_else_after_the_trace() -> None:
    assert Plan(10, 12, 2).timed == range(3, 8)
    assert Plan(5, 5, 1).timed == range(1, 4)
    assert Plan(3, 4, 2).timed == range(7, 12)


def test_a_trace_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    plain = tmp_path / "plain.json"
    plain.write_text("{}")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"Not a directory: '.*/file/traces/rank0.gz'"):
        pack(plain, tmp_path / "file" / "traces" / "rank0.gz")
    assert not plain.exists()


@pytest.mark.parametrize("has_links", [True, False])
def test_of_two_traces_of_a_rank_the_first_stays(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    has_links: bool,
) -> None:
    if not has_links:
        monkeypatch.setattr(os, "link", _no_links)
    target = tmp_path / "traces" / "rank0.gz"
    for text in ("first", "second"):
        (tmp_path / "plain.json").write_text(text)
        pack(tmp_path / "plain.json", target, beside_others)
    assert gzip.decompress(target.read_bytes()) == b"first"
    assert [path.name for path in target.parent.iterdir()] == ["rank0.gz"]
    assert "rank0.gz is there already: the trace of another process" in capsys.readouterr().err


def _no_links(*_: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_second_process_of_a_rank_is_not_recorded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_shared: bool,
) -> None:
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("COMMSCOPE_PROFILED_PID", str(os.getpid()))
    monkeypatch.setattr(session, "_at_exit", lambda _: None)
    (tmp_path / "rank0.pt.trace.json.gz").touch()
    plan, log = Plan(4, 5, 1), tmp_path / "log"
    settings = Settings(KINETO, plan, None, None, (), tmp_path, log, is_shared)
    session.Session(settings).begin_step(1)
    said = "rank 0: a process before has left its trace, and this one leaves none"
    assert (said in capsys.readouterr().err) is is_shared


def test_the_median_step_is_written(tmp_path: Path) -> None:
    instants = iter([0, 10, 20, 60, 70])

    class Clock(HostClock):
        def now(self) -> int:
            return next(instants) * 1_000_000

    log = tmp_path / "node" / "unprofiled.log"
    times = StepTimes(range(3, 8), Clock, lambda ms: append_step_time(log, 1, ms))
    for step in (2, 3, 4, 6, 7, 8, 9):  # the interval from 4 to 6 counts for two
        times.begin_step(step)
    assert log.read_text() == '{"rank": 1, "unprofiled_step_ms": 10.000000}\n'
