"""From tables of counters to kernels with their positions against the roofline."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from commscope.classify import ActivityClass, classes_of
from commscope.counters import metrics, raw
from commscope.counters.model import KernelCounters, Measured

Peaks = Mapping[str, float]


def kernel_counters(tables: Mapping[str, pa.Table]) -> tuple[KernelCounters, ...]:
    """The kernels of tables of ``commscope.counter_schema``: of each workload most time first."""
    workloads = tables["WORKLOADS"].to_pylist()
    peaks = measured_peaks(tables["ROOFLINES"])
    rows = tables["COUNTED_KERNELS"].to_pylist()
    classes = classes_of([row["kernel"] for row in rows])
    is_comm = [kind == ActivityClass.COMMUNICATION for kind in classes]
    totals: defaultdict[int, float] = defaultdict(float)
    for row, comm in zip(rows, is_comm):
        totals[row["workload"]] += 0.0 if comm else row["total_ns"] or 0.0
    values = _values(tables["COUNTERS"])
    found = [
        _kernel(row, values[number], workloads[row["workload"]], peaks[row["workload"]],
                None if comm else totals[row["workload"]])
        for number, (row, comm) in enumerate(zip(rows, is_comm))
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: (one.workload, -(one.total_ns or 0), one.kernel)))


def measured_peaks(rooflines: pa.Table) -> defaultdict[int, dict[str, float]]:
    """The peaks of each workload: the median over devices, as files number these differently."""
    found: defaultdict[tuple[int, str], list[float]] = defaultdict(list)
    for row in rooflines.to_pylist():
        found[row["workload"], row["roof"]].append(row["peak"])
    peaks: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for (workload, roof), values in found.items():
        peaks[workload][roof] = statistics.median(values)
    return peaks


def shares_of_roofs(measured: Measured, peaks: Peaks) -> dict[str, float]:
    """The share of each roof that a kernel reaches.

    A roof is a level of memory, the matrix cores (``mfma``) or the vector units (``valu``). Types
    of operations that share a unit add up: each takes its rate over its own peak. Without the peak
    of a type that is in use the roof of that unit is not known. Traffic that is more than HBM gives
    comes from the Infinity Cache in front of it, whose roof (``mall``) then counts instead.
    """
    found = {level: rate / peaks[level] for level, rate in measured.gbps.items() if level in peaks}
    if found.get("hbm", 0) > 1 and "mall" in peaks:
        found["mall"] = found.pop("hbm") * peaks["hbm"] / peaks["mall"]
    for unit in ("mfma", "valu"):
        used = {kind: rate for kind, rate in measured.gflops.items() if kind.startswith(unit)}
        is_known = any(kind.startswith(unit) for kind in peaks)
        if used and is_known and all(kind in peaks for kind, rate in used.items() if rate):
            found[unit] = sum((rate / peaks[kind] for kind, rate in used.items() if rate), 0.0)
    return found


def _values(counters: pa.Table) -> defaultdict[int, dict[str, float]]:
    found: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for kernel, name, value in zip(
        *(counters.column(column).to_pylist() for column in ("kernel", "counter", "value"))
    ):
        found[kernel][name] = value
    return found


def _kernel(
    row: Mapping[str, Any],
    values: Mapping[str, float],
    workload: Mapping[str, Any],
    peaks: Peaks,
    total_ns: float | None,
) -> KernelCounters:
    """One kernel; ``total_ns`` is that of all of its workload, null for communication."""
    mean_ns = row["total_ns"] / row["timed"] if row["timed"] else None
    if metrics.has_metrics(values):
        measured = metrics.measured_of(values)
    else:
        measured = raw.measured_of(values, mean_ns, workload)
    return KernelCounters(
        workload=row["workload"],
        kernel=row["kernel"],
        is_communication=total_ns is None,
        dispatches=row["dispatches"],
        mean_ns=mean_ns,
        median_ns=row["median_ns"],
        total_ns=row["total_ns"],
        time_share=row["total_ns"] / total_ns if total_ns and row["total_ns"] else None,
        measured=measured,
        roofs=shares_of_roofs(measured, peaks),
    )
