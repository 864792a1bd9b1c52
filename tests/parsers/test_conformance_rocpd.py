"""The logical trace, written as rocpd in all its forms, reads back to the same tables."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from format_writers.rocpd import RUN, SECRET, add_mark, add_run, write_rocpd
from logical_rows import EVENT_COLUMNS, HOST_COLUMNS, expected_events, expected_host, rows_of
from logical_trace import ORIGIN_NS, ApiCall, LogicalTrace, Transfer, three_steps
from one_file import read_file, read_one
from rccl_trace import OPS, with_rccl_calls

import commscope

#: Calls of the logical trace, as HOST has them.
_KINDS = {
    "hipExtModuleLaunchKernel": "launch",
    "hipExtLaunchKernel": "launch",
    "hipLaunchKernel": "launch",
    "hipMemcpyAsync": "launch",
    "hipDeviceSynchronize": "sync",
}
TRACE = three_steps()


def _write(path: Path, form: str) -> Path:
    if form == "run":
        return write_rocpd(path, TRACE)
    return write_rocpd(path, TRACE, run="")


@pytest.mark.parametrize("form", ["run", "no suffix"])
def test_every_row_is_read_back(tmp_path, form):
    reading = read_one(_write(tmp_path / "100_results.db", form))
    assert rows_of(reading.events, EVENT_COLUMNS) == expected_events(TRACE)
    assert rows_of(reading.host, HOST_COLUMNS) == expected_host(TRACE, _KINDS)
    assert reading.health.events_read == 12 + 13 + 3
    assert not reading.health.is_damaged
    assert reading.health.notes == ()


def test_the_views_serve_where_the_tables_have_other_columns(tmp_path):
    path = write_rocpd(tmp_path / "a.db", TRACE, version="4.1.0", renamed=True)
    reading = read_one(path)
    assert rows_of(reading.events, EVENT_COLUMNS) == expected_events(TRACE)
    assert rows_of(reading.host, HOST_COLUMNS) == expected_host(TRACE, _KINDS)


def test_facts_are_those_of_the_process(tmp_path):
    facts = read_one(write_rocpd(tmp_path / "a.db", TRACE)).facts
    assert (facts.pid, facts.host, facts.is_rocm) == (100, "nodeA", True)
    assert facts.gpus == {0: "AMD Instinct MI300X"}
    assert facts.gpu_names == ("AMD Instinct MI300X",)
    assert facts.versions == {"rocpd_schema": "3"}


def test_nothing_of_environment_and_command_is_read(tmp_path):
    path = write_rocpd(tmp_path / "a.db", TRACE)
    assert SECRET.encode() in path.read_bytes()
    report = commscope.analyze(commscope.load([path])).to_json()
    assert SECRET not in report
    assert SECRET not in repr(read_one(path))


def test_processes_of_a_database_are_readings_of_their_own(tmp_path):
    other = replace(TRACE, pid=200, gpus={1: "AMD Instinct MI300X"})
    moved = replace(
        other,
        dispatches=tuple(replace(d, device=1) for d in TRACE.dispatches),
        transfers=tuple(replace(t, device=1) for t in TRACE.transfers),
    )
    readings = read_file(write_rocpd(tmp_path / "a.db", TRACE, moved))
    assert [reading.facts.pid for reading in readings] == [100, 200]
    assert rows_of(readings[0].events, EVENT_COLUMNS) == expected_events(TRACE)
    assert rows_of(readings[1].events, EVENT_COLUMNS) == expected_events(moved)


def test_runs_of_a_merged_database_are_readings_of_their_own(tmp_path):
    path = write_rocpd(tmp_path / "a.db", TRACE)
    add_run(path, replace(TRACE, pid=300, host="nodeB"), "00000799_aaaa_716d_b3cc_a4a0629bb1d1")
    readings = read_file(path)
    assert [(r.facts.pid, r.facts.host) for r in readings] == [(100, "nodeA"), (300, "nodeB")]
    for reading in readings:
        assert rows_of(reading.events, EVENT_COLUMNS) == expected_events(TRACE)


def test_marks_without_a_length_are_annotations(tmp_path):
    path = write_rocpd(tmp_path / "a.db", TRACE)
    add_mark(path, TRACE, "epoch 7", ORIGIN_NS + 5)
    [mark] = [r for r in rows_of(read_one(path).host, HOST_COLUMNS) if r["name"] == "epoch 7"]
    assert (mark["kind"], mark["start_ns"], mark["dur_ns"]) == ("annotation", ORIGIN_NS + 5, 0)
    assert mark["thread"] == 101


def test_rccl_calls_name_the_collective_of_the_kernels_they_launched(tmp_path):
    launches = [c for c in TRACE.calls if c.name == "hipExtLaunchKernel"]
    rccl = [
        ApiCall("ncclAllReduce", c.start_ns - 100, c.end_ns + 100, 700 + n, domain="RCCL_API")
        for n, c in enumerate(launches)
    ]
    path = write_rocpd(tmp_path / "a.db", replace(TRACE, calls=(*TRACE.calls, *rccl)))
    collectives = read_one(path).collectives
    assert collectives.column("op").to_pylist() == ["all_reduce"] * 3
    host = rows_of(read_one(path).host, HOST_COLUMNS)
    assert [r["kind"] for r in host if r["name"] == "ncclAllReduce"] == ["collective"] * 3


_COMM = "0x55d0c0ffee00"
_UNIQUE = "0x" + "5a" * 128
#: What RCCL was asked for in the steps of ``with_rccl_calls``, by the correlation of each call.
_ARGUMENTS = {
    4_000: {"newcomm": _COMM, "nranks": "8", "myrank": "3", "commId": _UNIQUE},
    5_000: {"sendbuff": "0x1", "count": "1048576", "datatype": "9", "op": "0", "comm": _COMM},
    5_011: {"recvcount": "1000", "datatype": "7", "comm": _COMM},
    5_012: {"recvcount": "3000", "datatype": "7", "comm": _COMM},
    5_021: {"count": "256", "datatype": "1", "peer": "2", "comm": _COMM},
    5_022: {"count": "512", "datatype": "1", "peer": "4", "comm": _COMM},
}


@pytest.mark.parametrize("form", ["tables", "views"])
def test_arguments_of_rccl_tell_size_type_and_communicator(tmp_path, form):
    trace = with_rccl_calls()
    begin = ApiCall("ncclCommInitRank", ORIGIN_NS - 900, ORIGIN_NS - 500, 4_000, domain="RCCL_API")
    trace = replace(trace, calls=(begin, *trace.calls))
    path = write_rocpd(
        tmp_path / "a.db", trace, arguments=_ARGUMENTS, renamed=form == "views",
        version="4.1.0" if form == "views" else "3",
    )  # fmt: skip
    rows = read_one(path).collectives.to_pylist()
    assert [row["op"] for row in rows] == list(OPS)
    assert [row["bytes"] for row in rows] == [2 << 20, 4 * 8 * 4000, 512]
    assert [row["dtype"] for row in rows] == ["bfloat16", "float32", "uint8"]
    assert [row["group_size"] for row in rows] == [8] * 3
    [comm] = {row["comm"] for row in rows}
    assert re.fullmatch("0x[0-9a-f]{1,16}", comm)
    assert [row["peer"] for row in rows] == [None] * 3


@pytest.mark.parametrize("lost", [["arg"], ["event", "regions"]])
def test_calls_without_arguments_tell_the_operation_only(tmp_path, lost):
    path = write_rocpd(tmp_path / "a.db", with_rccl_calls(), arguments=_ARGUMENTS, drop=lost)
    rows = read_one(path).collectives.to_pylist()
    assert {row["bytes"] for row in rows} <= {None}
    assert {row["comm"] for row in rows} <= {None}


def test_arguments_of_another_process_with_the_same_ids_are_its_own(tmp_path):
    mine, other = with_rccl_calls(), replace(with_rccl_calls(), pid=200)
    path = write_rocpd(tmp_path / "a.db", mine, other, arguments=_ARGUMENTS)
    database = sqlite3.connect(path)
    second = f"event_id > (SELECT max(id) / 2 FROM rocpd_event_{RUN})"
    database.execute(f"UPDATE rocpd_arg_{RUN} SET value = 7 WHERE name = 'datatype' AND {second}")
    database.commit()
    database.close()
    found = [reading.collectives.column("bytes")[0].as_py() for reading in read_file(path)]
    assert found == [2 << 20, 4 << 20]


def test_copies_between_host_memories_are_no_activity_of_a_gpu(tmp_path):
    host = Transfer("HOST_TO_HOST", ORIGIN_NS + 5, ORIGIN_NS + 9, 77)
    path = write_rocpd(tmp_path / "a.db", replace(TRACE, transfers=(*TRACE.transfers, host)))
    reading = read_one(path)
    assert rows_of(reading.events, EVENT_COLUMNS) == expected_events(TRACE)
    assert reading.health.notes == ("1 copy from host to host is left out",)


def test_queues_are_streams_where_all_activities_are_on_one(tmp_path):
    dispatches = tuple(replace(d, stream=0) for d in TRACE.dispatches)
    trace = replace(TRACE, dispatches=dispatches, transfers=())
    reading = read_one(write_rocpd(tmp_path / "a.db", trace))
    assert set(reading.events.column("stream").to_pylist()) == {1, 2}
    assert "hardware queues" in reading.health.notes[0]


@pytest.mark.parametrize(
    ("lost", "says"),
    [
        (("memory_copy", "memory_copies"), "no table of copies"),
        (("region", "regions"), "no table of calls of the host"),
        (("event", "kernels", "regions", "memory_copies"), "launches are not known"),
    ],
)
def test_a_partial_database_gives_what_it_has_and_says_what_it_lacks(tmp_path, lost, says):
    reading = read_one(write_rocpd(tmp_path / "a.db", TRACE, drop=lost))
    kernels = [r for r in expected_events(TRACE) if r["kind"] == "kernel"]
    read = [r for r in rows_of(reading.events, EVENT_COLUMNS) if r["kind"] == "kernel"]
    unlinked = [r | {"correlation": None} for r in kernels]
    assert read == (unlinked if "event" in lost else kernels)
    assert any(says in note for note in reading.health.notes)


def test_names_that_are_missing_are_told_by_number(tmp_path):
    reading = read_one(write_rocpd(tmp_path / "a.db", TRACE, drop=["info_kernel_symbol"]))
    names = set(reading.events.column("name").to_pylist())
    assert {"unnamed kernel 1", "unnamed kernel 2", "unnamed kernel 3"} <= names


def test_a_gpu_that_no_table_names_is_the_one_in_use(tmp_path):
    reading = read_one(write_rocpd(tmp_path / "a.db", TRACE, drop=["info_agent"]))
    assert set(reading.events.column("device").to_pylist()) == {-1}
    assert reading.facts.gpus == {}


def test_the_report_infers_nothing_that_the_markers_tell(tmp_path):
    trace = commscope.load([write_rocpd(tmp_path / "a.db", TRACE)])
    assert trace.step_source.kind == "marker"
    assert trace.steps.num_rows == 3


def _with_big_ids(trace: LogicalTrace) -> LogicalTrace:
    return replace(trace, dispatches=tuple(replace(d, queue=2**62) for d in trace.dispatches))


def test_ids_of_64_bits_keep_their_bits(tmp_path):
    trace = _with_big_ids(TRACE)
    reading = read_one(write_rocpd(tmp_path / "a.db", trace))
    assert rows_of(reading.events, EVENT_COLUMNS) == expected_events(trace)
