"""Entries that are damaged, unfinished, written by several at once, or too many."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cached_runs import KINETO, as_found, assert_same, kept_in, read, written

from commscope.engine.cache import CachedReadings
from commscope.engine.cache_entry import decode, encode
from commscope.engine.cache_frame import CorruptEntry
from commscope.engine.cache_key import CacheKey, key_of


@pytest.fixture
def kept(tmp_path: Path) -> CachedReadings:
    return kept_in(tmp_path / "readings")


def _entry(kept: CachedReadings) -> Path:
    [path] = kept.store.folder.iterdir()
    return path


def _limited(kept: CachedReadings, limit_bytes: int) -> CachedReadings:
    return replace(kept, store=replace(kept.store, limit_bytes=limit_bytes))


def _encoded(file: Path) -> tuple[CacheKey, bytes]:
    key = key_of(as_found(file), KINETO, 1)
    assert key is not None
    return key, b"".join(map(bytes, encode(key, read(file))))


def test_every_truncation_is_seen(tmp_path: Path) -> None:
    key, data = _encoded(written(tmp_path))
    assert decode(data, key) is not None
    for size in range(len(data)):
        with pytest.raises(CorruptEntry):
            decode(data[:size], key)
    with pytest.raises(CorruptEntry):
        decode(data + b"\0", key)


def test_every_changed_byte_is_seen(tmp_path: Path) -> None:
    key, data = _encoded(written(tmp_path))
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        with pytest.raises(CorruptEntry):
            decode(bytes(changed), key)


@pytest.mark.parametrize("size", [0, 1, 40, 56, 57, 300, -1])
def test_damaged_entry_is_ignored_and_removed(
    kept: CachedReadings, tmp_path: Path, size: int
) -> None:
    file = written(tmp_path)
    kept.put(as_found(file), KINETO, read(file))
    entry = _entry(kept)
    entry.write_bytes(entry.read_bytes()[:size])
    assert kept.get(as_found(file), KINETO) is None
    assert not entry.exists()
    kept.put(as_found(file), KINETO, read(file))
    assert kept.get(as_found(file), KINETO) is not None


@pytest.mark.parametrize("text", [b"", b"{}", b"commscope cache1" + b"\xff" * 60])
def test_list_removes_what_is_no_entry(kept: CachedReadings, tmp_path: Path, text: bytes) -> None:
    file = written(tmp_path)
    kept.put(as_found(file), KINETO, read(file))
    other = kept.store.folder / "0.kept"
    other.write_bytes(text)
    assert [entry.source for entry in kept.store.entries()] == [str(file)]
    assert not other.exists()


_WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from cached_runs import KINETO, as_found, kept_in, read
file = Path(sys.argv[2])
readings = read(file)
for _ in range(20):
    kept_in(Path(sys.argv[3])).put(as_found(file), KINETO, readings)
"""


def test_two_processes_write_the_same_entry(kept: CachedReadings, tmp_path: Path) -> None:
    file = written(tmp_path)
    readings = read(file)
    helpers = Path(__file__).parent.parent
    command = [sys.executable, "-c", _WRITER, str(helpers), str(file), str(kept.store.folder)]
    writers = [subprocess.Popen(command, cwd=tmp_path) for _ in range(2)]
    while any(writer.poll() is None for writer in writers):
        found = kept.get(as_found(file), KINETO)
        if found is not None:
            assert_same(found, readings)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert_same(kept.get(as_found(file), KINETO) or [], readings)
    assert _entry(kept).suffix == ".kept", "nothing unfinished is left"


def test_what_a_killed_process_left_is_ignored_and_goes(
    kept: CachedReadings, tmp_path: Path
) -> None:
    file = written(tmp_path)
    kept.put(as_found(file), KINETO, read(file))
    size = kept.store.size_bytes
    old, new = kept.store.folder / "a-1.part", kept.store.folder / "a-2.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, time.time() - 7200))
    assert (len(kept.store.entries()), kept.store.size_bytes) == (1, size)
    kept.put(as_found(file), KINETO, read(file))
    assert not old.exists()
    assert new.exists(), "another process may be writing it"
    kept.store.clear()
    assert list(kept.store.folder.iterdir()) == []


def test_killed_between_write_and_rename_finds_the_old_state(
    kept: CachedReadings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path)
    kept.put(as_found(file), KINETO, read(file))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        kept.put(as_found(file), KINETO, [])
    assert_same(kept.get(as_found(file), KINETO) or [], read(file))


def test_least_recently_used_goes_first(kept: CachedReadings, tmp_path: Path) -> None:
    files = [written(tmp_path, name=f"{name}.json") for name in "abc"]
    for number, file in enumerate(files[:2]):
        kept.put(as_found(file), KINETO, read(file))
        newest = max(kept.store.folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (number, number))
    assert kept.get(as_found(files[0]), KINETO) is not None  # now b is the oldest
    small = _limited(kept, kept.store.size_bytes + 10)
    small.put(as_found(files[2]), KINETO, read(files[2]))
    assert {Path(entry.source).name for entry in kept.store.entries()} == {"a.json", "c.json"}
    assert small.store.size_bytes <= small.store.limit_bytes


def test_entry_beyond_the_limit_is_not_written(kept: CachedReadings, tmp_path: Path) -> None:
    file = written(tmp_path)
    _limited(kept, 100).put(as_found(file), KINETO, read(file))
    assert kept.store.entries() == []


def test_clear_removes_entries_and_nothing_else(kept: CachedReadings, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        file = written(tmp_path, name=name)
        kept.put(as_found(file), KINETO, read(file))
    other = kept.store.folder / "notes.txt"
    other.write_text("mine")
    assert kept.store.clear() == 2
    assert (kept.store.entries(), kept.store.size_bytes) == ([], 0)
    assert list(kept.store.folder.iterdir()) == [other]
