"""Readings as bytes: what a file of the cache holds of a source.

The header has of each reading all but its tables, with their lengths; the body is the tables, one
after the other, as Arrow streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from commscope.columns import arrow_stream
from commscope.engine.cache_frame import CorruptEntry, framed, unframed
from commscope.engine.cache_key import CacheKey
from commscope.parsers.base import Reading
from commscope.parsers.saved.documents import Described


@dataclass(frozen=True, slots=True)
class _Entry:
    """A reading, and the lengths of its tables in bytes: events, host, collectives."""

    reading: Described
    tables: tuple[int, int, int]


def encode(key: CacheKey, readings: Sequence[Reading]) -> list[bytes | pa.Buffer]:
    """The entry, in pieces; raises ValueError where a value cannot be written."""
    tables = [[arrow_stream(table) for table in _tables(reading)] for reading in readings]
    entries = tuple(
        _Entry(Described.of(reading), (events.size, host.size, other.size))
        for reading, (events, host, other) in zip(readings, tables)
    )
    return framed(key, entries, [buffer for one in tables for buffer in one])


def decode(data: bytes, key: CacheKey) -> list[Reading] | None:
    """The readings; null where they are of another key. Raises CorruptEntry."""
    found = unframed(data, key)
    if found is None:
        return None
    about, body = found
    try:
        entries = msgspec.convert(about, tuple[_Entry, ...], str_keys=True)
        return list(_readings(entries, body))
    except (pa.ArrowException, OSError, ValueError, msgspec.MsgspecError) as error:
        raise CorruptEntry(str(error)) from error


def _readings(entries: Sequence[_Entry], body: memoryview) -> Iterator[Reading]:
    at = 0
    for one in entries:
        tables = []
        for size in one.tables:
            tables.append(pa.ipc.open_stream(pa.py_buffer(body[at : at + size])).read_all())
            at += size
        yield one.reading.with_tables(*tables)


def _tables(reading: Reading) -> tuple[pa.Table, pa.Table, pa.Table]:
    return reading.events, reading.host, reading.collectives
