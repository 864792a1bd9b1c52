"""``commscope cache``: what it shows, and what it clears."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cached_runs import KINETO, as_found, kept_in, read, written

from commscope.cli.cached import chosen_cache
from commscope.engine.cache import CachedReadings, NoCache
from commscope.engine.cache_store import CacheStore


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMMSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("COMMSCOPE_NO_CACHE", raising=False)
    return tmp_path / "cache" / "kept"


def _keep(folder: Path, where: Path, name: str = "rank0.json") -> Path:
    file = written(where, name=name)
    kept_in(folder).put(as_found(file), KINETO, read(file))
    return file


def test_nothing_is_kept_at_first(folder: Path, call: Any) -> None:
    outcome = call("cache")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"{folder}: 0 entries, 0 B of at most 5.000 GB\n"
    assert not folder.exists(), "looking makes no folder"


def test_list_names_files(folder: Path, tmp_path: Path, call: Any) -> None:
    file = _keep(folder, tmp_path, "evil\x1b[31m.json")
    outcome = call("cache")
    assert "1 entry" in outcome.out
    assert "evil\ufffd[31m.json" in outcome.out
    assert "\x1b" not in outcome.out
    document = json.loads(call("cache", "--format", "json").out)
    [entry] = document["entries"]
    assert (entry["source"], entry["made_by"]) == (str(file), "kineto")
    assert document["bytes"] == entry["bytes"] == next(folder.iterdir()).stat().st_size
    assert document["folder"] == str(folder)


def test_clear(folder: Path, tmp_path: Path, call: Any) -> None:
    file = _keep(folder, tmp_path)
    outcome = call("cache", "clear")
    assert outcome.code == 0
    assert outcome.out.startswith("removed 1 entry (")
    assert list(folder.iterdir()) == []
    assert file.exists()
    assert call("cache", "clear").out.startswith("removed 0 entries (0 B)")


def test_clear_that_cannot_is_told(
    folder: Path, tmp_path: Path, refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _keep(folder, tmp_path)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "unlink", denied)
    assert "cannot be cleared" in refused(2, "cache", "clear")


def test_option_switches_it_off(folder: Path) -> None:
    assert isinstance(chosen_cache(no_cache=True), NoCache)
    assert chosen_cache(no_cache=False) == CachedReadings(CacheStore(folder))
