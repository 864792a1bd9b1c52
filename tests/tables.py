"""Readings and traces from rows of a few words each: what a parser would give, without a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.analysis.result import Analysis, analyse
from commscope.findings.model import Check
from commscope.findings.quality import trust_of
from commscope.normalize import Options, normalize
from commscope.parsers.base import Facts, Health, Input, Reading
from commscope.schema import PARSED_COLLECTIVES, PARSED_EVENTS, PARSED_HOST
from commscope.trace import Trace

COMPUTE = "void at::native::vectorized_elementwise_kernel<4>"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
GENERIC = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"
COPY = "Memcpy DtoD (Device -> Device)"


@dataclass(frozen=True)
class Gpu:
    """An activity of a GPU; ``launched`` is when a call of the host launched it."""

    start: int
    dur: int
    name: str = COMPUTE
    launched: int | None = None
    stream: int | None = 0
    device: int = 0
    rank: int | None = None
    kind: str = "kernel"
    correlation: int | None = None
    flags: int = 0
    queue: int | None = None
    workgroups: int | None = 64


@dataclass(frozen=True)
class Host:
    """A call or annotation of the host."""

    start: int
    dur: int
    name: str = "hipLaunchKernel"
    kind: str = "launch"
    correlation: int | None = None
    thread: int = 1
    rank: int | None = None


@dataclass(frozen=True)
class Known:
    """Metadata of a collective: ``event`` is the row among the activities of its reading."""

    event: int
    op: str | None = None
    comm: str | None = None
    bytes: int | None = None


Row = Gpu | Host | Known


def comm(start: int, dur: int, **more: Any) -> Gpu:
    return Gpu(start, dur, **{"name": ALL_REDUCE, "stream": 1, **more})


def copy(start: int, dur: int, **more: Any) -> Gpu:
    return Gpu(start, dur, **{"name": COPY, "stream": 2, "kind": "memcpy", **more})


def step(number: int, start: int, dur: int, **more: Any) -> Host:
    return annotation(f"ProfilerStep#{number}", start, dur, **more)


def annotation(name: str, start: int, dur: int, **more: Any) -> Host:
    return Host(start, dur, name, "annotation", **more)


def lost(launched: int, **more: Any) -> Host:
    """A launch whose kernel is not in the trace."""
    return Host(launched, 1, correlation=10**6 + launched, **more)


def reading(
    *rows: Row, file: str = "trace.json", health: Health | None = None, **facts: Any
) -> Reading:
    """What a parser gives for these rows; launches are added for those that say when."""
    gpu = [row for row in rows if isinstance(row, Gpu)]
    host = [row for row in rows if isinstance(row, Host)]
    numbered = [
        row if row.launched is None else _linked(row, number) for number, row in enumerate(gpu, 1)
    ]
    host += [
        Host(row.launched, 1, correlation=row.correlation, rank=row.rank)
        for row in numbered
        if row.launched is not None
    ]
    return Reading(
        Input(file, "kineto", None, 1000),
        Facts(**facts),
        health or Health(events_read=len(gpu) + len(host)),
        _events(numbered),
        _host(host),
        _table(PARSED_COLLECTIVES, [_collective(row) for row in rows if isinstance(row, Known)]),
    )


def _linked(row: Gpu, number: int) -> Gpu:
    return Gpu(**{**row.__dict__, "correlation": row.correlation or number})


def _events(rows: Sequence[Gpu]) -> pa.Table:
    return _table(
        PARSED_EVENTS,
        [
            {
                "rank": row.rank, "device": row.device, "stream": row.stream, "queue": row.queue,
                "kind": row.kind, "name": row.name, "start_ns": row.start, "dur_ns": row.dur,
                "correlation": row.correlation, "flags": row.flags,
                "workgroups": row.workgroups if row.kind == "kernel" else None,
            }
            for row in rows
        ],
    )  # fmt: skip


def _host(rows: Sequence[Host]) -> pa.Table:
    return _table(
        PARSED_HOST,
        [
            {
                "rank": row.rank, "thread": row.thread, "kind": row.kind, "name": row.name,
                "start_ns": row.start, "dur_ns": row.dur, "correlation": row.correlation,
            }
            for row in rows
        ],
    )  # fmt: skip


def _collective(row: Known) -> dict[str, Any]:
    return {
        "event": row.event,
        "op": row.op,
        "comm": row.comm,
        "bytes": row.bytes,
        "source": "args",
    }


def _table(schema: pa.Schema, rows: Sequence[dict[str, Any]]) -> pa.Table:
    columns = [_column([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def shuffled(one: Reading, seed: int) -> Reading:
    """The same file with its rows in another order; for readings without metadata."""
    rng = np.random.default_rng(seed)
    events, host = (
        table.take(pa.array(rng.permutation(table.num_rows))) for table in (one.events, one.host)
    )
    return Reading(one.input, one.facts, one.health, events, host, one.collectives)


def trace(*rows: Row, **options: Any) -> Trace:
    """The trace of one file with these rows."""
    return traces([reading(*rows)], **options)


def traces(readings: Iterable[Reading], **options: Any) -> Trace:
    return normalize(list(readings), Options(**options))


def analysis(*rows: Row, **options: Any) -> Analysis:
    return analyse(trace(*rows, **options))


def check(rule: str, of: Trace) -> Check:
    """What a rule of trust says of a trace."""
    (found,) = (one for one in trust_of(analyse(of)).checks if one.rule == rule)
    return found
