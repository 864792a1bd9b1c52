"""The logical trace, written as rocprofv2's csv files, reads back to the same tables."""

from __future__ import annotations

import random

import pytest
from format_writers.rocprof_v2 import write_rocprofv2
from logical_rows import EVENT_COLUMNS, HOST_COLUMNS, expected_events, expected_host, rows_of
from logical_trace import three_steps
from one_file import read_one, survives

import commscope
from commscope.engine.inspect import inspect_paths
from commscope.engine.reading import silent
from commscope.parsers.rocprof_v2 import RocprofV2Parser

_KINDS = {
    "hipExtModuleLaunchKernel": "launch",
    "hipExtLaunchKernel": "launch",
    "hipLaunchKernel": "launch",
    "hipMemcpyAsync": "launch",
    "hipDeviceSynchronize": "sync",
}
TRACE = three_steps()


@pytest.mark.parametrize("old", [False, True])
def test_the_files_of_a_process_are_read_together(tmp_path, old):
    trace = commscope.load([write_rocprofv2(tmp_path / "out", TRACE, old=old)])
    assert trace.ranks.num_rows == 1
    expected = expected_events(TRACE)
    for row in expected:
        is_copy = row["kind"] == "memcpy"
        row.update({"stream": None, "bytes": None} if is_copy else {"stream": row["queue"]})
    read = rows_of(trace.events, EVENT_COLUMNS)
    assert read == expected
    host = expected_host(TRACE, _KINDS, "thread")
    for row in host:
        row["correlation"] = None if row["kind"] == "annotation" else row["correlation"]
    assert rows_of(trace.host, HOST_COLUMNS) == host
    assert any("rocprofv3" in note.says for note in trace.notes)


def test_one_file_alone_is_read_too(tmp_path):
    folder = write_rocprofv2(tmp_path / "out", TRACE)
    reading = read_one(folder / "results_100.csv")
    assert reading.events.num_rows == 9
    assert reading.facts.pid == 100
    assert reading.health.events_lost == 0


@pytest.mark.parametrize("seed", range(15))
def test_damage_anywhere_gives_a_reading_or_one_line(tmp_path, seed):
    path = write_rocprofv2(tmp_path / "out", TRACE) / "results_100.csv"
    dice = random.Random(seed)
    data = bytearray(path.read_bytes())[: dice.randrange(len(path.read_bytes()))]
    for _ in range(dice.choice([0, 1, 10])):
        at = dice.randrange(max(len(data), 1))
        data[at : at + 4] = bytes(4) if dice.random() < 0.5 else dice.randbytes(4)
    path.write_bytes(data)
    for reading in survives(path, RocprofV2Parser()):
        assert reading.events.num_rows <= 9


def test_files_with_counters_are_passed_over(tmp_path):
    path = write_rocprofv2(tmp_path / "out", TRACE) / "results_100.csv"
    path.write_text(path.read_text().replace("Correlation_ID\n", "Correlation_ID,SQ_WAVES\n"))
    [file] = inspect_paths([path], None, silent).files
    assert (file.parser, file.unread) == ("rocprof_v2", "counters of kernels, no timeline")


def test_rows_that_are_cut_are_lost_and_counted(tmp_path):
    path = write_rocprofv2(tmp_path / "out", TRACE) / "results_100.csv"
    path.write_bytes(path.read_bytes()[:-25])
    reading = read_one(path)
    assert (reading.events.num_rows, reading.health.events_lost) == (8, 1)
