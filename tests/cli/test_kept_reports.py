"""A report that was kept is printed as it was; anything that it rests on makes it anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import small_run

from commscope import sample_traces
from commscope.cli import reporting
from commscope.engine import cached_reports
from commscope.engine.cached_reports import CachedReports


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[None]:
    """One entry for each report that was not kept; the smallest are kept too."""
    monkeypatch.setenv("COMMSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("COMMSCOPE_NO_CACHE", raising=False)
    monkeypatch.setattr(reporting, "CachedReports", partial(CachedReports, least_bytes=1))
    made: list[None] = []
    analyzed = reporting._analyzed

    def counted(*given: Any, **options: Any) -> Any:
        made.append(None)
        return analyzed(*given, **options)

    monkeypatch.setattr(reporting, "_analyzed", counted)
    return made


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "job"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return small_run.write_run(folder / "run")


@pytest.mark.parametrize("name", sample_traces.names()[:2])
def test_every_output_is_the_same(analyses: list[None], call: Any, name: str) -> None:
    path = sample_traces.path(name)
    for options in ([], ["-v"], ["-q"], ["--format", "json", "--instances"]):
        fresh = call("analyze", path, "--no-cache", *options)
        assert call("analyze", path, *options) == fresh
        assert call("analyze", path, *options) == fresh
    assert len(analyses) == 5, "four without the cache, and one that all others show"


def _change(run: Path) -> None:
    (run / "rank0.json").write_bytes(small_run.trace(0, name="another"))


def _add_file(run: Path) -> None:
    (run / "notes.txt").write_text("x")


def _remove_file(run: Path) -> None:
    (run / "rank1.json").unlink()


def _touch(run: Path) -> None:
    os.utime(run / "rank0.json", ns=(0, 0))


def _make_settings(run: Path) -> None:
    (run.parent / "commscope.toml").write_text("[thresholds.C1]\nmin_share = 0.7\n")


@pytest.mark.parametrize("change", [_change, _add_file, _remove_file, _touch, _make_settings])
def test_whatever_changed_is_seen(
    analyses: list[None], run: Path, call: Any, change: Callable[[Path], None]
) -> None:
    call("analyze", run)
    call("analyze", run)
    assert len(analyses) == 1
    change(run)
    changed = call("analyze", run)
    assert len(analyses) == 2
    assert changed == call("analyze", run, "--no-cache")


@pytest.mark.parametrize(
    "options",
    [("--steps", "1"), ("--threshold", "C1.min_share=0.7"), ("--pattern", "compute=gemm"),
     ("--unprofiled-step-ms", "1"), ("--role", "dp=x"), ("--config", "other.toml")],
)  # fmt: skip
def test_every_option_asks_something_else(
    analyses: list[None], run: Path, call: Any, options: tuple[str, ...]
) -> None:
    (run.parent / "other.toml").write_text("")
    call("analyze", run)
    outcome = call("analyze", run, *options)
    assert outcome.code == 0, outcome.err
    assert len(analyses) == 2


def test_settings_that_are_named_are_looked_at(analyses: list[None], run: Path, call: Any) -> None:
    settings = run.parent / "other.toml"
    settings.write_text("")
    call("analyze", run, "--config", settings)
    settings.write_text("[patterns]\ncompute = ['nccl']\n")
    call("analyze", run, "--config", settings)
    assert len(analyses) == 2


def test_other_commands_show_the_same_report(analyses: list[None], run: Path, call: Any) -> None:
    call("analyze", run)
    assert call("collectives", run).code == 0
    assert len(analyses) == 1


def test_file_that_changes_during_the_analysis_is_not_kept(
    analyses: list[None], run: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyzed = reporting._analyzed

    def changing(*given: Any, **options: Any) -> Any:
        report = analyzed(*given, **options)
        _change(run)
        return report

    monkeypatch.setattr(reporting, "_analyzed", changing)
    call("analyze", run)
    call("analyze", run)
    assert len(analyses) == 2


def test_plug_ins_and_another_version_make_it_anew(
    analyses: list[None], run: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("analyze", run)
    with monkeypatch.context() as patch:
        patch.setattr(cached_reports, "entry_points", lambda group: [group])
        call("analyze", run)
    assert len(analyses) == 2
    monkeypatch.setattr(cached_reports, "code", lambda: "another")
    call("analyze", run)
    assert len(analyses) == 3


def test_what_is_wrong_is_told_each_time(analyses: list[None], run: Path, refused: Any) -> None:
    for file in run.iterdir():
        file.write_text("no trace")
    first = refused(3, "analyze", run)
    assert refused(3, "analyze", run) == first
    assert len(analyses) == 2


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x80", b"no report"])
def test_bytes_that_hold_no_report_are_made_anew(
    analyses: list[None], run: Path, call: Any, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    first = call("analyze", run)
    monkeypatch.setattr(CachedReports, "get", lambda *_: damage)
    assert call("analyze", run) == first
    assert len(analyses) == 2


def test_table_that_cannot_be_read_is_made_anew(
    analyses: list[None], run: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = call("analyze", run)
    kept = CachedReports.get

    def damaged(reports: CachedReports, key: Any) -> bytes:
        data = kept(reports, key)
        assert data is not None
        return data.replace(b"\xff\xff\xff\xff", b"\xff\xff\xff\x00")

    monkeypatch.setattr(CachedReports, "get", damaged)
    assert call("analyze", run) == first
    assert len(analyses) == 2


def test_report_that_cannot_be_encoded_is_shown_and_not_kept(
    analyses: list[None], run: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyzed = reporting._analyzed

    def with_lone_surrogate(*given: Any, **options: Any) -> Any:
        report = analyzed(*given, **options)
        return replace(report, notes=(*report.notes, "a file called \udcff"))

    monkeypatch.setattr(reporting, "_analyzed", with_lone_surrogate)
    first = call("analyze", run)
    assert first.code == 0
    assert call("analyze", run) == first
    assert len(analyses) == 2


def test_damaged_entry_is_made_anew(
    analyses: list[None], run: Path, call: Any, tmp_path: Path
) -> None:
    first = call("analyze", run)
    [entry] = (tmp_path / "cache" / "kept").iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert call("analyze", run) == first
    assert len(analyses) == 2
