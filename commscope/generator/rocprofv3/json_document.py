"""Writes a LogicalTrace as rocprofv3 writes its JSON document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from commscope.generator.rocprofv3.process import ApiCall, Dispatch, LogicalTrace, Marker, Transfer

Document = dict[str, Any]

CPUS = 2
_FIRST_AGENT = 37944
_DOMAINS = (
    *("NONE", "HIP_RUNTIME_API_EXT", "RCCL_API", "MARKER_CORE_API"),
    *("MEMORY_COPY", "KERNEL_DISPATCH"),
)
_LISTS = {"HIP_RUNTIME_API_EXT": "hip_api", "RCCL_API": "rccl_api", "MARKER_CORE_API": "marker_api"}
_COPIES = ("NONE", "HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE")


def write_json(path: Path, *traces: LogicalTrace, indent: int | None = None) -> Path:
    """Writes processes into one document; with ``indent`` as older versions do, on many lines."""
    document = {"rocprofiler-sdk-tool": [process_of(trace) for trace in traces]}
    separators = (",", ":") if indent is None else None
    path.write_text(json.dumps(document, indent=indent, separators=separators), encoding="utf-8")
    return path


def process_of(trace: LogicalTrace) -> Document:
    """The entry of one process."""
    names = sorted({dispatch.name for dispatch in trace.dispatches})
    operations = {
        "HIP_RUNTIME_API_EXT": _names(trace, "HIP"),
        "RCCL_API": _names(trace, "RCCL"),
        "MARKER_CORE_API": ["roctxMarkA", "roctxRangePushA"],
        "MEMORY_COPY": [f"MEMORY_COPY_{direction}" for direction in _COPIES],
        "KERNEL_DISPATCH": ["NONE", "ENQUEUE", "COMPLETE"],
    }
    kinds = [{"kind": kind, "operations": operations.get(kind, [])} for kind in _DOMAINS]
    return {
        "metadata": {
            "node": {"id": 0, "hostname": trace.host},
            "pid": trace.pid,
            "init_time": 1,
            "fini_time": 2**62,
            "command": ["python", "train.py", '{"metadata":{"agents":['],
            "config": {"summary": False, "summary_groups": []},
        },
        "agents": [_agent(node, trace) for node in range(CPUS + 8)],
        "counters": [],
        "strings": {
            "callback_records": kinds,
            "buffer_records": kinds,
            "marker_api": [{"key": m.correlation, "value": m.message} for m in trace.markers],
            "correlation_id": {"external": []},
            "counters": {"dimension_ids": []},
        },
        "code_objects": [],
        "kernel_symbols": [_symbol(number, name) for number, name in enumerate(names, 7)],
        "host_functions": [],
        "summary": [],
        "callback_records": {"counter_collection": []},
        "buffer_records": _records(trace, names, operations),
    }


def _names(trace: LogicalTrace, domain: str) -> list[str]:
    return sorted({call.name for call in trace.calls if call.domain.startswith(domain)})


def _agent(node: int, trace: LogicalTrace) -> Document:
    is_gpu = node >= CPUS
    name = "gfx942" if is_gpu else "AMD EPYC 9654 96-Core Processor"
    return {
        "size": 312,
        "id": {"handle": _FIRST_AGENT + node},
        "type": 2 if is_gpu else 1,
        "hive_id": 17332996360099338395 if is_gpu else 0,
        "name": name,
        "product_name": trace.gpus.get(node - CPUS, "AMD Instinct MI300X") if is_gpu else name,
        "node_id": node,
        "logical_node_id": node,
        "io_links": [{"size": 1, "type": 11}, {"size": 2, "type": 2}],
    }


def _symbol(number: int, name: str) -> Document:
    return {
        "size": 88,
        "kernel_id": number,
        "kernel_name": "_Z3foo.kd",
        "formatted_kernel_name": name,
    }


def _records(
    trace: LogicalTrace, names: Sequence[str], operations: dict[str, list[str]]
) -> Document:
    records: Document = {"kernel_dispatch": [_dispatch(d, names) for d in trace.dispatches]}
    records |= {what: [] for what in ("hip_api", "hsa_api", "marker_api", "rccl_api")}
    for call in trace.calls:
        domain = "RCCL_API" if call.domain.startswith("RCCL") else "HIP_RUNTIME_API_EXT"
        operation = operations[domain].index(call.name)
        records[_LISTS[domain]].append(_call(call, domain, operation))
    records["marker_api"] = [_call(marker, "MARKER_CORE_API", 1) for marker in trace.markers]
    records["memory_copy"] = [_copy(transfer) for transfer in trace.transfers]
    return records | {"memory_allocation": [], "scratch_memory": [], "pc_sample_host_trap": []}


def _common(row: Any, kind: str, operation: int) -> Document:
    return {
        "size": 184,
        "kind": _DOMAINS.index(kind),
        "operation": operation,
        "thread_id": getattr(row, "thread", 101),
        "correlation_id": {"internal": row.correlation, "external": 0},
        "start_timestamp": row.start_ns,
        "end_timestamp": row.end_ns,
    }


def _dispatch(dispatch: Dispatch, names: Sequence[str]) -> Document:
    return _common(dispatch, "KERNEL_DISPATCH", 2) | {
        "dispatch_info": {
            "size": 72,
            "agent_id": {"handle": _FIRST_AGENT + CPUS + dispatch.device},
            "queue_id": {"handle": dispatch.queue},
            "kernel_id": 7 + names.index(dispatch.name),
            "dispatch_id": dispatch.correlation,
            "private_segment_size": 0,
            "group_segment_size": 0,
            "workgroup_size": dict(zip("xyz", dispatch.workgroup)),
            "grid_size": dict(zip("xyz", dispatch.grid)),
        },
        "stream_id": {"handle": dispatch.stream},
    }


def _copy(transfer: Transfer) -> Document:
    ends = [_FIRST_AGENT + CPUS + transfer.device, _FIRST_AGENT]
    source, destination = ends[::-1] if transfer.direction == "HOST_TO_DEVICE" else ends
    return _common(transfer, "MEMORY_COPY", _COPIES.index(transfer.direction)) | {
        "dst_agent_id": {"handle": destination},
        "src_agent_id": {"handle": source},
        "bytes": transfer.bytes,
        "stream_id": {"handle": transfer.stream},
    }


def _call(call: ApiCall | Marker, domain: str, operation: int) -> Document:
    return _common(call, domain, operation)
