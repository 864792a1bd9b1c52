"""Readings as bytes: what a file of the cache holds of a source.

The header has of each reading all but its tables, with their lengths; the body is the tables, one
after the other. They are Arrow streams, compressed: measured on tables of 350,000 rows they are
read as fast as Parquet and a third smaller, and they keep dictionaries, chunks and metadata as they
are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from commscope.engine.cache_frame import CorruptEntry, framed, unframed
from commscope.engine.cache_key import CacheKey
from commscope.parsers.base import Companion, Facts, Health, Input, Reading

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True, slots=True)
class _Described:
    """A reading without its tables, and their lengths in bytes: events, host, collectives."""

    input: Input
    facts: Facts
    health: Health
    companions: tuple[Companion, ...]
    tables: tuple[int, int, int]


def encode(key: CacheKey, readings: Sequence[Reading]) -> list[bytes | pa.Buffer]:
    """The entry, in pieces; raises ValueError where a value cannot be written."""
    tables = [[_encoded(table) for table in _tables(reading)] for reading in readings]
    described = tuple(
        _Described(r.input, r.facts, r.health, r.companions, (events.size, host.size, other.size))
        for r, (events, host, other) in zip(readings, tables)
    )
    return framed(key, described, [buffer for one in tables for buffer in one])


def decode(data: bytes, key: CacheKey) -> list[Reading] | None:
    """The readings; null where they are of another key. Raises CorruptEntry."""
    found = unframed(data, key)
    if found is None:
        return None
    about, body = found
    try:
        described = msgspec.convert(about, tuple[_Described, ...], str_keys=True)
        return list(_readings(described, body))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptEntry(str(error)) from error


def _readings(described: Sequence[_Described], body: memoryview) -> Iterator[Reading]:
    at = 0
    for one in described:
        tables = []
        for size in one.tables:
            tables.append(pa.ipc.open_stream(pa.py_buffer(body[at : at + size])).read_all())
            at += size
        events, host, collectives = tables
        yield Reading(one.input, one.facts, one.health, events, host, collectives, one.companions)


def _tables(reading: Reading) -> tuple[pa.Table, pa.Table, pa.Table]:
    return reading.events, reading.host, reading.collectives


def _encoded(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_COMPRESSED) as writer:
        writer.write_table(table)
    return sink.getvalue()
