"""Writes a LogicalTrace as rocprof (v1) does: results.csv, results.json, results.db."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

from logical_trace import LogicalTrace

_KERNELS = (
    *("Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr"),
    *("lds", "scr", "arch_vgpr", "accum_vgpr", "sgpr", "wave_size", "sig", "obj"),
    *("DispatchNs", "BeginNs", "EndNs", "CompleteNs", "DurationNs"),
)
_TIMES = 5  #: the last columns, which only --timestamp on gives


def write_csv(path: Path, trace: LogicalTrace, *, times: bool = True) -> Path:
    """Kernels only."""
    width = len(_KERNELS) if times else len(_KERNELS) - _TIMES
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(_KERNELS[:width])
        for number, d in enumerate(trace.dispatches):
            row = (
                number, f"{d.name} [clone .kd]", d.device, d.queue, number, trace.pid, 101,
                _product(d.grid), _product(d.workgroup), 0, 0, 16, 0, 32, 64, "0x0", "0x7f28",
                d.start_ns - 9, d.start_ns, d.end_ns, d.end_ns + 9, d.end_ns - d.start_ns,
            )  # fmt: skip
            writer.writerow(row[:width])
    return path


def write_json(path: Path, trace: LogicalTrace) -> Path:
    """A Chrome trace: sections for processes, whole microseconds, true times in arguments."""
    lines = ["{}"]
    sections = {1: "COPY", 2: "CPU HIP API", **{6 + device: "GPU" for device in trace.gpus}}
    for section, name in sections.items():
        shown = f"GPU{section - 6}" if name == "GPU" else name
        named = {"args": {"name": shown}, "ph": "M", "pid": section, "name": "process_name"}
        lines.append(json.dumps(named))
    for t in trace.transfers:
        more = {"dev-id": str(t.device), "queue-id": "0", "stream-id": str(t.stream)}
        lines.append(_event(trace, 1, t.stream, _short(t.direction), t, more))
    lines += [_event(trace, 2, c.thread, c.name, c, {"tid": str(c.thread)}) for c in trace.calls]
    for m in trace.markers:
        lines += [_event(trace, 0, m.thread, m.message, m, {"tid": str(m.thread)})]
    for d in trace.dispatches:
        more = {"dev-id": str(d.device), "queue-id": str(d.queue), "stream-id": str(d.stream)}
        lines.append(_event(trace, 6 + d.device, d.stream, d.name, d, more))
    text = '{ "traceEvents":[' + "\n,".join(lines) + '\n],\n  "otherData": {}\n}'
    path.write_text(text)
    return path


def _event(  # noqa: PLR0917
    trace: LogicalTrace, section: int, lane: int, name: str, row: Any, more: dict[str, str]
) -> str:
    args = {
        "BeginNs": str(row.start_ns), "EndNs": str(row.end_ns), "pid": str(trace.pid),
        "tid": "101", "Name": name, "DurationNs": str(row.end_ns - row.start_ns), **more,
    }  # fmt: skip
    start, length = str(row.start_ns // 1000), str((row.end_ns - row.start_ns) // 1000)
    event = {"ph": "X", "name": name, "pid": str(section), "tid": str(lane), "ts": start}
    return json.dumps({**event, "dur": length, "args": args})


def write_db(path: Path, trace: LogicalTrace) -> Path:
    """Tables of what was traced."""
    database = sqlite3.connect(path)
    call = "BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT, args TEXT, "
    activity = 'BeginNs INTEGER, EndNs INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, Name TEXT, '
    more = '"Index" INTEGER, "Data" TEXT, "__section" INTEGER, "__lane" INTEGER'
    own = 'pid INTEGER, tid INTEGER, "roctx-range" TEXT, "stream-id" INTEGER, '
    for table in ("HIP", "rocTX"):
        database.execute(f'CREATE TABLE {table} ("Data0" TEXT, {call} {more})')
    for table in ("OPS", "COPY"):
        database.execute(f'CREATE TABLE {table} ("Data0" TEXT, {activity} {own} {more})')
    for c in trace.calls:
        _insert(database, "HIP", c.name, c, trace, tid=c.thread, Index=c.correlation)
    for m in trace.markers:
        _insert(database, "rocTX", m.message, m, trace, tid=m.thread, Index=m.correlation)
    for d in trace.dispatches:
        more_of = {"dev-id": d.device, "queue-id": d.queue, "stream-id": d.stream}
        _insert(database, "OPS", d.name, d, trace, tid=101, Index=d.correlation, **more_of)
    for t in trace.transfers:
        more_of = {"dev-id": t.device, "queue-id": 0, "stream-id": t.stream}
        name = _short(t.direction)
        _insert(database, "COPY", name, t, trace, tid=101, Index=t.correlation, **more_of)
    database.commit()
    database.close()
    return path


def _insert(
    database: sqlite3.Connection, table: str, name: str, row: Any, trace: LogicalTrace, **more: Any
) -> None:
    values = {"BeginNs": row.start_ns, "EndNs": row.end_ns, "pid": trace.pid, "Name": name, **more}
    names = ", ".join(f'"{key}"' for key in values)
    marks = ", ".join("?" * len(values))
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))


def _short(direction: str) -> str:
    """CopyHostToDevice of HOST_TO_DEVICE."""
    return "Copy" + "".join(word.capitalize() for word in direction.split("_"))


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]
