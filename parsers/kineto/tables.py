"""Sorts decoded events into the tables of the schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, nullable
from commscope.parsers.base import Facts
from commscope.parsers.batches import Columns
from commscope.parsers.host_kinds import RUNTIME_KINDS
from commscope.parsers.integers import devices, first_known, integers, products, ranks
from commscope.parsers.kineto.collectives import (
    Known,
    collectives_table,
    match_annotations,
    match_records,
)
from commscope.parsers.kineto.decode import Args, Event, args_of
from commscope.parsers.kineto.facts import facts_of
from commscope.parsers.kineto.kinds import (
    CODE,
    DEVICE_KINDS,
    GPU_ANNOTATION,
    HOST_KINDS,
    KINDS,
    NOT_NEEDED,
    KindOf,
)
from commscope.parsers.kineto.times import MAX_NS, to_ns
from commscope.parsers.words import Words, dictionary
from commscope.schema import PARSED_EVENTS, PARSED_HOST, Flag, conform

#: NumPy's cost of a batch is then small against that of its rows, and the rows' memory bounded.
_BATCH_EVENTS = 1 << 14
_COLLECTIVE = CODE["collective"]


class TableBuilder:
    """Device activities, host calls and what is known of collectives, growing chunk by chunk."""

    def __init__(self) -> None:
        self._names = Words()
        self._kind_of = KindOf()
        self._waiting: list[Event] = []
        self._rows = Columns()
        self._collectives: list[tuple[int, Args]] = []  #: row of a kernel, its arguments
        self._records: list[Args] = []

    def add(self, events: Sequence[Event]) -> None:
        """Takes the events of one chunk."""
        self._waiting += events
        if len(self._waiting) >= _BATCH_EVENTS:
            self._add_batch()

    def finish(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """The tables of PARSED_EVENTS, PARSED_HOST and PARSED_COLLECTIVES."""
        self._add_batch()
        is_device = self._is_kind(DEVICE_KINDS)
        device, host = (self._rows.where(w) for w in (is_device, self._is_kind(HOST_KINDS)))
        known = self._known(device, np.cumsum(is_device) - 1)
        collectives = collectives_table(known, device.column("rank"))
        return self._events_table(device), self._host_table(host, device), collectives

    def facts(self, metadata: Mapping[str, Any]) -> Facts:
        """What the file says of its process, once the tables are finished."""
        host = self._rows.where(self._is_kind(HOST_KINDS))
        pids = Counter(host.column("pid").tolist())
        pids.pop(NONE, None)
        used_devices = devices(self._rows.column("device")[self._is_kind(DEVICE_KINDS)])
        used = np.unique(self._rows.column("name")[self._is_kind(RUNTIME_KINDS)]).tolist()
        words = list(self._names)
        calls = [words[code] for code in used]
        return facts_of(metadata, calls, pids, set(used_devices.tolist()), self._records)

    def last_good_ns(self) -> int | None:
        """Begin of the last activity or call in the file, once the tables are finished."""
        start, _, broken = _without_holes(self._rows)
        known = start[~broken]
        return int(known[-1]) if len(known) else None

    def _is_kind(self, kinds: Sequence[str]) -> Bool:
        return np.isin(self._rows.column("kind"), [CODE[kind] for kind in kinds])

    def _add_batch(self) -> None:
        codes = self._kind_of.codes(self._waiting)
        is_needed = codes != NOT_NEEDED
        events = list(compress(self._waiting, is_needed.tolist()))
        self._waiting.clear()
        codes, args = codes[is_needed], args_of(events)
        self._note_collectives(codes, args)
        columns = self._columns(events)
        self._rows.append(kind=codes, **columns, **_args_columns(args, columns["pid"]))

    def _note_collectives(self, codes: Int64, args: Sequence[Args]) -> None:
        first = len(self._rows)
        is_device = codes < len(DEVICE_KINDS)
        self._collectives += [
            (first + row, args[row])
            for row in np.flatnonzero(is_device).tolist()
            if args[row].op is not None
        ]
        self._records += [args[row] for row in np.flatnonzero(codes == _COLLECTIVE).tolist()]

    def _columns(self, events: Sequence[Event]) -> dict[str, Int64]:
        return {
            "name": self._names.encode([e.name for e in events]),
            "pid": integers([e.pid for e in events]),
            "thread": integers([e.tid for e in events]),
            "start_ns": to_ns([e.ts for e in events]),
            "dur_ns": to_ns([e.dur for e in events]),
        }

    def _known(self, device: Columns, device_row: Int64) -> list[Known]:
        known = [Known(int(device_row[row]), args, "args") for row, args in self._collectives]
        known += match_records(device, self._records, known)
        names = list(self._names)
        is_named = np.array([name.startswith("nccl:") for name in names], np.bool_)
        annotations = self._rows.where(self._is_kind([GPU_ANNOTATION]))
        is_whole = ~_without_holes(annotations)[2]
        annotations = annotations.where(is_named[annotations.column("name")] & is_whole)
        return known + match_annotations(device, annotations, names, known)

    def _events_table(self, device: Columns) -> pa.Table:
        start, duration, broken = _without_holes(device)
        columns = {
            **_common(device, self._names, start, duration),
            "device": pa.array(devices(device.column("device")), pa.int32()),
            "stream": nullable(device.column("stream")),
            "queue": nullable(device.column("queue")),
            "launch_ns": pa.nulls(len(start), pa.int64()),
            "bytes": nullable(device.column("bytes")),
            "workgroups": nullable(device.column("workgroups")),
            "flags": pa.array(np.where(broken, Flag.BROKEN, 0).astype(np.uint16)),
        }
        return _table(columns, PARSED_EVENTS, "Kineto events")

    def _host_table(self, host: Columns, device: Columns) -> pa.Table:
        """Host calls that say something, or that launched something (told by correlation)."""
        start, duration, broken = _without_holes(host)
        columns = {
            **_common(host, self._names, start, duration),
            "thread": nullable(host.column("thread")),
        }
        launched = np.isin(host.column("correlation"), device.column("correlation"))
        is_needed = launched | (host.column("kind") != CODE["runtime"])
        table = _table(columns, PARSED_HOST, "Kineto host calls")
        return table.filter(pa.array(~broken & is_needed))


def _args_columns(args: Sequence[Args], pids: Int64) -> dict[str, Int64]:
    return {
        "rank": ranks([a.rank for a in args]),
        "device": first_known(integers([a.device for a in args]), pids),
        "stream": integers([a.stream for a in args]),
        "queue": integers([a.hsa_queue for a in args]),
        "correlation": integers([a.correlation for a in args]),
        "external_id": integers([a.external_id for a in args]),
        "workgroups": products([a.grid for a in args]),
        "bytes": first_known(integers([a.bytes for a in args]), integers([a.size for a in args])),
    }


def _without_holes(columns: Columns) -> tuple[Int64, Int64, Bool]:
    """Starts and durations, 0 where one of them is missing or impossible, and where that is."""
    start, duration = columns.column("start_ns"), columns.column("dur_ns")
    broken = (start < 0) | (start > MAX_NS) | (duration < 0) | (duration > MAX_NS)
    return np.where(broken, 0, start), np.where(broken, 0, duration), broken


def _common(columns: Columns, names: Words, start: Int64, duration: Int64) -> dict[str, pa.Array]:
    correlation = columns.column("correlation")
    return {
        "rank": nullable(columns.column("rank")).cast(pa.int32()),
        "kind": dictionary(columns.column("kind"), KINDS),
        "name": dictionary(columns.column("name"), list(names)),
        "start_ns": pa.array(start),
        "dur_ns": pa.array(duration),
        # 0 stands for none: seen on all RCCL kernels of ROCm 6.1 (roctracer issue 100).
        "correlation": nullable(np.where(correlation == 0, NONE, correlation)),
        "step": pa.nulls(len(start), pa.int64()),
    }


def _table(columns: Mapping[str, pa.Array], schema: pa.Schema, what: str) -> pa.Table:
    ordered = [columns[name] for name in schema.names]
    return conform(pa.Table.from_arrays(ordered, names=schema.names), schema, what)
