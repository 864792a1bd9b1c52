"""Writes a LogicalTrace as rocprofv3 writes csv files, in every generation of their columns."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from commscope.generator.rocprofv3.process import Dispatch, LogicalTrace, Transfer

#: ROCm 6.2; 6.2.4 to 6.4; 7; and what ``rocpd convert`` makes of a database.
GENERATIONS = ("6.2", "6.4", "7", "convert")
#: As in a node with two CPUs: agents 0 and 1 are no GPUs.
CPUS = 2

Row = Mapping[str, Any]


def write_csv(folder: Path, trace: LogicalTrace, generation: str = "7", prefix: str = "") -> Path:
    """Writes the files of a process, ``<pid>_kernel_trace.csv`` and so on; gives the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    start = folder / (prefix or str(trace.pid))
    _write(f"{start}_agent_info.csv", [_agent(node, trace) for node in range(CPUS + 8)])
    _write(f"{start}_kernel_trace.csv", [_kernel(d, generation) for d in trace.dispatches])
    _write(f"{start}_memory_copy_trace.csv", [_copy(t, generation) for t in trace.transfers])
    calls = {"hip_api": [], "rccl_api": []}  # type: dict[str, list[Row]]
    for call in trace.calls:
        what = "rccl_api" if call.domain.startswith("RCCL") else "hip_api"
        calls[what].append(_call(call, call.domain, call.name, trace.pid, generation))
    calls["marker_api"] = [
        _call(marker, "MARKER_CORE_API", marker.message, trace.pid, generation)
        for marker in trace.markers
    ]
    for what, rows in calls.items():
        _write(f"{start}_{what}_trace.csv", rows)
    return folder


def _write(path: str, rows: Sequence[Row]) -> None:
    """A file only where there are rows; text is quoted, numbers are not."""
    if not rows:
        return
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        table.writerow(list(rows[0]))
        table.writerows(list(row.values()) for row in rows)


def _agent(node: int, trace: LogicalTrace) -> Row:
    is_gpu = node >= CPUS
    product = trace.gpus.get(node - CPUS, "AMD Instinct MI300X")
    return {
        "Node_Id": node,
        "Logical_Node_Id": node,
        "Agent_Type": "GPU" if is_gpu else "CPU",
        "Cu_Count": 304 if is_gpu else 96,
        "Gfx_Target_Version": 90402 if is_gpu else 0,
        "Hive_Id": 17332996360099338395 if is_gpu else 0,
        "Name": "gfx942" if is_gpu else "AMD EPYC 9654 96-Core Processor",
        "Product_Name": product if is_gpu else "AMD EPYC 9654 96-Core Processor",
    }


def _name_of(device: int, generation: str) -> int | str:
    return CPUS + device if generation.startswith("6") else f"Agent {CPUS + device}"


def _guid(generation: str) -> Row:
    return {"Guid": "0000ddb5-8903-7903-b269-cd8d3745bb8a"} if generation == "convert" else {}


def _kernel(dispatch: Dispatch, generation: str) -> Row:
    is_old = generation.startswith("6")
    thread = {"Thread_Id": 101, "Dispatch_Id": dispatch.correlation}
    sizes = {"Private_Segment_Size": 0, "Group_Segment_Size": 0} if is_old else {
        "LDS_Block_Size" if generation == "7" else "Lds_Block_Size": 0, "Scratch_Size": 0,
    }  # fmt: skip
    return {
        **_guid(generation),
        "Kind": "KERNEL_DISPATCH",
        "Agent_Id": _name_of(dispatch.device, generation),
        "Queue_Id": dispatch.queue,
        **({} if is_old else {"Stream_Id": dispatch.stream}),
        **({} if generation == "6.2" else thread),
        "Kernel_Id": 10,
        "Kernel_Name": dispatch.name,
        "Correlation_Id": dispatch.correlation,
        "Start_Timestamp": dispatch.start_ns,
        "End_Timestamp": dispatch.end_ns,
        **sizes,
        **dict(zip((f"Workgroup_Size_{axis}" for axis in "XYZ"), dispatch.workgroup)),
        **dict(zip((f"Grid_Size_{axis}" for axis in "XYZ"), dispatch.grid)),
    }


def _copy(transfer: Transfer, generation: str) -> Row:
    ends = [_name_of(transfer.device, generation), _name_of(-CPUS, generation)]
    into = transfer.direction == "HOST_TO_DEVICE"
    source, destination = ends[::-1] if into else ends
    prefix = "" if generation == "6.2" else "MEMORY_COPY_"
    return {
        **_guid(generation),
        "Kind": "MEMORY_COPY",
        "Direction": f"{prefix}{transfer.direction}",
        **({} if generation.startswith("6") else {"Stream_Id": transfer.stream}),
        "Source_Agent_Id": source,
        "Destination_Agent_Id": destination,
        "Correlation_Id": transfer.correlation,
        "Start_Timestamp": transfer.start_ns,
        "End_Timestamp": transfer.end_ns,
    }


def _call(call: Any, domain: str, name: str, pid: int, generation: str) -> Row:
    is_new = generation in ("7", "convert") and domain.startswith("HIP")
    return {
        **_guid(generation),
        "Domain": f"{domain}_EXT" if is_new else domain,
        "Function": name,
        "Process_Id": pid,
        "Thread_Id": call.thread,
        "Correlation_Id": call.correlation,
        "Start_Timestamp": call.start_ns,
        "End_Timestamp": call.end_ns,
    }
