"""Where the cache lies, as the environment says."""

from __future__ import annotations

from pathlib import Path

import pytest

from commscope.engine.cache_folder import store_in_use, user_store
from commscope.engine.cache_store import CacheStore


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("COMMSCOPE_CACHE_DIR", "COMMSCOPE_NO_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_folder_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_store().folder.is_relative_to(tmp_path)
    assert store_in_use() == user_store()


def test_folder_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMMSCOPE_CACHE_DIR", "here")
    assert store_in_use() == CacheStore(tmp_path / "here" / "kept")


@pytest.mark.parametrize(
    ("value", "is_off"), [("1", True), ("yes", True), ("", False), ("0", False)]
)
def test_switched_off(value: str, is_off: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMSCOPE_NO_CACHE", value)
    assert (store_in_use() is None) is is_off


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commscope.engine.cache_folder.user_cache_dir", lambda *_, **__: "~/.cache")
    assert store_in_use() is None
