"""Putting the ranks' tables together, and what is said of ranks and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.columns import Int64, flagged, int64, nullable, order_of, with_column
from commscope.normalize.parts import Part, Tables, is_base, world_size
from commscope.parsers.base import Reading
from commscope.schema import RANKS, Flag, conform
from commscope.trace import SourceFile


def on_wall_clock(tables: Tables, base_ns: int) -> Tables:
    """All times moved by the file's base, so that files of one host share a clock."""
    if not base_ns:
        return tables
    events, host = tables.events, tables.host
    broken = flagged(events, Flag.BROKEN)
    start, launch = int64(events, "start_ns"), int64(events, "launch_ns")
    moved = with_column(events, "start_ns", pa.array(np.where(broken, start, start + base_ns)))
    known = events.column("launch_ns").is_valid().to_numpy()
    launch = np.where(known, launch + np.where(known, base_ns, 0), launch)
    moved = with_column(moved, "launch_ns", nullable(launch))
    host = with_column(host, "start_ns", pa.array(int64(host, "start_ns") + base_ns))
    return Tables(moved, host, tables.collectives)


def by_start(
    tables: Tables, classes: npt.NDArray[np.uint8]
) -> tuple[Tables, npt.NDArray[np.uint8]]:
    """Events, their classes and the host's rows in order of start."""
    # What starts at once is ordered too, so that the order of rows in the file changes nothing.
    order = order_of(*(int64(tables.events, key) for key in ("start_ns", "launch_ns", "dur_ns")))
    host_order = np.argsort(int64(tables.host, "start_ns"), kind="stable")
    events, host = _ordered(tables.events, order), _ordered(tables.host, host_order)
    if events is tables.events:
        return Tables(events, host, tables.collectives), classes
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    collectives = with_column(
        tables.collectives, "event", pa.array(place[int64(tables.collectives, "event")])
    )
    return Tables(events, host, collectives), classes[order]


def _ordered(table: pa.Table, order: Int64) -> pa.Table:
    """The rows in this order; the table itself where they are."""
    return table if (np.diff(order) == 1).all() else table.take(pa.array(order))


def stack(parts: Sequence[Tables]) -> Tables:
    """The tables of all ranks, one after the other."""
    offsets = np.cumsum([0] + [tables.events.num_rows for tables in parts])
    event = [int64(tables.collectives, "event") + at for tables, at in zip(parts, offsets)]
    return Tables(
        _concat([tables.events for tables in parts]),
        _concat([tables.host for tables in parts]),
        with_column(
            _concat([tables.collectives for tables in parts]),
            "event",
            pa.array(np.concatenate(event)),
        ),
    )


def _concat(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def ranks_table(parts: Sequence[Part]) -> pa.Table:
    """RANKS; several parts of one rank (captures) give one row, of the first."""
    firsts = list({part.rank: part for part in reversed(parts)}.values())[::-1]
    facts = [part.reading.facts for part in firsts]
    columns: dict[str, list[Any]] = {
        "rank": [part.rank for part in firsts],
        "host": [f.host for f in facts],
        "device": [part.device for part in firsts],
        "pid": [_int64(f.pid) for f in facts],
        "local_rank": [f.local_rank for f in facts],
        "gpu": [f.gpus.get(part.device) for f, part in zip(facts, firsts)],
        "clock_offset_ns": [0] * len(firsts),
        "clock_error_ns": [None] * len(firsts),
        "backend": [f.backend for f in facts],
        "world_size": [world_size(f) for f in facts],
        "source": [part.rank_source for part in firsts],
        "file": [part.file for part in firsts],
    }
    arrays = [_array(columns[field.name], field.type) for field in RANKS]
    return conform(pa.Table.from_arrays(arrays, names=RANKS.names), RANKS, "ranks")


def _int64(value: int | None) -> int | None:
    """The value, null where it is no number of 64 bits."""
    return value if value is not None and -(2**63) <= value < 2**63 else None


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        # Text of metadata may hold lone surrogates, which Arrow cannot.
        texts = [v if v is None else v.encode(errors="replace").decode() for v in values]
        return pa.array(texts, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def source_files(readings: Sequence[Reading], parts: Sequence[Part]) -> tuple[SourceFile, ...]:
    """What is known of the files that the parts are of; the rank is null of a merged file."""
    ranks: dict[str, set[int]] = {}
    for part in parts:
        ranks.setdefault(part.file, set()).add(part.rank)
    return tuple(
        file
        for reading in readings
        if reading.input.file in ranks
        for file in _files_of(reading, ranks[reading.input.file])
    )


def _files_of(reading: Reading, ranks: set[int]) -> list[SourceFile]:
    companions = [replace(reading, input=c.input, health=c.health) for c in reading.companions]
    return [_source_file(one, ranks) for one in (reading, *companions)]


def _source_file(reading: Reading, ranks: set[int]) -> SourceFile:
    facts, health = reading.facts, reading.health
    return SourceFile(
        file=reading.input.file,
        format=reading.input.format,
        rank=next(iter(ranks)) if len(ranks) == 1 else None,
        sha256=reading.input.sha256,
        bytes=reading.input.bytes,
        events=health.events_read,
        versions=facts.versions,
        is_rocm=facts.is_rocm,
        gpu_names=facts.gpu_names,
        events_repaired=health.events_repaired,
        events_lost=health.events_lost,
        bytes_lost=health.bytes_lost,
        cut=health.cut,
        lacks_events=health.lacks_events,
        last_good_ns=_last_good(reading),
    )


def _last_good(reading: Reading) -> int | None:
    """The begin of the last event read before a cut, on the wall clock as its activities are."""
    last, base = reading.health.last_good_ns, reading.facts.base_ns
    if last is None or reading.health.cut is None:
        return None
    return last + base if is_base(base) else last
