"""Small files, what is read of them, and caches that take files of any size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import small_run

from commscope.engine.cache import CachedReadings
from commscope.engine.cache_store import CacheStore
from commscope.engine.reading import read_source
from commscope.parsers.base import Reading
from commscope.parsers.kineto import KinetoParser
from commscope.parsers.opening import Source

KINETO = KinetoParser()


def kept_in(folder: Path) -> CachedReadings:
    return CachedReadings(CacheStore(folder), least_bytes=1)


def written(folder: Path, data: bytes | None = None, name: str = "rank0.json") -> Path:
    file = folder / name
    file.write_bytes(small_run.trace() if data is None else data)
    return file


def as_found(file: Path) -> Source:
    """The file as it is found now."""
    status = file.stat()
    return Source(file, label=file.name, size=status.st_size, modified=status.st_mtime_ns)


def read(file: Path) -> list[Reading]:
    return read_source(as_found(file), KINETO, lambda done, total: None)


def assert_same(found: Sequence[Reading], wanted: Sequence[Reading]) -> None:
    """Whether readings are alike in all they hold, types and metadata of tables too."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        assert (one.input, one.facts, one.health) == (other.input, other.facts, other.health)
        assert one.companions == other.companions
        for name in ("events", "host", "collectives"):
            table, expected = getattr(one, name), getattr(other, name)
            assert table.schema.equals(expected.schema, check_metadata=True)
            assert table.to_pylist() == expected.to_pylist()
