"""A trace as the JSON of Chrome, Perfetto and the PyTorch profiler, one event a line.

The keys are those of the PyTorch profiler, so what reads its traces reads these. Times are text of
whole nanoseconds, counted from ``baseTimeNanoseconds``: viewers read them as doubles, which hold
no nanoseconds of the wall clock.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase

import numpy as np
import pyarrow as pa

from commscope.columns import Bool, flagged, int64
from commscope.convert.chrome_collectives import collective_members
from commscope.convert.chrome_processes import Processes
from commscope.convert.json_text import (
    BLOCK_ROWS,
    after_comma,
    joined,
    member,
    microseconds,
    numbers,
    quoted,
)
from commscope.parsers.host_kinds import RUNTIME_KINDS
from commscope.schema import Flag
from commscope.trace import SourceFile, Trace

_SECOND_NS = 10**9
_DEVICE_CATEGORIES = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}
_HOST_CATEGORIES = {
    **dict.fromkeys(RUNTIME_KINDS, "cuda_runtime"),
    "annotation": "user_annotation",
    "collective": "cpu_op",
}
#: Readers take a number below 0 for none; this far below it keeps the order of several.
_NO_DEVICE = -(1 << 40)


@dataclass(frozen=True, slots=True)
class Document:
    """What is written of a trace; the tables are those of ``Trace``."""

    events: pa.Table
    host: pa.Table
    collectives: pa.Table
    ranks: pa.Table
    files: tuple[SourceFile, ...]

    @classmethod
    def of(cls, trace: Trace) -> Document:
        """All of it."""
        return cls(trace.events, trace.host, trace.collectives, trace.ranks, trace.files)


def write_chrome(document: Document, file: BufferedIOBase) -> None:
    """Writes all its ranks into one file."""
    base_ns = _base_ns(document)
    processes = Processes(document.ranks, document.files)
    header = json.dumps({**processes.header(), "baseTimeNanoseconds": base_ns}, indent=1)
    file.write(f'{header[:-2]},\n "traceEvents": [\n'.encode())
    separator = ""
    for lines in _blocks(document, processes, base_ns):
        file.write(f"{separator}{lines}".encode())
        separator = ",\n"
    file.write(b"\n]}\n")


def _blocks(document: Document, processes: Processes, base_ns: int) -> Iterator[str]:
    yield ",\n".join(map(json.dumps, processes.names()))
    described = collective_members(document.collectives, document.events.num_rows)
    for at in range(0, document.events.num_rows, BLOCK_ROWS):
        events = document.events.slice(at, BLOCK_ROWS)
        lines = _device_lines(events, described.slice(at, BLOCK_ROWS), processes, base_ns)
        yield ",\n".join(lines.to_pylist())
    for at in range(0, document.host.num_rows, BLOCK_ROWS):
        lines = _host_lines(document.host.slice(at, BLOCK_ROWS), processes, base_ns)
        yield ",\n".join(lines.to_pylist())


def _device_lines(
    events: pa.Table, described: pa.Array, processes: Processes, base_ns: int
) -> pa.Array:
    blocks = numbers(events, "workgroups")
    args = joined(
        member("device", _devices(events)),
        member("stream", numbers(events, "stream")),
        member("hsa_queue", numbers(events, "queue")),
        member("correlation", numbers(events, "correlation")),
        member("bytes", numbers(events, "bytes")),
        member("grid", joined("[", blocks, ", 1, 1]")),
        processes.rank_member(events),
        described,
    )
    place = joined(
        member("pid", processes.device_pid(events)), member("tid", numbers(events, "stream"))
    )
    # What has no possible time keeps none, so that it is found to be broken again.
    is_broken = flagged(events, Flag.BROKEN)
    return _lines(events, _DEVICE_CATEGORIES, place, _times(events, base_ns, is_broken), args)


def _host_lines(host: pa.Table, processes: Processes, base_ns: int) -> pa.Array:
    args = joined(member("correlation", numbers(host, "correlation")), processes.rank_member(host))
    place = joined(member("pid", processes.host_pid(host)), member("tid", numbers(host, "thread")))
    never = np.zeros(host.num_rows, np.bool_)
    return _lines(host, _HOST_CATEGORIES, place, _times(host, base_ns, never), args)


def _lines(
    table: pa.Table, categories: dict[str, str], place: pa.Array, times: pa.Array, args: pa.Array
) -> pa.Array:
    return joined(
        '{"ph": "X", "cat": ',
        quoted(table, "kind", lambda kind: categories.get(kind, kind)),
        ', "name": ',
        quoted(table, "name", str),
        place,
        times,
        ', "args": {',
        after_comma(args),
        "}}",
    )


def _times(table: pa.Table, base_ns: int, without: Bool) -> pa.Array:
    """Begin and length; none where the row has none, or begins before what can be written."""
    start, duration = int64(table, "start_ns") - base_ns, int64(table, "dur_ns")
    hole = without | (start < 0) | (duration < 0)
    return joined(
        member("ts", microseconds(start, hole)), member("dur", microseconds(duration, hole))
    )


def _devices(events: pa.Table) -> pa.Array:
    device = int64(events, "device")
    return pa.array(np.where(device < 0, _NO_DEVICE - device, device)).cast(pa.string())


def _base_ns(document: Document) -> int:
    """The whole second before the first time of the document, 0 where there is none.

    Nothing then begins at 0, which readers take for no time.
    """
    is_whole = ~flagged(document.events, Flag.BROKEN)
    events, host = int64(document.events, "start_ns")[is_whole], int64(document.host, "start_ns")
    starts = np.concatenate([events, host])
    starts = starts[starts > 0]
    first = int(starts.min()) if len(starts) else 0
    return max(first // _SECOND_NS - 1, 0) * _SECOND_NS
