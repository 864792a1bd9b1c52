"""Writes a LogicalTrace as the PyTorch profiler writes it on ROCm: the format of reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from logical_trace import ApiCall, Dispatch, LogicalTrace, Marker, Transfer

#: The profiler's name of a copy, by its direction.
COPIES = {
    "HOST_TO_DEVICE": "Memcpy HtoD (Host -> Device)",
    "DEVICE_TO_HOST": "Memcpy DtoH (Device -> Host)",
    "DEVICE_TO_DEVICE": "Memcpy DtoD (Device -> Device)",
}


def write_kineto(path: Path, trace: LogicalTrace) -> Path:
    """Writes the process; calls of RCCL are none that the profiler records."""
    gpus = [{"id": number, "name": name} for number, name in trace.gpus.items()]
    events = [
        *map(_kernel, trace.dispatches),
        *map(_copy, trace.transfers),
        *(_host("cuda_runtime", call.name, call, trace.pid) for call in trace.calls),
        *(_host("user_annotation", marker.message, marker, trace.pid) for marker in trace.markers),
    ]
    document = {
        "schemaVersion": 1,
        "deviceProperties": gpus,
        "rocprofiler-sdk_version": "1.1.0",
        "host": trace.host,
        "traceEvents": events,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _event(category: str, name: str, row: Any, pid: int, tid: int, **args: Any) -> dict[str, Any]:
    times = {"ts": row.start_ns / 1_000, "dur": (row.end_ns - row.start_ns) / 1_000}
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, **times, "args": args}


def _kernel(dispatch: Dispatch) -> dict[str, Any]:
    blocks = [-(-items // size) for items, size in zip(dispatch.grid, dispatch.workgroup)]
    return _event(
        "kernel", dispatch.name, dispatch, dispatch.device, dispatch.stream,
        device=dispatch.device, stream=dispatch.stream, correlation=dispatch.correlation,
        grid=blocks, hsa_queue=dispatch.queue,
    )  # fmt: skip


def _copy(transfer: Transfer) -> dict[str, Any]:
    return _event(
        "gpu_memcpy", COPIES[transfer.direction], transfer, transfer.device, transfer.stream,
        device=transfer.device, stream=transfer.stream, correlation=transfer.correlation,
        bytes=transfer.bytes,
    )  # fmt: skip


def _host(category: str, name: str, row: ApiCall | Marker, pid: int) -> dict[str, Any]:
    return _event(category, name, row, pid, row.thread, correlation=row.correlation)
