"""Writes a LogicalTrace as rocprofv2's file plugin does: a csv file for each domain."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from logical_trace import LogicalTrace

_KERNELS = (
    *("Dispatch_ID", "GPU_ID", "Queue_ID", "PID", "TID", "Grid_Size", "Workgroup_Size"),
    *("LDS_Per_Workgroup", "Scratch_Per_Workitem", "Arch_VGPR", "Accum_VGPR", "SGPR"),
    *("Wave_Size", "Kernel_Name", "Start_Timestamp", "End_Timestamp", "Correlation_ID"),
)
_OLD_NAMES = {"Grid_Size": "GRD", "Workgroup_Size": "WGR", "LDS_Per_Workgroup": "LDS"}


def write_rocprofv2(folder: Path, trace: LogicalTrace, *, old: bool = False) -> Path:
    """The files of one process; ``old`` names columns as ROCm 5.7 did."""
    folder.mkdir(exist_ok=True)
    names = [_OLD_NAMES.get(name, name) if old else name for name in _KERNELS]
    kernels = [
        (n, d.device, d.queue, trace.pid, 101, _product(d.grid), _product(d.workgroup), 0, 0, 16,
         0, 32, 64, d.name + ".kd", d.start_ns, d.end_ns, d.correlation)
        for n, d in enumerate(trace.dispatches)
    ]  # fmt: skip
    _write(folder / f"results_{trace.pid}.csv", names, kernels)
    calls = [("HIP_API_DOMAIN", c.name, c.start_ns, c.end_ns, c.correlation) for c in trace.calls]
    columns = ["Domain", "Function", "Start_Timestamp", "End_Timestamp", "Correlation_ID"]
    _write(folder / f"hip_api_trace_{trace.pid}.csv", columns, calls)
    copies = [
        ("HSA_OPS_DOMAIN", f"MEMORY_COPY_{t.direction}", t.start_ns, t.end_ns, t.correlation)
        for t in trace.transfers
    ]
    columns = ["Domain", "Operation", "Start_Timestamp", "Stop_Timestamp", "Correlation_ID"]
    _write(folder / f"async_copy_trace_{trace.pid}.csv", columns, copies)
    marks = [
        ("ROCTX_DOMAIN", n, m.message, at)
        for n, m in enumerate(trace.markers)
        for at in (m.start_ns, m.end_ns)
    ]
    columns = ["Domain", "ROCTX_ID", "Message", "Timestamp"]
    _write(folder / f"roctx_trace_{trace.pid}.csv", columns, sorted(marks, key=lambda m: m[3]))
    return folder


def _write(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        file.write("\n")
        writer.writerows(rows)


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]
