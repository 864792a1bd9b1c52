"""Hardware counters of kernels as JSON: rates in 1e9 a second, shares of one, bytes a dispatch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commscope.counters.kernels import measured_peaks
from commscope.counters.model import Fabric, KernelCounters
from commscope.engine.counters import LoadedCounters

SCHEMA = "commscope.counters/1"


def counters_dict(loaded: LoadedCounters, kernels: Sequence[KernelCounters]) -> dict[str, Any]:
    """The document: profiles with the peaks of their GPUs, kernels, and what is missing."""
    peaks = measured_peaks(loaded.tables["ROOFLINES"])
    workloads = loaded.tables["WORKLOADS"].to_pylist()
    return {
        "schema": SCHEMA,
        "workloads": [
            {**row, "peaks": peaks.get(number, {})} for number, row in enumerate(workloads)
        ],
        "kernels": [kernel_dict(kernel) for kernel in kernels],
        "notes": list(loaded.notes),
    }


def kernel_dict(kernel: KernelCounters) -> dict[str, Any]:
    """One kernel."""
    measured = kernel.measured
    return {
        "workload": kernel.workload,
        "kernel": kernel.kernel,
        "is_communication": kernel.is_communication,
        "dispatches": kernel.dispatches,
        "mean_ns": kernel.mean_ns,
        "median_ns": kernel.median_ns,
        "total_ns": kernel.total_ns,
        "time_share": kernel.time_share,
        "position": kernel.position,
        "binding_roof": kernel.binding_roof,
        "binding_share": kernel.binding_share,
        "roofs": kernel.roofs,
        "flops": measured.flops,
        "total_gflops": measured.total_gflops,
        "gflops": measured.gflops,
        "gbps": measured.gbps,
        "intensity": measured.intensity,
        "mfma_utilization": measured.mfma_utilization,
        "fabric": _fabric_dict(measured.fabric),
    }


def _fabric_dict(fabric: Fabric) -> dict[str, float | None]:
    return {
        "read_bytes": fabric.read_bytes,
        "write_bytes": fabric.write_bytes,
        "hbm_read_bytes": fabric.hbm_read_bytes,
        "hbm_write_bytes": fabric.hbm_write_bytes,
        "remote_bytes": fabric.remote_bytes,
        "remote_read_share": fabric.remote_read_share,
        "remote_write_share": fabric.remote_write_share,
    }
