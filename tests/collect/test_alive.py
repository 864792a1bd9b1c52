"""While a job runs, its folder shows that it does."""

from __future__ import annotations

import select
from pathlib import Path

from commscope.automation.stamps import stamps_of
from commscope.collect.alive import signs_of_life


def _changed(path: Path) -> int:
    return path.stat().st_ctime_ns


def test_a_sign_of_life_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "node.json"
    path.write_text("{}")
    before, digest = _changed(path), stamps_of(tmp_path, [path]).digest
    with signs_of_life(path, every_s=0.001):
        looks = 10_000
        while _changed(path) == before and looks:
            select.select([], [], [], 0.001)
            looks -= 1
    assert _changed(path) > before
    assert stamps_of(tmp_path, [path]).digest == digest


def test_a_folder_that_is_gone_is_no_failure(tmp_path: Path) -> None:
    with signs_of_life(tmp_path / "gone" / "node.json", every_s=0.0), signs_of_life(None):
        pass
