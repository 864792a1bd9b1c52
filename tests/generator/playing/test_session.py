"""Schedules are played by processes of this machine, and read back: the host engine, whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_program import host_program

import commscope
from commscope.errors import CommscopeError, UsageError
from commscope.generator import from_text, step_truths
from commscope.generator.playing.session import PlayOptions, commands, play, read_back
from commscope.generator.programs import Job, Model
from commscope.generator.scenarios import ddp

_HOST = PlayOptions(backend="host", timeout_s=60)


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program, compiled once for all tests."""
    found = host_program()
    monkeypatch.setenv("COMMSCOPE_CACHE_DIR", str(found.parent.parent.parent))
    return found


@pytest.mark.parametrize("profiler", ["own", "none"])
def test_two_processes_play_a_schedule_and_leave_traces(profiler: str, tmp_path: Path) -> None:
    options = PlayOptions(backend="host", profiler=profiler, timeout_s=60)
    schedule = ddp(Job(ranks=2, steps=3), Model(layers=2))
    launched = play(schedule, options, tmp_path)
    played = read_back(schedule, options, tmp_path, launched)
    assert (launched.backend, launched.collector.name) == ("host", profiler)
    assert [len(files) for files in played.traces] == [1, 1]
    assert [it.exit_code for it in launched.ended] == [0, 0]
    report = commscope.analyze(commscope.load(tmp_path))
    steps = {(row["rank"], row["step"]): row for row in report.steps.to_pandas().to_dict("records")}
    truths = {(it.rank, it.step): it for it in step_truths(played.recording.simulation)}
    assert set(steps) == set(truths)
    assert {row["kernels"] for row in steps.values()} == {2 + 2 + 1 + 1}
    if profiler == "none":
        assert {key: row["exposed_comm_ns"] for key, row in steps.items()} == {
            key: truth.exposed_comm_ns for key, truth in truths.items()
        }


def test_a_second_run_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    schedule = ddp(Job(ranks=2, steps=1), Model(layers=1))
    read_back(schedule, _HOST, tmp_path, play(schedule, _HOST, tmp_path))
    options = PlayOptions(backend="host", profile_ranks=frozenset({1}), timeout_s=60)
    played = read_back(schedule, options, tmp_path, play(schedule, options, tmp_path))
    assert [len(files) for files in played.traces] == [0, 1]
    assert not list((tmp_path / "rank0").glob("*.gz"))


def test_the_rank_that_fails_tells_its_operation(tmp_path: Path) -> None:
    schedule = from_text("rank 0 a\nwait s never\n")
    launched = play(schedule, _HOST, tmp_path)
    with pytest.raises(CommscopeError, match=r"rank 0.*event never"):
        read_back(schedule, _HOST, tmp_path, launched)


def test_a_collective_that_one_rank_does_not_join_hangs_with_its_name(tmp_path: Path) -> None:
    text = "comm 0 0,1\nrank 0 a\ncoll s 0 all_reduce 1024\nsync\nrank 1 a\nsync\n"
    schedule = from_text(text)
    options = PlayOptions(backend="host", timeout_s=1)
    launched = play(schedule, options, tmp_path)
    with pytest.raises(CommscopeError, match=r"rank 0: hangs: .*coll s 0 all_reduce 1024"):
        read_back(schedule, options, tmp_path, launched)


def test_too_few_devices_are_said(tmp_path: Path, program: Path) -> None:
    options = PlayOptions(backend="host", devices=(0,))
    with pytest.raises(UsageError, match="--devices names 1 of 2"):
        commands(ddp(Job(ranks=2, steps=1)), options, tmp_path, program, tmp_path)


def test_devices_are_given_by_rank(tmp_path: Path, program: Path) -> None:
    options = PlayOptions(backend="host", devices=(3, 1), variables={"A": "b"})
    found = commands(ddp(Job(ranks=2, steps=1)), options, tmp_path, program, tmp_path)
    assert [it.words[it.words.index("--device") + 1] for it in found] == ["3", "1"]
    assert found[1].environment["A"] == "b"
    assert found[1].environment["LOCAL_RANK"] == "1"


def test_a_run_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "rank0").write_text("a file")
    with pytest.raises(UsageError, match="cannot be written"):
        play(ddp(Job(ranks=2, steps=1)), _HOST, tmp_path)
