"""Tables of the schema from plain columns, for formats that give whole columns at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, nullable
from commscope.parsers.kineto.times import MAX_NS
from commscope.parsers.words import Words, dictionary
from commscope.schema import PARSED_COLLECTIVES, PARSED_EVENTS, PARSED_HOST, Flag, conform

EVENT_KINDS = ("kernel", "memcpy", "memset")
HOST_KINDS = ("launch", "sync", "memory", "capture", "runtime", "annotation", "collective")
KERNEL, COPY, FILL = range(len(EVENT_KINDS))
_RUNTIME = HOST_KINDS.index("runtime")


@dataclass(frozen=True, slots=True)
class Activities:
    """Activities of devices, ``NONE`` where a number is not known; names are codes of words."""

    kind: Int64  #: code of EVENT_KINDS
    name: Int64
    device: Int64
    stream: Int64
    queue: Int64
    start_ns: Int64
    end_ns: Int64
    correlation: Int64
    bytes: Int64
    workgroups: Int64


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls and annotations of the host; names are codes of words."""

    kind: Int64  #: code of HOST_KINDS
    name: Int64
    thread: Int64
    start_ns: Int64
    end_ns: Int64
    correlation: Int64


def no_activities() -> Activities:
    """No activity at all."""
    return Activities(*(np.empty(0, np.int64) for _ in fields(Activities)))


def no_calls() -> Calls:
    """No call at all."""
    return Calls(*(np.empty(0, np.int64) for _ in fields(Calls)))


_Rows = TypeVar("_Rows", Activities, Calls)


def joined(parts: Sequence[_Rows]) -> _Rows:
    """All rows of the parts, of which there is at least one, in order."""
    # Most often one part has all rows: then nothing is copied.
    filled = [part for part in parts if len(part.name)] or [parts[0]]
    if len(filled) == 1:
        return filled[0]
    kind = type(filled[0])
    return kind(*(np.concatenate([getattr(part, f.name) for part in filled]) for f in fields(kind)))


def taken(table: _Rows, rows: Bool | Int64) -> _Rows:
    """Some of the rows."""
    return type(table)(*(getattr(table, field.name)[rows] for field in fields(table)))


def events_table(activities: Activities, words: Words) -> pa.Table:
    """PARSED_EVENTS; activities without a possible time are flagged as broken."""
    start, duration, broken = _times(activities.start_ns, activities.end_ns)
    count = len(start)
    columns = {
        "rank": pa.nulls(count, pa.int32()),
        "device": pa.array(activities.device.astype(np.int32)),
        "stream": nullable(activities.stream),
        "queue": nullable(activities.queue),
        "kind": dictionary(activities.kind, EVENT_KINDS),
        "name": dictionary(activities.name, words.spelled),
        "start_ns": pa.array(start),
        "dur_ns": pa.array(duration),
        "correlation": nullable(_known_ids(activities.correlation)),
        "launch_ns": pa.nulls(count, pa.int64()),
        "step": pa.nulls(count, pa.int64()),
        "bytes": nullable(activities.bytes),
        "workgroups": nullable(activities.workgroups),
        "flags": pa.array(np.where(broken, Flag.BROKEN, 0).astype(np.uint16)),
    }
    return _table(columns, PARSED_EVENTS)


def host_table(calls: Calls, launched: Int64, words: Words) -> pa.Table:
    """PARSED_HOST: calls that say something, or that launched one of these correlations."""
    start, duration, broken = _times(calls.start_ns, calls.end_ns)
    correlation = _known_ids(calls.correlation)
    is_needed = (calls.kind != _RUNTIME) | np.isin(correlation, launched[launched != NONE])
    kept = np.flatnonzero(is_needed & ~broken)
    columns = {
        "rank": pa.nulls(len(kept), pa.int32()),
        "thread": nullable(calls.thread[kept]),
        "kind": dictionary(calls.kind[kept], HOST_KINDS),
        "name": dictionary(calls.name[kept], words.spelled),
        "start_ns": pa.array(start[kept]),
        "dur_ns": pa.array(duration[kept]),
        "correlation": nullable(correlation[kept]),
        "step": pa.nulls(len(kept), pa.int64()),
    }
    return _table(columns, PARSED_HOST)


def no_collectives() -> pa.Table:
    """PARSED_COLLECTIVES of a format that says nothing of collectives."""
    return PARSED_COLLECTIVES.empty_table()


def _times(start: Int64, end: Int64) -> tuple[Int64, Int64, Bool]:
    """Starts and lengths, 0 where one of them is missing or cannot be, and where that is."""
    broken: npt.NDArray[np.bool_] = (start < 0) | (start > MAX_NS) | (end < 0) | (end > MAX_NS)
    broken |= end < start
    return np.where(broken, 0, start), np.where(broken, 0, end - start), broken


def _known_ids(correlation: Int64) -> Int64:
    """Correlations, of which 0 stands for none."""
    return np.where(correlation == 0, NONE, correlation)


def _table(columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    arrays = [columns[name] for name in schema.names]
    return conform(pa.Table.from_arrays(arrays, names=schema.names), schema, "tables of a parser")
