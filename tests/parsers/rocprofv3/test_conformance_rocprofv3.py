"""The logical trace, written as rocprofv3's csv and JSON, reads back to the same tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from grouped_files import read_folder
from logical_rows import (
    EVENT_COLUMNS,
    HOST_COLUMNS,
    Rows,
    expected_events,
    expected_host,
    rows_of,
)
from logical_trace import LogicalTrace, Transfer, three_steps
from one_file import read_file, read_one
from rccl_trace import OPS, with_rccl_calls

import commscope
from commscope.findings.model import Result
from commscope.generator.rocprofv3.csv_files import GENERATIONS, write_csv
from commscope.generator.rocprofv3.json_document import write_json
from commscope.parsers.base import Reading

_KINDS = {
    "hipExtModuleLaunchKernel": "launch",
    "hipExtLaunchKernel": "launch",
    "hipLaunchKernel": "launch",
    "hipMemcpyAsync": "launch",
    "hipDeviceSynchronize": "sync",
    **dict.fromkeys(("ncclAllReduce", "ncclReduceScatter", "ncclSend", "ncclRecv"), "collective"),
}
TRACE = three_steps()
#: Of each step of the logical trace but the last, in ns.
_STEP = {
    "window_ns": 1_000_000,
    "compute_ns": 380_000,
    "communication_ns": 300_000,
    "exposed_comm_ns": 200_000,
    "exposed_copy_ns": 40_000,
    "idle_ns": 380_000,
}
_NO_SIZES = "csv files do not tell the sizes of copies; JSON files and databases do"
_NO_STREAMS = "files from before ROCm 7 do not tell streams: the hardware queues are used"
Write = Callable[[Path, LogicalTrace], Path]


def csv_of(generation: str) -> Write:
    return lambda folder, trace: write_csv(folder / trace.host, trace, generation)


def json_of(indent: int | None) -> Write:
    def write(folder: Path, trace: LogicalTrace) -> Path:
        folder.mkdir(exist_ok=True)
        return write_json(folder / f"{trace.pid}_results.json", trace, indent=indent)

    return write


FORMATS = [
    *(pytest.param(csv_of(generation), id=f"csv {generation}") for generation in GENERATIONS),
    *(pytest.param(json_of(indent), id=f"json {indent}") for indent in (None, 4)),
]


def read(path: Path) -> Reading:
    [reading] = read_folder(path) if path.is_dir() else read_file(path)
    return reading


def expected(trace: LogicalTrace, generation: str) -> Rows:
    """Csv has no sizes of copies, before ROCm 7 no streams, and of copies not even a queue."""
    if generation in ("7", "convert"):
        return expected_events(trace, "bytes")
    rows = expected_events(trace, "bytes")
    return [row | {"stream": row["queue"]} for row in rows]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_row_of_csv_is_read_back(tmp_path: Path, generation: str) -> None:
    reading = read(write_csv(tmp_path / "nodeA", TRACE, generation))
    assert rows_of(reading.events, EVENT_COLUMNS) == expected(TRACE, generation)
    assert rows_of(reading.host, HOST_COLUMNS) == expected_host(TRACE, _KINDS)
    assert not reading.health.is_damaged
    assert reading.health.notes == (_NO_SIZES, _NO_STREAMS)[: 1 + generation.startswith("6")]


@pytest.mark.parametrize("indent", [None, 4])
def test_every_row_of_json_is_read_back(tmp_path: Path, indent: int | None) -> None:
    reading = read_one(write_json(tmp_path / "100_results.json", TRACE, indent=indent))
    assert rows_of(reading.events, EVENT_COLUMNS) == expected_events(TRACE)
    assert rows_of(reading.host, HOST_COLUMNS) == expected_host(TRACE, _KINDS)
    assert reading.health.events_read == 12 + 13 + 3
    assert not reading.health.is_damaged
    assert reading.health.notes == ()


@pytest.mark.parametrize("write", FORMATS)
def test_facts_are_those_of_the_process(tmp_path: Path, write: Write) -> None:
    facts = read(write(tmp_path, TRACE)).facts
    assert (facts.pid, facts.host, facts.is_rocm) == (100, "nodeA", True)
    assert facts.gpus == {0: "AMD Instinct MI300X"}
    assert facts.gpu_names == ("AMD Instinct MI300X",) * 8


@pytest.mark.parametrize("write", FORMATS)
def test_calls_of_rccl_tell_the_operation_of_its_kernels(tmp_path: Path, write: Write) -> None:
    trace = with_rccl_calls()
    reading = read(write(tmp_path, trace))
    assert reading.collectives.column("op").to_pylist() == list(OPS)
    assert reading.collectives.column("source").to_pylist() == ["record"] * 3
    names = reading.events.column("name").take(reading.collectives.column("event"))
    assert all(name.startswith("ncclDevKernel") for name in names.to_pylist())
    named = [row for row in rows_of(reading.host, HOST_COLUMNS) if row["kind"] == "collective"]
    assert {row["name"] for row in named} == {name for name in _KINDS if name.startswith("nccl")}


@pytest.mark.parametrize("write", FORMATS)
def test_without_launches_calls_of_rccl_go_by_their_order(tmp_path: Path, write: Write) -> None:
    trace = with_rccl_calls()
    calls = tuple(call for call in trace.calls if call.domain == "RCCL_API")
    reading = read(write(tmp_path, replace(trace, calls=calls)))
    assert reading.collectives.column("op").to_pylist() == list(OPS)
    fewer = tuple(call for call in calls if call.name != "ncclAllReduce")
    reading = read(write(tmp_path / "fewer", replace(trace, calls=fewer)))
    assert reading.collectives.num_rows == 0


@pytest.mark.parametrize("write", FORMATS)
def test_the_answers_are_the_same_in_every_format(tmp_path: Path, write: Write) -> None:
    trace = commscope.load([write(tmp_path, TRACE)])
    report = commscope.analyze(trace)
    steps = report.steps.arrow.to_pylist()
    assert [step["source"] for step in steps] == ["marker"] * 3
    for step in steps[:2]:
        assert {name: step[name] for name in _STEP} == _STEP
    failed = {check.rule for check in report.trust.checks if check.result == Result.FAIL}
    # The operation is never told without RCCL's calls; before ROCm 7, nor is the stream of copies.
    assert failed == {"Q5", "Q6"} if trace.events.column("stream").null_count else {"Q5"}


@pytest.mark.parametrize("write", FORMATS)
def test_devices_count_as_hip_does(tmp_path: Path, write: Write) -> None:
    trace = replace(
        TRACE,
        dispatches=tuple(replace(d, device=5) for d in TRACE.dispatches),
        transfers=tuple(
            Transfer(direction, t.start_ns, t.end_ns, t.correlation, device=5)
            for t, direction in zip(
                TRACE.transfers, ("HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE")
            )
        ),
    )
    events = read(write(tmp_path, trace)).events
    assert set(events.column("device").to_pylist()) == {5}


def test_processes_of_one_document_are_readings_of_their_own(tmp_path: Path) -> None:
    other = replace(TRACE, pid=200, host="nodeB")
    readings = read_file(write_json(tmp_path / "x.json", TRACE, other))
    assert [(r.facts.pid, r.facts.host) for r in readings] == [(100, "nodeA"), (200, "nodeB")]
    for reading in readings:
        assert rows_of(reading.events, EVENT_COLUMNS) == expected_events(TRACE)
        assert not reading.health.is_damaged
