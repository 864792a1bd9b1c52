"""``commscope baseline``: runs kept by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_run import write_run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run")
    return tmp_path


def test_save_list_and_remove(here: Path, call: Any) -> None:
    for number in (1, 2):
        outcome = call("baseline", "save", "main", "run")
        assert outcome.out == f"saved commscope-baselines/main/run-{number}: 2 traces\n"
        assert (outcome.code, outcome.err) == (0, "")
    assert "run-2" in call("baseline", "list").out
    listed = json.loads(call("baseline", "list", "--format", "json").out)
    assert [row["run"] for row in listed["baselines"]] == ["run-1", "run-2"]
    assert {row["is_comparable"] for row in listed["baselines"]} == {True}
    wanted = call("analyze", "run", "--format", "json").out
    found = call("analyze", "commscope-baselines/main/run-1", "--format", "json").out
    assert found == wanted
    assert call("baseline", "remove", "main", "run-1").out.startswith("removed 1 run of main")
    assert call("baseline", "remove", "main").out.startswith("removed 1 run of main")
    assert call("baseline", "list").out == "commscope-baselines: holds no baseline\n"


def test_another_folder(here: Path, call: Any) -> None:
    assert call("baseline", "save", "a", "run", "--dir", "kept").code == 0
    assert (here / "kept" / "a" / "run-1" / "run.json").is_file()
    assert "run-1" in call("baseline", "list", "--dir", "kept").out


def test_what_is_refused(here: Path, refused: Any) -> None:
    assert "baseline '../x'" in refused(2, "baseline", "save", "../x", "run")
    assert "no baseline main" in refused(2, "baseline", "remove", "main")
    assert "lies where traces" in refused(2, "baseline", "save", "a", "run", "--dir", "run/kept")
    assert not (here / "commscope-baselines").exists()
