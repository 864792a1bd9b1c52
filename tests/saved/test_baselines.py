"""Baselines on disk: whole, numbered, and safe with others who write."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from small_run import write_run

from commscope import api
from commscope.errors import CorruptTrace, UsageError
from commscope.parsers.saved.documents import RUN_FILE
from commscope.saved import baseline_runs, list_baselines
from commscope.saved.baselines import remove, save_run
from commscope.saved.files import run_files

Files = list[tuple[str, bytes]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return list(run_files(api.read(write_run(tmp_path_factory.mktemp("run") / "run"))))


def test_many_at_once(files: Files, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: save_run(tmp_path, "main", files), range(16)))
    wanted = [tmp_path / "main" / f"run-{number}" for number in range(1, 17)]
    assert baseline_runs(tmp_path, "main") == wanted
    assert sorted(found) == sorted(wanted)
    assert {path.name for path in (tmp_path / "main").iterdir()} == {path.name for path in wanted}


def test_numbers_go_on(files: Files, tmp_path: Path) -> None:
    for _ in range(3):
        save_run(tmp_path, "main", files)
    assert remove(tmp_path, "main", "run-2") == 1
    assert save_run(tmp_path, "main", files).name == "run-4"
    assert [path.name for path in baseline_runs(tmp_path, "main")] == ["run-1", "run-3", "run-4"]


def test_what_fails_leaves_nothing(files: Files, tmp_path: Path) -> None:
    def failing() -> Iterator[tuple[str, bytes]]:
        yield files[0]
        raise CorruptTrace("it ends here")

    with pytest.raises(CorruptTrace):
        save_run(tmp_path, "main", failing())
    assert list((tmp_path / "main").iterdir()) == []
    with pytest.raises(UsageError, match="no baseline main"):
        baseline_runs(tmp_path, "main")


def test_other_definitions_cannot_be_compared(files: Files, tmp_path: Path) -> None:
    path = save_run(tmp_path, "main", files)
    assert list_baselines(tmp_path)[0].runs[0].is_comparable
    manifest = (path / RUN_FILE).read_text()
    (path / RUN_FILE).write_text(manifest.replace('"definitions": 1', '"definitions": 0'))
    (run,) = list_baselines(tmp_path)[0].runs
    assert not run.is_comparable
    assert replace(run, definitions=1).is_comparable


def test_what_is_refused(files: Files, tmp_path: Path) -> None:
    for name in ("", ".hidden", "a/b", "..", "a b", "x" * 81):
        with pytest.raises(UsageError, match="take letters"):
            save_run(tmp_path, name, files)
    save_run(tmp_path, "main", files)
    with pytest.raises(UsageError, match="has no run-7; there are run-1"):
        remove(tmp_path, "main", "run-7")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        save_run(tmp_path / "file", "main", files)
