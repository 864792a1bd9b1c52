"""The logical trace, written as Perfetto traces, reads back to the same tables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from format_writers.pftrace import write_rocprof_sys, write_rocprofv3
from logical_rows import EVENT_COLUMNS, HOST_COLUMNS, expected_events, expected_host, rows_of
from logical_trace import ApiCall, three_steps
from one_file import read_one, source_of

import commscope
from commscope.parsers.pftrace.reader import read_pftrace

_KINDS = {
    "hipExtModuleLaunchKernel": "launch",
    "hipExtLaunchKernel": "launch",
    "hipLaunchKernel": "launch",
    "hipMemcpyAsync": "launch",
    "hipDeviceSynchronize": "sync",
}
TRACE = three_steps()


def _one_lower(rows):
    """rocprofv3 counts the queues of its pictures from 0."""
    return [row | {"queue": row["queue"] - 1 if row["queue"] else None} for row in rows]


def test_every_row_of_rocprofv3_is_read_back(tmp_path):
    reading = read_one(write_rocprofv3(tmp_path / "100_results.pftrace", TRACE))
    assert rows_of(reading.events, EVENT_COLUMNS) == _one_lower(expected_events(TRACE))
    assert rows_of(reading.host, HOST_COLUMNS) == expected_host(TRACE, _KINDS)
    assert reading.health.events_read == 12 + 13 + 3
    assert not reading.health.is_damaged
    assert (reading.facts.pid, reading.facts.is_rocm) == (100, True)


@pytest.mark.parametrize("block_bytes", [64, 1000, 4099])
def test_blocks_of_any_size_give_the_same_tables(tmp_path, block_bytes):
    path = write_rocprofv3(tmp_path / "a.pftrace", TRACE)
    reading = read_pftrace(source_of(path), lambda done, total: None, block_bytes)
    assert rows_of(reading.events, EVENT_COLUMNS) == _one_lower(expected_events(TRACE))
    assert rows_of(reading.host, HOST_COLUMNS) == expected_host(TRACE, _KINDS)


@pytest.mark.parametrize("unit_ns", [1, 1000])
def test_every_row_of_rocprof_sys_is_read_back(tmp_path, unit_ns):
    path = write_rocprof_sys(tmp_path / "perfetto-trace-0.proto", TRACE, unit_ns=unit_ns)
    reading = read_one(path)
    expected = expected_events(TRACE)
    for row in expected:
        row["bytes"] = None

    assert rows_of(reading.events, EVENT_COLUMNS) == expected
    assert rows_of(reading.host, HOST_COLUMNS) == expected_host(TRACE, _KINDS)


def test_times_of_annotations_are_true_where_slices_were_trimmed(tmp_path):
    long = replace(TRACE.dispatches[0], end_ns=TRACE.dispatches[1].end_ns - 1, stream=2)
    trace = replace(TRACE, dispatches=(long, *TRACE.dispatches[1:]))
    reading = read_one(write_rocprofv3(tmp_path / "a.pftrace", trace))
    assert rows_of(reading.events, EVENT_COLUMNS) == _one_lower(expected_events(trace))


def test_rccl_calls_name_the_collective_of_the_kernels_they_launched(tmp_path):
    launches = [c for c in TRACE.calls if c.name == "hipExtLaunchKernel"]
    rccl = [
        ApiCall("ncclAllReduce", c.start_ns - 100, c.end_ns + 100, 700 + n, domain="RCCL_API")
        for n, c in enumerate(launches)
    ]
    trace = replace(TRACE, calls=(*TRACE.calls, *rccl))
    reading = read_one(write_rocprofv3(tmp_path / "a.pftrace", trace))
    assert reading.collectives.column("op").to_pylist() == ["all_reduce"] * 3


def test_queues_are_streams_where_no_streams_are_told(tmp_path):
    trace = replace(TRACE, transfers=(), dispatches=tuple(
        replace(d, stream=0) for d in TRACE.dispatches))  # fmt: skip
    reading = read_one(write_rocprofv3(tmp_path / "a.pftrace", trace))
    assert set(reading.events.column("stream").to_pylist()) == {0, 1}
    assert any("hardware queues" in note for note in reading.health.notes)


def test_the_report_uses_the_markers(tmp_path):
    trace = commscope.load([write_rocprofv3(tmp_path / "a.pftrace", TRACE)])
    assert trace.step_source.kind == "marker"
    assert trace.events.column("launch_ns").null_count == 0
