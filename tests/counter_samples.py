"""Small profiles of hardware counters, written as omniperf and rocprof-compute write them."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

GEMM, COPY = "void gemm<float, 16>(float const*, int) [clone .kd]", "vecCopy(double*, int) (.kd)"
#: All that formulas need, of one dispatch on MI300: 512,000 FLOP as MFMA BF16, 64,000 read, 32,000
#: written.
COUNTERS: Mapping[str, float] = {
    **{f"SQ_INSTS_VALU_{what}_{kind}": 0 for what in ("ADD", "MUL", "TRANS", "FMA")
       for kind in ("F16", "F32", "F64")},
    **{f"SQ_INSTS_VALU_MFMA_MOPS_{kind}": 0 for kind in ("F16", "F32", "F64", "I8")},
    "SQ_INSTS_VALU_MFMA_MOPS_BF16": 1000,
    "SQ_VALU_MFMA_BUSY_CYCLES": 640,
    "GRBM_GUI_ACTIVE": 1600,
    "TCC_BUBBLE_sum": 250,
    "TCC_EA0_RDREQ_sum": 750,
    "TCC_EA0_RDREQ_32B_sum": 0,
    "TCC_EA0_RDREQ_DRAM_sum": 600,
    "TCC_EA0_WRREQ_sum": 500,
    "TCC_EA0_WRREQ_64B_sum": 500,
    "TCC_EA0_WRREQ_DRAM_sum": 500,
    "TCP_TCC_READ_REQ_sum": 1000,
    "TCP_TCC_WRITE_REQ_sum": 500,
    "TCP_TCC_ATOMIC_WITH_RET_REQ_sum": 0,
    "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum": 0,
    "TCP_TOTAL_CACHE_ACCESSES_sum": 2000,
    "SQ_LDS_IDX_ACTIVE": 30,
    "SQ_LDS_BANK_CONFLICT": 10,
}  # fmt: skip
SYSTEM = {
    "workload_name": "sample", "command": "./secret --token=abc", "ip_blocks": "SQ|TCC|roofline",
    "version": "3", "hostname": "secret-host", "rocm_version": "7.1.1", "gpu_model": "MI300X",
    "gpu_arch": "gfx942", "cu_per_gpu": "4", "simd_per_cu": "4", "wave_size": "64",
    "max_sclk": "2000", "lds_banks_per_cu": "32", "num_xcd": "8",
}  # fmt: skip
PEAKS = {
    "device": "0", "HBMBw": "1000", "HBMBwLow": "990", "MALLBw": "2000", "L2Bw": "4000",
    "L1Bw": "8000", "LDSBw": "9000", "FP32Flops": "50000", "FP64Flops": "50000",
    "MFMAF16Flops": "100000", "MFMABF16Flops": "40000", "MFMAF32Flops": "20000",
    "MFMAF4Flops": "0", "MFMAI8Ops": "200000",
}  # fmt: skip

Dispatch = Mapping[str, Any]


def dispatch(name: str = GEMM, ns: float = 100, **counters: float) -> dict[str, Any]:
    """One dispatch of a kernel."""
    return {"Kernel_Name": name, "ns": ns, **COUNTERS, **counters}


def table(rows: Sequence[Dispatch], first: Sequence[str] = ("Dispatch_ID", "GPU_ID")) -> str:
    """pmc_perf.csv: times stand last."""
    counters = [name for name in rows[0] if name not in ("Kernel_Name", "ns")]
    lines = [[*first, "Kernel_Name", *counters, "Start_Timestamp", "End_Timestamp"]]
    for number, row in enumerate(rows):
        begin = 1_700_000_000_000_000_001 + 1000 * number
        values = [row[name] for name in counters]
        lines.append(
            [*[number] * len(first), row["Kernel_Name"], *values, begin, begin + row["ns"]]
        )
    return written(lines)


def written(lines: Sequence[Sequence[Any]]) -> str:
    """Lines as CSV."""
    text: list[str] = []
    sink = type("Sink", (), {"write": staticmethod(text.append)})
    csv.writer(sink, lineterminator="\n").writerows(lines)
    return "".join(text)


def folder(path: Path, rows: Sequence[Dispatch] = (dispatch(),), **files: str) -> Path:
    """A folder of a profile; further files by their names with dots as double underscores."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "pmc_perf.csv").write_text(table(rows), encoding="utf-8", errors="surrogatepass")
    for name, facts in (("sysinfo.csv", SYSTEM), ("roofline.csv", PEAKS)):
        (path / name).write_text(written([list(facts), list(facts.values())]))
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text)
    return path


_SCHEMA = """
CREATE TABLE compute_metadata (id, compute_version, git_version, schema_version);
CREATE TABLE compute_workload (workload_id INTEGER, name, sub_name, sys_info_extdata,
    roofline_bench_extdata, profiling_config_extdata);
CREATE TABLE compute_kernel (kernel_uuid INTEGER, workload_id INTEGER, kernel_name);
CREATE TABLE compute_dispatch (dispatch_uuid INTEGER, kernel_uuid INTEGER, dispatch_id INTEGER,
    gpu_id INTEGER, start_timestamp INTEGER, end_timestamp INTEGER);
CREATE TABLE compute_metric_definition (metric_uuid INTEGER, workload_id INTEGER, name, metric_id,
    description, table_name, sub_table_name, unit);
CREATE TABLE compute_kernel_metric_value (value_uuid INTEGER, metric_uuid INTEGER,
    kernel_uuid INTEGER, value_name, value);
"""
METRICS = {
    "Roofline Performance Rates: MFMA FLOPs (BF16)": 20000.0,
    "Roofline Performance Rates: HBM Bandwidth": 700.0,
    "L2 - Fabric interface detailed metrics: Read (32B)": 10.0,
    "L2 - Fabric interface detailed metrics: Read (64B)": 20.0,
    "L2 - Fabric interface detailed metrics: Read (128B)": 30.0,
    "L2 - Fabric interface detailed metrics: HBM Read": 45.0,
    "L2 - Fabric interface detailed metrics: Remote Read": 15.0,
    "Pipeline Statistics: MFMA Utilization": 25.0,
}


def database(
    path: Path, *, name: str = GEMM, schema: str = "1.3.0", metrics: Mapping[str, float] = METRICS
) -> Path:
    """A database with one kernel that ran twice, for 100 and 300 ns."""
    with sqlite3.connect(path) as file:
        file.executescript(_SCHEMA)
        file.execute("INSERT INTO compute_metadata VALUES (1, '3.5.0', 'abc', ?)", [schema])
        peaks = {key: float(value) for key, value in PEAKS.items() if key != "device"}
        facts = [json.dumps(SYSTEM), json.dumps(peaks), json.dumps({"roof_only": False})]
        file.execute("INSERT INTO compute_workload VALUES (1, 'sample', 'MI300', ?, ?, ?)", facts)
        file.execute("INSERT INTO compute_kernel VALUES (1, 1, ?)", [name])
        for number, length in enumerate((100, 300)):
            times = (number, 1, number, 0, 5000, 5000 + length)
            file.execute("INSERT INTO compute_dispatch VALUES (?, ?, ?, ?, ?, ?)", times)
        for number, (metric, value) in enumerate(metrics.items()):
            part, _, called = metric.partition(": ")
            definition = (number, 1, called, "", "", part, part, "")
            file.execute(
                "INSERT INTO compute_metric_definition VALUES (?, ?, ?, ?, ?, ?, ?, ?)", definition
            )
            file.execute(
                "INSERT INTO compute_kernel_metric_value VALUES (?, ?, 1, 'Avg', ?)",
                (number, number, value),
            )
    file.close()
    return path
