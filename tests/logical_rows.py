"""What must be read back of a LogicalTrace, whatever the format: rows to compare tables with."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from logical_trace import LogicalTrace

Rows = list[dict[str, Any]]

EVENT_COLUMNS = (
    *("kind", "name", "device", "stream", "queue", "start_ns", "dur_ns"),
    *("correlation", "bytes", "workgroups"),
)
HOST_COLUMNS = ("kind", "name", "thread", "start_ns", "dur_ns", "correlation")


def expected_events(trace: LogicalTrace, *unknown: str) -> Rows:
    """One row an activity in order of start; columns that the format cannot give are null."""
    kernels = [
        {
            "kind": "kernel", "name": d.name, "device": d.device, "stream": d.stream,
            "queue": d.queue, "start_ns": d.start_ns, "dur_ns": d.end_ns - d.start_ns,
            "correlation": d.correlation, "bytes": None,
            "workgroups": _workgroups(d.grid, d.workgroup),
        }
        for d in trace.dispatches
    ]  # fmt: skip
    copies = [
        {
            "kind": "memcpy", "name": f"MEMORY_COPY_{t.direction}", "device": t.device,
            "stream": t.stream, "queue": None, "start_ns": t.start_ns,
            "dur_ns": t.end_ns - t.start_ns, "correlation": t.correlation, "bytes": t.bytes,
            "workgroups": None,
        }
        for t in trace.transfers
    ]  # fmt: skip
    return _sorted(_without(kernels + copies, unknown))


def expected_host(trace: LogicalTrace, kind_of: dict[str, str], *unknown: str) -> Rows:
    """One row a call or marker in order of start; ``kind_of`` tells the kinds of calls by name."""
    calls = [
        {
            "kind": kind_of[c.name], "name": c.name, "thread": c.thread, "start_ns": c.start_ns,
            "dur_ns": c.end_ns - c.start_ns, "correlation": c.correlation,
        }
        for c in trace.calls
    ]  # fmt: skip
    markers = [
        {
            "kind": "annotation", "name": m.message, "thread": m.thread, "start_ns": m.start_ns,
            "dur_ns": m.end_ns - m.start_ns, "correlation": m.correlation,
        }
        for m in trace.markers
    ]  # fmt: skip
    return _sorted(_without(calls + markers, unknown))


def rows_of(table: pa.Table, columns: tuple[str, ...]) -> Rows:
    """The rows of a table that was read, in order of start."""
    plain = table.select(columns).cast(
        pa.schema(
            [
                field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
                for field in table.select(columns).schema
            ]
        )
    )
    return _sorted(plain.to_pylist())


def _without(rows: Rows, unknown: tuple[str, ...]) -> Rows:
    return [row | dict.fromkeys(unknown) for row in rows]


def _sorted(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: (row["start_ns"], row["name"]))


def _workgroups(grid: tuple[int, int, int], group: tuple[int, int, int]) -> int:
    counts = [-(-items // size) for items, size in zip(grid, group)]
    return counts[0] * counts[1] * counts[2]
