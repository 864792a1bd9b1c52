"""Counters of dispatches as rocprofv3 writes them: csv of each version, JSON, rocpd."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from counter_samples import COPY, COUNTERS, GEMM

#: Beyond 2**53, where floats lose units.
BEGIN = 9_007_199_254_740_993


@dataclass(frozen=True)
class Run:
    """A dispatch with the counters that were read in it."""

    number: int
    name: str = GEMM
    ns: int = 100
    counters: Mapping[str, float] = field(default_factory=lambda: COUNTERS)


#: The second product takes twice as long, and counts twice as many cycles.
SAMPLE = (
    Run(1),
    Run(2, COPY, 50, {"FETCH_SIZE": 10.625, "WRITE_SIZE": 4.0}),
    Run(3, ns=200, counters={**COUNTERS, "GRBM_GUI_ACTIVE": 4800}),
)
GPU = {
    "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X", "cu_count": 4,
    "simd_per_cu": 4, "num_xcc": 8, "wave_front_size": 64, "max_engine_clk_fcompute": 2000,
}  # fmt: skip
_ALL = (
    *("Guid", "Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id"),
    *("Grid_Size", "Kernel_Id", "Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size"),
    *("VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "Counter_Name", "Counter_Value"),
    *("Start_Timestamp", "End_Timestamp"),
)
_TIMES = {"Start_Timestamp", "End_Timestamp"}
#: What the tables of each version lack.
GENERATIONS: Mapping[str, set[str]] = {
    "6.2": {"Guid", "Kernel_Id", "Accum_VGPR_Count", *_TIMES},
    "6.2.4": {"Guid", "Accum_VGPR_Count", *_TIMES},
    "6.4": {"Guid"},
    "7": {"Guid"},
    "rocpd": set(),
}


def write_table(
    path: Path, runs: Sequence[Run] = SAMPLE, generation: str = "7", pid: int = 700
) -> Path:
    """A counter_collection.csv; its rows in no order."""
    columns = [name for name in _ALL if name not in GENERATIONS[generation]]
    rows = []
    for run in runs:
        agent = "Agent 2" if generation in ("7", "rocpd") else 2
        begin = BEGIN + 1000 * run.number
        for counter, value in run.counters.items():
            row = dict.fromkeys(columns, 0) | {
                "Guid": "0-1", "Dispatch_Id": run.number, "Agent_Id": agent, "Process_Id": pid,
                "Kernel_Name": run.name, "Counter_Name": counter, "Counter_Value": f"{value:.6f}",
                "Start_Timestamp": begin, "End_Timestamp": begin + run.ns,
            }  # fmt: skip
            rows.append({name: row[name] for name in columns})
    if generation == "rocpd":
        columns = [name.replace("LDS", "Lds").replace("VGPR", "Vgpr") for name in columns]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        quoting = csv.QUOTE_ALL if generation == "7" else csv.QUOTE_NONNUMERIC
        writer = csv.writer(file, lineterminator="\n", quoting=quoting)
        writer.writerows([columns, *(list(row.values()) for row in reversed(rows))])
    return path


def write_agents(path: Path) -> Path:
    """An agent_info.csv with a CPU and a GPU."""
    values = {key.title(): value for key, value in GPU.items() if key != "type"}
    first = {"Node_Id": 2, "Logical_Node_Id": 2, "Agent_Type": "GPU"}
    cpu = {**dict.fromkeys(values, 0), "Name": "EPYC", "Node_Id": 0, "Agent_Type": "CPU"}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*first, *values], restval=0)
        writer.writeheader()
        writer.writerows([cpu, {**first, **values}])
    return path


def write_document(
    path: Path, runs: Sequence[Run] = SAMPLE, *, instances: int = 1, older: bool = False
) -> Path:
    """A results.json; ``instances`` of a block tell parts of a counter each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    process = process_of(runs, instances, older=older)
    path.write_text(json.dumps({"rocprofiler-sdk-tool": [process]}), encoding="utf-8")
    return path


def process_of(runs: Sequence[Run], instances: int = 1, *, older: bool = False) -> dict[str, Any]:
    """The entry of a process; older versions tell no times, and begin with the dispatch."""
    names = sorted({run.name for run in runs})
    counters = sorted({name for run in runs for name in run.counters})
    records = []
    for run in runs:
        values = [
            {"counter_id": {"handle": 1000 + counters.index(name)}, "value": value / instances}
            for name, value in run.counters.items() for _ in range(instances)
        ]  # fmt: skip
        times = {"start_timestamp": BEGIN, "end_timestamp": BEGIN + run.ns}
        info = {
            "size": 72, "agent_id": {"handle": 42}, "queue_id": {"handle": 1},
            "kernel_id": 7 + names.index(run.name), "dispatch_id": run.number,
        }  # fmt: skip
        data = {"size": 96, "correlation_id": {"internal": 1}, "dispatch_info": info}
        record = {"dispatch_data": data | ({} if older else times), "records": values}
        records.append({**record, "thread_id": 1} if older else {"thread_id": 1, **record})
    return {
        "metadata": {"node": {"hostname": "secret-host"}, "pid": 700, "config": {"counters": []}},
        "agents": [{"id": {"handle": 41}, "type": 1, "hive_id": 2**64 - 1},
                   {"id": {"handle": 42}, **GPU}],
        "counters": [{"agent_id": {"handle": 42}, "id": {"handle": 1000 + number}, "name": name}
                     for number, name in enumerate(counters)],
        "strings": {"callback_records": [], "buffer_records": [], "counters": {"x": []}},
        "code_objects": [],
        "kernel_symbols": [{"kernel_id": 7 + number, "kernel_name": "_Z.kd",
                            "formatted_kernel_name": name} for number, name in enumerate(names)],
        "host_functions": [],
        "callback_records": {"counter_collection": records, "spm_counter_collection": []},
        "buffer_records": {"kernel_dispatch": []},
    }  # fmt: skip


_SCHEMA = """
CREATE TABLE rocpd_metadata_r (id INTEGER, tag TEXT, value TEXT);
CREATE TABLE rocpd_info_node_r (id INTEGER, hostname TEXT);
CREATE TABLE rocpd_info_agent_r (id INTEGER, nid INTEGER, type TEXT, name TEXT, product_name TEXT,
    extdata TEXT);
CREATE TABLE rocpd_info_pmc_r (id INTEGER, name TEXT);
CREATE TABLE rocpd_info_kernel_symbol_r (id INTEGER, kernel_name TEXT, display_name TEXT);
CREATE TABLE rocpd_kernel_dispatch_r (id INTEGER, event_id INTEGER, kernel_id INTEGER,
    agent_id INTEGER, dispatch_id INTEGER, start INTEGER, "end" INTEGER);
CREATE TABLE rocpd_pmc_event_r (id INTEGER, event_id INTEGER, pmc_id INTEGER, value REAL,
    sample_id INTEGER);
"""


def write_database(path: Path, runs: Sequence[Run] = SAMPLE, instances: int = 1) -> Path:
    """A rocpd database, in which other things were sampled too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = sorted({run.name for run in runs})
    counters = sorted({name for run in runs for name in run.counters})
    with sqlite3.connect(path) as file:
        file.executescript(_SCHEMA)
        file.execute("INSERT INTO rocpd_info_node_r VALUES (1, 'secret-host')")
        gpu = (2, 1, "GPU", GPU["name"], GPU["product_name"], json.dumps(GPU))
        agents = [(1, 1, "CPU", "EPYC", "EPYC", "{}"), gpu]
        file.executemany("INSERT INTO rocpd_info_agent_r VALUES (?, ?, ?, ?, ?, ?)", agents)
        file.executemany("INSERT INTO rocpd_info_pmc_r VALUES (?, ?)", enumerate(counters))
        symbols = [(number, "_Z.kd", name) for number, name in enumerate(names)]
        file.executemany("INSERT INTO rocpd_info_kernel_symbol_r VALUES (?, ?, ?)", symbols)
        for run in runs:
            event = 100 + run.number
            dispatch = (run.number, event, names.index(run.name), 2, run.number, BEGIN,
                        BEGIN + run.ns)  # fmt: skip
            marks = ", ".join("?" * len(dispatch))
            file.execute(f"INSERT INTO rocpd_kernel_dispatch_r VALUES ({marks})", dispatch)
            values = [
                (None, event, counters.index(name), value / instances, None)
                for name, value in run.counters.items() for _ in range(instances)
            ]  # fmt: skip
            file.executemany("INSERT INTO rocpd_pmc_event_r VALUES (?, ?, ?, ?, ?)", values)
        strays = [(None, 5, 0, 1e9, None), (None, 101, 0, 1e9, 3), (None, 101, 0, None, None)]
        file.executemany("INSERT INTO rocpd_pmc_event_r VALUES (?, ?, ?, ?, ?)", strays)
    file.close()
    return path
