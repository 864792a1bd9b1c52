"""Runs that appear in a folder get exactly one report each, whatever happens to the watchers."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import small_run
from collected_runs import add_node, end_node, reports, start_job

import commscope
from commscope.automation import publish
from commscope.automation import watch as watching
from commscope.automation.finish import finish_node
from commscope.automation.join import finish_run
from commscope.automation.made import Given, Made
from commscope.automation.watch import Watched
from commscope.errors import UsageError

ALL = ["report.html", "report.json", "report.md"]
SETTLE_S = 60.0
#: Files that a test has just written are this old by the clock of the watcher.
AGE_S = 1_000.0


class Stopped(BaseException):
    """The watcher ends in the middle, as when it is killed."""


def look(folder: Path, *, age_s: float = AGE_S, **more: Any) -> Watched:
    """One look at files that were written so long ago, with what was said in ``said``."""
    more.setdefault("say", lambda _: None)
    more.setdefault("clock", lambda: time.time() + age_s)
    return watching.watch(folder, once=True, settle_s=SETTLE_S, **more)


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs that are analysed, which then takes no time."""
    names: list[str] = []

    def quick(given: Given) -> Made:
        names.append(given.name)
        text = json.dumps({"name": given.name}, indent=1)
        html, markdown = f"<!DOCTYPE html>{given.name}", f"<!-- commscope:{given.name} -->"
        texts = {"report.html": html, "report.json": text, "report.md": markdown}
        return Made({name: text.encode() for name, text in texts.items()}, "well")

    monkeypatch.setattr(watching, "report_of", quick)
    return names


def add_runs(folder: Path, *numbers: int) -> None:
    for number in numbers:
        small_run.write_run(folder / f"run{number}", ranks=1)


def test_a_run_is_reported_on_beside_its_traces(tmp_path: Path) -> None:
    run = small_run.write_run(tmp_path / "runs" / "one")
    alone = json.loads(commscope.analyze(commscope.load(run)).to_json())
    said: list[str] = []
    assert look(tmp_path / "runs", say=said.append).reported == ["one"]
    assert reports(run) == ALL
    assert json.loads((run / "report.json").read_text()) == alone
    assert len(said) == 1
    assert said[0].startswith("one: Exposed communication takes")
    assert json.loads(commscope.analyze(commscope.load(run)).to_json()) == alone
    assert look(tmp_path / "runs") == Watched()


def test_twenty_runs_while_the_watcher_comes_and_goes(tmp_path: Path, analysed: list[str]) -> None:
    came: list[str] = []
    for first in range(0, 20, 4):
        add_runs(tmp_path, *range(first, first + 4))
        came += look(tmp_path).reported
    assert sorted(came) == sorted(analysed) == sorted(f"run{number}" for number in range(20))
    assert all(reports(tmp_path / name) == ALL for name in came)


@pytest.mark.parametrize("place", ["report_of", "_put", "show", "_replace", "_remove_others"])
def test_a_watcher_that_ends_in_the_middle(
    tmp_path: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    add_runs(tmp_path, *range(3))
    module: Any = watching if place == "report_of" else publish
    whole, calls = getattr(module, place), []

    def stops(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise Stopped
        return whole(*given)

    with monkeypatch.context() as patched:
        patched.setattr(module, place, stops)
        with pytest.raises(Stopped):
            look(tmp_path)
    look(tmp_path)
    for number in range(3):
        run = tmp_path / f"run{number}"
        assert reports(run) == ALL
        assert json.loads((run / "report.json").read_text()) == {"name": run.name}
        hidden = [name for name in os.listdir(run) if name.startswith(".")]
        assert len(hidden) == 1
    assert look(tmp_path) == Watched()


def test_of_two_watchers_one_reports(
    tmp_path: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_runs(tmp_path, 0, 1)
    quick: Callable[[Given], Made] = watching.report_of
    others: list[Watched] = []

    def slow(given: Given) -> Made:
        """While one watcher analyses, another one looks at everything."""
        if not others:
            others.append(Watched())
            others.append(look(tmp_path))
        return quick(given)

    monkeypatch.setattr(watching, "report_of", slow)
    said: list[str] = []
    assert look(tmp_path, say=said.append) == Watched()
    assert others[1].reported == ["run0", "run1"]
    assert said == []
    assert reports(tmp_path / "run0") == ALL


def test_what_is_still_written_is_waited_for(tmp_path: Path, analysed: list[str]) -> None:
    add_runs(tmp_path, 0)
    assert look(tmp_path, age_s=SETTLE_S / 2).waiting[0].startswith("run0 (written ")
    assert analysed == []
    assert look(tmp_path).reported == ["run0"]


def _half(run: Path) -> Path:
    file = run / "rank1.json"
    file.write_bytes(small_run.trace(1)[:-40])
    return file


def _half_packed(run: Path) -> Path:
    file = run / "rank1.json.gz"
    file.write_bytes(gzip.compress(small_run.trace(1))[:-40])
    return file


def _nothing_yet(run: Path) -> Path:
    file = run / "rank1.json"
    file.touch()
    return file


def _half_a_database(run: Path) -> Path:
    file = run / "1_results.db"
    with sqlite3.connect(file) as database:
        database.execute("create table rocpd_info_node (guid text)")
        database.execute("create table rocpd_string (string text)")
    database.close()
    os.truncate(file, 4096)
    return file


@pytest.mark.parametrize("write", [_half, _half_packed, _nothing_yet])
def test_a_half_written_trace_is_waited_for(
    tmp_path: Path, analysed: list[str], write: Callable[[Path], Path]
) -> None:
    run = small_run.write_run(tmp_path / "runs" / "run", ranks=1)
    file = write(run)
    age_s = 2 * SETTLE_S
    assert look(tmp_path / "runs", age_s=age_s).waiting == [
        f"run ({file.name} is not written to its end)"
    ]
    assert analysed == []
    whole = small_run.trace(1)
    file.write_bytes(gzip.compress(whole) if file.suffix == ".gz" else whole)
    assert look(tmp_path / "runs", age_s=age_s).reported == ["run"]


def test_a_trace_that_is_never_finished_does_not_keep_the_rest(tmp_path: Path) -> None:
    run = small_run.write_run(tmp_path / "runs" / "run", ranks=1)
    _half_packed(run)
    assert look(tmp_path / "runs", lost_s=2 * AGE_S).reported == []
    assert look(tmp_path / "runs", lost_s=0.5 * AGE_S).reported == ["run"]
    assert json.loads((run / "report.json").read_text())["trust"]["verdict"] != "ok"


def test_a_half_written_database_is_told(tmp_path: Path) -> None:
    from commscope.automation.wholeness import _is_whole
    from commscope.parsers.opening import Source

    file = _half_a_database(tmp_path)
    source = Source(file, label=file.name, size=file.stat().st_size)
    assert not _is_whole(file.read_bytes()[:100], source)


def test_what_cannot_be_analysed_says_so_once(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "run"
    run.mkdir(parents=True)
    (run / "rank0.json").write_bytes(small_run.CUT_EARLY)
    said: list[str] = []
    assert look(tmp_path / "runs", say=said.append, lost_s=0.5 * AGE_S).failed == ["run"]
    assert reports(run) == ["report.error"]
    assert (run / "report.error").read_text().startswith("commscope: rank0.json: ")
    assert look(tmp_path / "runs", say=said.append, lost_s=0.5 * AGE_S) == Watched()
    assert len(said) == 1
    (run / "rank0.json").write_bytes(small_run.trace(0))
    assert look(tmp_path / "runs").reported == ["run"]
    assert reports(run) == ALL


def test_a_run_that_changes_is_reported_on_again(tmp_path: Path, analysed: list[str]) -> None:
    add_runs(tmp_path, 0)
    look(tmp_path)
    (tmp_path / "run0" / "rank1.json").write_bytes(small_run.trace(1))
    assert look(tmp_path).reported == ["run0"]
    assert len(list((tmp_path / "run0").glob(".commscope-report-*"))) == 1
    assert analysed == ["run0", "run0"]


@pytest.mark.parametrize(
    "name",
    ["a\nb", "\x1b[31mred", "--help", "[a-z]*", "<script>", "caf\udce9", "ü" * 80, " "],
)
def test_hostile_names(tmp_path: Path, name: str) -> None:
    run = small_run.write_run(tmp_path / "runs" / name, ranks=1)
    assert look(tmp_path / "runs").reported == [name]
    assert reports(run) == ALL
    assert look(tmp_path / "runs") == Watched()


def test_reports_go_elsewhere(tmp_path: Path, analysed: list[str]) -> None:
    add_runs(tmp_path / "runs", 0)
    assert look(tmp_path / "runs", output=tmp_path / "out").reported == ["run0"]
    assert reports(tmp_path / "out" / "run0") == ALL
    assert os.listdir(tmp_path / "runs" / "run0") == ["rank0.json"]
    assert look(tmp_path / "runs", output=tmp_path / "out") == Watched()


def test_a_folder_that_cannot_be_written(tmp_path: Path, analysed: list[str]) -> None:
    add_runs(tmp_path / "runs", 0, 1)
    (tmp_path / "full").touch()
    said: list[str] = []
    looks = iter([False, True])
    came = watching.watch(
        tmp_path / "runs",
        once=False,
        output=tmp_path / "full" / "out",
        say=said.append,
        clock=lambda: time.time() + AGE_S,
        pause=lambda _: next(looks),
    )
    assert came == Watched()
    why = "cannot be written (Not a directory)"
    assert said == [f"run{n}: {tmp_path / 'full' / 'out'}/run{n}: {why}" for n in (0, 1)]
    assert analysed == []


def test_a_file_of_the_user_is_not_lost(tmp_path: Path, analysed: list[str]) -> None:
    add_runs(tmp_path, 0)
    (tmp_path / "run0" / "report.html").write_text("<p>My own report</p>")
    said: list[str] = []
    assert look(tmp_path, say=said.append).failed == ["run0"]
    assert "is no report of commscope and would be lost" in said[0]
    assert (tmp_path / "run0" / "report.html").read_text() == "<p>My own report</p>"


def test_what_people_do_to_a_report_is_left_alone(tmp_path: Path, analysed: list[str]) -> None:
    add_runs(tmp_path, 0)
    look(tmp_path)
    report = tmp_path / "run0" / "report.md"
    report.unlink()
    report.write_text("<!-- commscope:run0 -->\nSeen by me")
    assert look(tmp_path) == Watched()
    assert report.read_text().endswith("Seen by me")


def test_settings_that_cannot_be_read_are_no_fault_of_runs(
    tmp_path: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_runs(tmp_path / "runs", 0)
    (tmp_path / "commscope.toml").write_text("[")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"commscope\.toml"):
        look(tmp_path / "runs")
    assert reports(tmp_path / "runs" / "run0") == []


def test_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def needs_much(*_: object) -> Made:
        raise MemoryError

    monkeypatch.setattr(watching, "report_of", needs_much)
    monkeypatch.setattr(watching, "report_on", needs_much)
    add_runs(tmp_path, 0)
    add_node(start_job(tmp_path / "job", nodes=1), 0, [0])
    said: list[str] = []
    assert sorted(look(tmp_path, say=said.append).failed) == ["job", "run0"]
    assert all("no memory for the analysis" in line for line in said)


def test_folders_without_traces_and_links_to_others(tmp_path: Path, analysed: list[str]) -> None:
    runs = tmp_path / "runs"
    add_runs(runs, 0)
    (runs / "notes").mkdir()
    (runs / "notes" / "read.me").write_text("nothing here")
    (runs / "latest").symlink_to("run0")
    (runs / "gone").symlink_to("nowhere")
    (runs / ".hidden").mkdir()
    assert look(runs).reported == ["run0"]
    assert reports(runs / "notes") == []


def test_traces_in_the_folder_itself_are_a_run(tmp_path: Path, analysed: list[str]) -> None:
    small_run.write_run(tmp_path / "runs")
    add_runs(tmp_path / "runs", 0)
    assert look(tmp_path / "runs").reported == ["runs", "run0"]
    assert reports(tmp_path / "runs") == ALL
    assert look(tmp_path / "runs") == Watched()


def test_without_links_reports_are_copied(
    tmp_path: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(Path, "hardlink_to", refuses)
    add_runs(tmp_path, 0)
    assert look(tmp_path).reported == ["run0"]
    assert reports(tmp_path / "run0") == ALL
    assert look(tmp_path) == Watched()


def test_collected_runs_are_reported_on_once_they_ended(tmp_path: Path) -> None:
    job = start_job(tmp_path / "here" / "commscope-runs" / "first")
    add_node(job, 0, [0, 1], status=None)
    (waiting,) = look(tmp_path / "here").waiting
    assert waiting.endswith("(the job has not ended)")
    add_node(job, 1, [2, 3])
    assert "not ended on all nodes" in look(tmp_path / "here", lost_s=2 * AGE_S).waiting[0]
    came = look(tmp_path / "here", lost_s=0.5 * AGE_S)
    assert came.reported == ["commscope-runs/first"]
    notes = json.loads((job / "report.json").read_text())["notes"]
    assert "missing: node 0 (host0) has not ended" in notes
    assert look(tmp_path / "here") == Watched()


def test_a_job_that_died_on_all_nodes_is_reported_on_in_the_end(tmp_path: Path) -> None:
    job = start_job(tmp_path / "job")
    add_node(job, 0, [0, 1], status=None)
    assert look(tmp_path, lost_s=2 * AGE_S).reported == []
    assert look(tmp_path, lost_s=0.5 * AGE_S).reported == ["job"]
    notes = json.loads((job / "report.json").read_text())["notes"]
    assert any("node 0 (host0) has not ended" in note for note in notes)
    end_node(job, "0000-host0", exit_code=1)
    add_node(job, 1, [2, 3])
    assert look(tmp_path).reported == ["job"]


def test_a_job_that_left_nothing_is_told(tmp_path: Path) -> None:
    start_job(tmp_path / "job")
    came = look(tmp_path, lost_s=0.5 * AGE_S)
    assert (came.reported, came.failed) == (["job"], [])


def test_a_job_that_reported_on_itself_is_left_alone(tmp_path: Path) -> None:
    job = start_job(tmp_path / "runs" / "job", nodes=1)
    node = add_node(job, 0, [0])
    finish_node(job, node)
    assert finish_run(job, 0.0, node) is not None
    before = (job / "report.json").stat()
    assert look(tmp_path / "runs") == Watched()
    assert (job / "report.json").stat() == before
    assert look(job) == Watched()


def test_there_is_a_folder_to_watch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder to watch"):
        look(tmp_path / "nowhere")
