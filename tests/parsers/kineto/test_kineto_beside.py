"""What is read of a file beside its tables, and what is too large or damaged for it."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from pathlib import Path

import pytest
from one_file import source_of

from commscope.parsers.kineto import beside
from commscope.parsers.kineto.beside import read_beside

_MARK = {"ph": "X", "cat": "gpu_user_annotation", "name": "nccl:all_reduce", "ts": 1, "dur": 2}


def _packed(path: Path, padding: int = 0) -> Path:
    text = json.dumps({"traceEvents": [_MARK], "padding": " " * padding}).encode()
    path.write_bytes(gzip.compress(text))
    return path


def test_a_packed_file(tmp_path: Path) -> None:
    path = _packed(tmp_path / "a.json.gz")
    found = read_beside(source_of(path))
    assert found is not None
    assert found.spans.name == ("nccl:all_reduce",)
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()


def test_what_unpacks_to_more_than_fits_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _packed(tmp_path / "a.json.gz", padding=8 << 20)
    assert path.stat().st_size < 1 << 16
    assert read_beside(source_of(path)) is not None
    monkeypatch.setattr(beside, "MOST_BYTES", 1 << 20)
    assert read_beside(source_of(path)) is None


def test_what_is_cut_is_left(tmp_path: Path) -> None:
    path = _packed(tmp_path / "a.json.gz")
    path.write_bytes(path.read_bytes()[:-20])
    assert read_beside(source_of(path)) is None
