"""What is kept of a source comes back exactly, and never for a source that is another."""

from __future__ import annotations

import errno
import logging
import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from cached_runs import KINETO, as_found, assert_same, kept_in, read, written
from small_run import trace

from commscope import sample_traces
from commscope.engine import cache_key, cache_store
from commscope.engine.cache import CachedReadings, NoCache
from commscope.parsers.opening import Extent
from commscope.parsers.rocpd import RocpdParser


@pytest.fixture
def kept(tmp_path: Path) -> CachedReadings:
    return kept_in(tmp_path / "cache" / "readings")


@pytest.mark.parametrize("name", sample_traces.names())
def test_samples_come_back_exactly(kept: CachedReadings, name: str) -> None:
    for file in sorted(sample_traces.path(name).glob("*.json.gz")):
        source, readings = as_found(file), read(file)
        assert kept.get(source, KINETO) is None
        kept.put(source, KINETO, readings)
        found = kept.get(source, KINETO)
        assert found is not None
        assert_same(found, readings)


def test_facts_of_any_text_and_size_come_back(kept: CachedReadings, tmp_path: Path) -> None:
    file = written(tmp_path)
    [one] = read(file)
    facts = replace(one.facts, host="\ud800\n", pid=2**80, gpus={7: "é"}, versions={"a": "b"})
    readings = [replace(one, facts=facts), one]
    kept.put(as_found(file), KINETO, readings)
    assert_same(kept.get(as_found(file), KINETO) or [], readings)


def test_chunks_with_other_words_come_back(kept: CachedReadings, tmp_path: Path) -> None:
    file = written(tmp_path)
    [one] = read(file)
    [other] = read(written(tmp_path, trace(name="another")))
    readings = [replace(one, events=pa.concat_tables([one.events, other.events]))]
    file = written(tmp_path)
    kept.put(as_found(file), KINETO, readings)
    assert_same(kept.get(as_found(file), KINETO) or [], readings)


def test_readings_without_a_table_row_come_back(kept: CachedReadings, tmp_path: Path) -> None:
    file = written(tmp_path)
    readings = [replace(one, host=one.host.slice(0, 0)) for one in read(file)]
    kept.put(as_found(file), KINETO, readings)
    assert_same(kept.get(as_found(file), KINETO) or [], readings)


def _overwrite(file: Path, at: int, data: bytes) -> None:
    """Changes bytes; size and time stay."""
    times = file.stat()
    with file.open("r+b") as opened:
        opened.seek(at, os.SEEK_SET if at >= 0 else os.SEEK_END)
        opened.write(data)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def _touch(file: Path) -> None:
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))


def _append(file: Path) -> None:
    times = file.stat()
    file.write_bytes(file.read_bytes() + b" ")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


CHANGES = {
    "size": _append,
    "time": _touch,
    "head": lambda file: _overwrite(file, 0, b"["),
    "tail": lambda file: _overwrite(file, -1, b"?"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_file_is_read_anew(kept: CachedReadings, tmp_path: Path, change: str) -> None:
    readings = read(written(tmp_path))
    file = written(tmp_path, b"{" + b" " * (200 << 10) + b"}")
    kept.put(as_found(file), KINETO, readings)
    assert kept.get(as_found(file), KINETO) is not None
    CHANGES[change](file)
    assert kept.get(as_found(file), KINETO) is None
    kept.put(as_found(file), KINETO, [])
    assert kept.get(as_found(file), KINETO) == []
    assert len(kept.store.entries()) == 1, "the new state takes the place of the old one"


def test_other_parser_label_or_version_finds_nothing(
    kept: CachedReadings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path)
    kept.put(as_found(file), KINETO, read(file))
    assert kept.get(as_found(file), RocpdParser()) is None
    assert kept.get(replace(as_found(file), label="other.json"), KINETO) is None
    monkeypatch.setattr(cache_key, "code", lambda: "of another version")
    assert kept.get(as_found(file), KINETO) is None


def test_companions_belong_to_the_key(kept: CachedReadings, tmp_path: Path) -> None:
    file, other = written(tmp_path), tmp_path / "other.csv"
    other.write_text("1")
    both = replace(as_found(file), companions=(as_found(other),))
    kept.put(both, KINETO, read(file))
    assert kept.get(both, KINETO) is not None
    assert kept.get(as_found(file), KINETO) is None
    other.write_text("2")
    assert kept.get(replace(both, companions=(as_found(other),)), KINETO) is None


def test_file_that_changed_while_it_was_read_is_not_kept(
    kept: CachedReadings, tmp_path: Path
) -> None:
    file = written(tmp_path)
    before = as_found(file)
    readings = read(file)
    _append(file)
    kept.put(before, KINETO, readings)
    assert kept.store.entries() == []
    assert kept.get(before, KINETO) is None


class _PlugIn:
    name, description, suffixes = "plug-in", "", ()
    match = read = None


def test_what_is_no_plain_large_file_is_not_kept(kept: CachedReadings, tmp_path: Path) -> None:
    file = written(tmp_path)
    source, readings = as_found(file), read(file)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for other in (
        replace(source, path=None),
        replace(source, member="a"),
        replace(source, extent=Extent(0, 1)),
        replace(source, size=None),
        as_found(pipe),
    ):
        kept.put(other, KINETO, readings)
    kept.put(source, _PlugIn(), readings)
    replace(kept, least_bytes=file.stat().st_size + 1).put(source, KINETO, readings)
    assert kept.store.entries() == []
    replace(kept, least_bytes=file.stat().st_size).put(source, KINETO, readings)
    assert len(kept.store.entries()) == 1


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_database_with_changes_beside_it_is_not_kept(
    kept: CachedReadings, tmp_path: Path, suffix: str
) -> None:
    file = written(tmp_path)
    kept.put(as_found(file), KINETO, read(file))
    file.with_name(file.name + suffix).write_bytes(b"")
    assert kept.get(as_found(file), KINETO) is None


def test_only_the_user_can_read_it(kept: CachedReadings, tmp_path: Path) -> None:
    file = written(tmp_path)
    kept.store.folder.mkdir(parents=True, mode=0o755)
    kept.put(as_found(file), KINETO, read(file))
    [entry] = kept.store.folder.iterdir()
    assert kept.store.folder.stat().st_mode & 0o777 == 0o700
    assert entry.stat().st_mode & 0o777 == 0o600


def test_folder_of_another_user_is_not_trusted(
    kept: CachedReadings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path)
    kept.put(as_found(file), KINETO, read(file))
    monkeypatch.setattr(os, "geteuid", lambda: kept.store.folder.stat().st_uid + 1)
    assert kept.get(as_found(file), KINETO) is None
    assert kept.store.entries() == []


def test_link_is_not_taken_for_the_folder(kept: CachedReadings, tmp_path: Path) -> None:
    file = written(tmp_path)
    kept.store.folder.parent.mkdir()
    kept.store.folder.symlink_to(tmp_path)
    kept.put(as_found(file), KINETO, read(file))
    assert kept.get(as_found(file), KINETO) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", file.name]


def test_without_a_place_all_goes_on_in_silence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_bytes(b"no folder")
    kept = kept_in(tmp_path / "cache" / "readings")
    file = written(tmp_path)
    with caplog.at_level(logging.DEBUG):
        kept.put(as_found(file), KINETO, read(file))
    assert [record.levelname for record in caplog.records] == ["DEBUG"]
    assert kept.get(as_found(file), KINETO) is None
    assert (kept.store.entries(), kept.store.size_bytes, kept.store.clear()) == ([], 0, 0)


def test_full_disk_leaves_nothing(
    kept: CachedReadings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = written(tmp_path)
    monkeypatch.setattr(cache_store.os, "fsync", full)
    kept.put(as_found(file), KINETO, read(file))
    assert list(kept.store.folder.iterdir()) == []


def test_no_cache_keeps_nothing(tmp_path: Path) -> None:
    file = written(tmp_path)
    NoCache().put(as_found(file), KINETO, read(file))
    assert NoCache().get(as_found(file), KINETO) is None
