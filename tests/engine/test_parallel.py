"""Files read by other processes: as if they were read here one by one, and nothing is left over."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from builders import source_of
from dying import DyingParser
from small_run import CUT_EARLY, write_run

import commscope
from commscope import errors
from commscope.engine import parallel, worker
from commscope.engine.parallel import Job, read_in_parallel
from commscope.engine.reading import Outcome, try_source
from commscope.parsers.base import Reading
from commscope.parsers.kineto import KinetoParser
from commscope.parsers.opening import Source
from commscope.parsers.registry import PARSERS
from commscope.sample_traces import path as sample

KINETO = PARSERS[0]
FILE = Source(Path("rank0.json"), label="rank0.json", size=1 << 30)
Processes = list["Popen[bytes]"]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    """The processes that are started: two for files of any size. None may outlive the test."""
    processes: Processes = []

    def start(*arguments: Any, **options: Any) -> Popen[bytes]:
        processes.append(Popen(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(parallel, "Popen", start)
    monkeypatch.setattr(parallel, "_LEAST_BYTES", 0)
    monkeypatch.setattr(parallel, "core_count", lambda: 2)
    yield processes
    assert all(process.returncode is not None for process in processes)


def jobs_of(paths: Iterable[Path]) -> dict[int, Job]:
    return {number: (source_of(path), KINETO) for number, path in enumerate(paths, 1)}


def ignored(number: int, done: int, total: int | None) -> None:
    pass


def serially(jobs: dict[int, Job]) -> dict[int, Outcome]:
    return {number: try_source(*job, lambda *_: None) for number, job in jobs.items()}


def processes_for(jobs: dict[int, Job], cores: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many processes would be started."""
    counts = [0]
    monkeypatch.setattr(parallel, "core_count", lambda: cores)
    monkeypatch.setattr(parallel, "_start", lambda _, count: counts.append(count) or [])
    assert read_in_parallel(jobs, ignored) == {}
    return counts[-1]


def assert_equal(found: Outcome, expected: Outcome) -> None:
    assert isinstance(found, list)
    assert isinstance(expected, list)
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        for field in fields(Reading):
            assert getattr(one, field.name) == getattr(other, field.name), field.name
        for name in ("events", "host", "collectives"):
            schema = getattr(one, name).schema
            assert schema.equals(getattr(other, name).schema, check_metadata=True)


def test_the_readings_are_those_of_reading_one_by_one(started: Processes) -> None:
    files = [path for name in ("ddp_straggler", "a2a") for path in sample(name).glob("rank*.gz")]
    jobs = jobs_of(files)
    found, expected = read_in_parallel(jobs, ignored), serially(jobs)
    assert len(started) == 2
    assert set(found) == set(expected) == {1, 2, 3, 4}
    for number in expected:
        assert_equal(found[number], expected[number])


def test_a_trace_has_its_files_and_what_is_left_out_in_order(
    tmp_path: Path, started: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path, ranks=4)
    for rank in (1, 2):
        (tmp_path / f"rank{rank}.json").write_bytes(CUT_EARLY)
    shared = commscope.load(tmp_path)
    assert len(started) == 2
    monkeypatch.setattr(parallel, "_LEAST_BYTES", 1 << 40)
    alone = commscope.load(tmp_path)
    assert len(started) == 2
    for name in ("events", "host", "collectives", "ranks", "steps", "files", "notes"):
        assert getattr(shared, name) == getattr(alone, name), name
    assert [file.file for file in shared.files] == ["rank0.json", "rank3.json"]
    left_out = [note.says for note in shared.notes if note.says.startswith("left out: ")]
    assert [says.split(": ")[1] for says in left_out] == ["rank1.json", "rank2.json"]


def test_a_file_that_cannot_be_read_is_the_same_error(tmp_path: Path, started: Processes) -> None:
    write_run(tmp_path)
    (tmp_path / "cut.json").write_bytes(CUT_EARLY)
    jobs = jobs_of(tmp_path / name for name in ("rank0.json", "rank1.json", "cut.json"))
    (tmp_path / "rank0.json").unlink()
    found, expected = read_in_parallel(jobs, ignored), serially(jobs)
    for number, kind in ((1, errors.UsageError), (3, errors.CorruptTrace)):
        assert type(found[number]) is type(expected[number]) is kind
        assert str(found[number]) == str(expected[number])
    assert_equal(found[2], expected[2])


def test_every_error_can_be_sent() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert errors.CorruptTrace in kinds
    for kind in kinds:
        copy = pickle.loads(pickle.dumps(kind("x.json: is cut")))
        assert (type(copy), str(copy)) == (kind, "x.json: is cut")


def test_progress_is_told_file_by_file_up_to_the_end(tmp_path: Path, started: Processes) -> None:
    write_run(tmp_path, ranks=5)
    calls: list[tuple[str, int, int, int, int | None]] = []
    commscope.load(tmp_path, progress=lambda *call: calls.append(call))
    sizes = [(tmp_path / f"rank{rank}.json").stat().st_size for rank in range(5)]
    assert len(started) == 2
    assert calls == [(f"rank{n}.json", n + 1, 5, size, size) for n, size in enumerate(sizes)]


def test_progress_waits_for_the_files_before() -> None:
    calls: list[tuple[int, int, int | None]] = []
    turn = parallel._InTurn([1, 2, 3, 4], lambda *call: calls.append(call))
    turn.report(2, 10, 20)
    turn.report(1, 5, 9)
    turn.report(3, 7, 7)
    turn.end(3)
    turn.end(2)
    assert calls == [(1, 5, 9)]
    turn.end(1)
    assert calls == [(1, 5, 9), (2, 10, 20), (3, 7, 7)]
    turn.report(4, 1, None)
    turn.end(4)
    assert calls[3:] == [(4, 1, None)]


def test_a_file_whose_process_ends_is_read_here(
    tmp_path: Path, started: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = DyingParser()
    monkeypatch.setattr(parallel, "PARSERS", (KINETO, dying))
    monkeypatch.setattr("commscope.parsers.detect.PARSERS", (dying,))
    jobs = jobs_of(sorted(write_run(tmp_path, ranks=3).iterdir()))
    jobs[2] = jobs[2][0], dying
    assert set(read_in_parallel(jobs, ignored)) == {1, 3}
    files = commscope.load(tmp_path).files
    assert [file.file for file in files] == ["rank0.json", "rank1.json", "rank2.json"]
    assert len(started) == 4


def test_without_processes_all_is_read_here(
    tmp_path: Path, started: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_PYTHON", (str(tmp_path / "no python"),))
    assert len(commscope.load(write_run(tmp_path / "run")).files) == 2
    assert not started


@pytest.mark.parametrize("moment", ["reading", "starting"])
def test_no_process_is_left_after_an_interrupt(
    moment: str, tmp_path: Path, started: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if moment == "starting":
        monkeypatch.setattr(parallel._Work, "share", interrupt)
    with pytest.raises(KeyboardInterrupt):
        read_in_parallel(jobs_of(sorted(write_run(tmp_path).iterdir())), interrupt)
    assert len(started) == 2


def test_a_process_ends_when_nobody_is_at_the_other_end(started: Processes) -> None:
    with parallel._worker() as connection:
        connection.close()
        assert started[0].wait(timeout=60) == 0


def test_a_process_does_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [worker._NoPandas(), *sys.meta_path])
    for name in ("pandas", "colorsys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ModuleNotFoundError, match="pandas"):
        import_module("pandas")
    assert import_module("colorsys").__name__ == "colorsys"


def test_nothing_is_imported_from_the_current_folder(
    tmp_path: Path, started: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyarrow.py").write_text("open('imported', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    jobs = jobs_of(sorted(write_run(tmp_path / "run").iterdir()))
    assert set(read_in_parallel(jobs, ignored)) == {1, 2}
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((replace(FILE, path=None), KINETO), id="standard input"),
        pytest.param((replace(FILE, size=None), KINETO), id="pipe"),
        pytest.param((replace(FILE, member="rank0.json"), KINETO), id="archive"),
        pytest.param((FILE, KinetoParser()), id="plug-in"),
    ],
)
def test_what_only_this_process_can_read(other: Job, started: Processes) -> None:
    assert read_in_parallel({1: (FILE, KINETO), 2: other}, ignored) == {}
    assert not started


@pytest.mark.parametrize(
    ("names", "size", "count"),
    [
        (["rank0.json", "rank1.json"], 32 << 20, 2),
        (["rank0.json", "rank1.json"], (32 << 20) - 1, 0),
        (["rank0.json.gz", "rank1.json.gz"], 4 << 20, 2),
        (["rank0.json.gz", "rank1.json.gz"], 3 << 20, 0),
        (["rank0.json"], 1 << 40, 0),
    ],
)
def test_processes_are_started_where_it_pays(
    names: list[str], size: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = {n: (replace(FILE, path=Path(name), size=size), KINETO) for n, name in enumerate(names)}
    assert processes_for(jobs, 64, monkeypatch) == count


@pytest.mark.parametrize(("cores", "count"), [(1, 0), (2, 2), (5, 5), (64, 8)])
def test_as_many_processes_as_cores_up_to_a_limit(
    cores: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert processes_for(dict.fromkeys(range(100), (FILE, KINETO)), cores, monkeypatch) == count
