"""Sorts decoded events into the tables of the schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, nullable
from commscope.parsers.base import Facts
from commscope.parsers.kineto.collectives import (
    Annotation,
    Known,
    collectives_table,
    match_annotations,
    match_records,
)
from commscope.parsers.kineto.decode import CollectiveArgs, Event, decode_args, decode_collective
from commscope.parsers.kineto.facts import facts_of
from commscope.parsers.kineto.kinds import (
    CODE,
    DEVICE_KINDS,
    GPU_ANNOTATION,
    HOST_KINDS,
    KINDS,
    RUNTIME_KINDS,
    KindOf,
)
from commscope.parsers.kineto.rows import Columns, Words, dictionary, first_known, integers
from commscope.parsers.kineto.times import to_ns
from commscope.schema import PARSED_EVENTS, PARSED_HOST, Flag, conform

_COLLECTIVE_KEY = b'"Collective name"'


class Tables:
    """Device activities, host calls and what is known of collectives, growing chunk by chunk."""

    def __init__(self) -> None:
        self._names = Words()
        self._kind_of = KindOf()
        self._device = Columns()
        self._host = Columns()
        self._known: list[Known] = []
        self._records: list[CollectiveArgs] = []
        self._annotations: list[Annotation] = []

    def add(self, events: Sequence[Event]) -> None:
        """Takes the events of one chunk."""
        rows = [(kind, event) for event in events if (kind := self._kind_of(event))]
        self._add_device([row for row in rows if row[0] in DEVICE_KINDS])
        self._add_host([row for row in rows if row[0] in HOST_KINDS])
        self._add_annotations([event for kind, event in rows if kind == GPU_ANNOTATION])

    def last_start_ns(self) -> int:
        """Begin of the latest activity or call; ``NONE`` without any."""
        starts = np.concatenate((self._device.column("start_ns"), self._host.column("start_ns")))
        return int(starts.max(initial=NONE))

    def finish(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """The tables of PARSED_EVENTS, PARSED_HOST and PARSED_COLLECTIVES."""
        known = list(self._known)
        known += match_records(self._device, self._records, known)
        known += match_annotations(self._device, self._annotations, known)
        collectives = collectives_table(known, self._device.column("rank"))
        return self._events_table(), self._host_table(), collectives

    def facts(self, metadata: Mapping[str, Any]) -> Facts:
        """What the file says of its process."""
        pids = Counter(self._host.column("pid").tolist())
        pids.pop(NONE, None)
        devices = set(self._device.column("device").tolist())
        calls = np.isin(self._host.column("kind"), [CODE[kind] for kind in RUNTIME_KINDS])
        used = np.unique(self._host.column("name")[calls]).tolist()
        words = list(self._names)
        return facts_of(metadata, [words[code] for code in used], pids, devices, self._records)

    def _add_device(self, rows: Sequence[tuple[str, Event]]) -> None:
        if not rows:
            return
        events = [event for _, event in rows]
        args = decode_args(events)
        self._add_known(events)
        starts, durations = _times(events)
        self._device.append(
            rank=integers([a.rank for a in args]),
            device=first_known([a.device for a in args], [e.pid for e in events]),
            stream=integers([a.stream for a in args]),
            queue=integers([a.hsa_queue for a in args]),
            kind=_kind_codes(rows),
            name=self._names.encode([e.name for e in events]),
            start_ns=starts,
            dur_ns=durations,
            correlation=integers([a.correlation for a in args]),
            external_id=integers([a.external_id for a in args]),
            bytes=first_known([a.bytes_ for a in args], [a.size for a in args]),
        )

    def _add_known(self, events: Sequence[Event]) -> None:
        first = len(self._device)
        self._known += [
            Known(first + row, decode_collective(event.args), "args")
            for row, event in enumerate(events)
            if _COLLECTIVE_KEY in bytes(event.args)
        ]

    def _add_host(self, rows: Sequence[tuple[str, Event]]) -> None:
        if not rows:
            return
        events = [event for _, event in rows]
        args = decode_args(events)
        self._records += [decode_collective(e.args) for kind, e in rows if kind == "collective"]
        starts, durations = _times(events)
        self._host.append(
            rank=integers([a.rank for a in args]),
            pid=integers([e.pid for e in events]),
            thread=integers([e.tid for e in events]),
            kind=_kind_codes(rows),
            name=self._names.encode([e.name for e in events]),
            start_ns=starts,
            dur_ns=durations,
            correlation=integers([a.correlation for a in args]),
        )

    def _add_annotations(self, events: Sequence[Event]) -> None:
        named = [e for e in events if str(e.name).startswith("nccl:")]
        starts, durations = _times(named)
        streams = integers([e.tid for e in named])
        for row, event in enumerate(named):
            start, end = int(starts[row]), int(starts[row] + durations[row])
            self._annotations.append(Annotation(str(event.name), int(streams[row]), start, end))

    def _events_table(self) -> pa.Table:
        device = self._device
        start, duration, broken = _without_holes(device)
        columns = {
            **_common(device, self._names, start, duration),
            "device": pa.array(device.column("device").astype(np.int32)),
            "stream": nullable(device.column("stream")),
            "queue": nullable(device.column("queue")),
            "launch_ns": pa.nulls(len(start), pa.int64()),
            "bytes": nullable(device.column("bytes")),
            "flags": pa.array(np.where(broken, Flag.BROKEN, 0).astype(np.uint16)),
        }
        return _table(columns, PARSED_EVENTS, "Kineto events")

    def _host_table(self) -> pa.Table:
        host = self._host
        start, duration, broken = _without_holes(host)
        columns = {
            **_common(host, self._names, start, duration),
            "thread": nullable(host.column("thread")),
        }
        table = _table(columns, PARSED_HOST, "Kineto host calls")
        return table.filter(pa.array(~broken & self._is_needed()))

    def _is_needed(self) -> Bool:
        """Host rows that say something, or that launched something (told by correlation)."""
        launched = np.isin(self._host.column("correlation"), self._device.column("correlation"))
        return launched | (self._host.column("kind") != CODE["runtime"])


def _times(events: Sequence[Event]) -> tuple[Int64, Int64]:
    return to_ns([e.ts for e in events]), to_ns([e.dur for e in events])


def _kind_codes(rows: Sequence[tuple[str, Event]]) -> Int64:
    return np.fromiter((CODE[kind] for kind, _ in rows), np.int64, len(rows))


def _without_holes(columns: Columns) -> tuple[Int64, Int64, Bool]:
    """Starts and durations with 0 for what is missing, and which rows miss one or are negative."""
    start, duration = columns.column("start_ns"), columns.column("dur_ns")
    broken = (start == NONE) | (duration < 0)
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
