"""The logical trace, written as rocprof (v1) in its three forms, and the real files of rocprof."""

from __future__ import annotations

import gzip
import random
import shutil

import pytest
from format_writers.rocprof_v1 import write_csv, write_db, write_json
from logical_rows import EVENT_COLUMNS, HOST_COLUMNS, expected_events, expected_host, rows_of
from logical_trace import three_steps
from one_file import read_file, read_one, survives
from support import case

import commscope
from commscope.columns import int64
from commscope.engine.inspect import inspect_paths
from commscope.engine.reading import silent
from commscope.errors import CorruptTrace
from commscope.parsers.rocprof_v1 import RocprofV1Parser

_KINDS = {
    "hipExtModuleLaunchKernel": "launch",
    "hipExtLaunchKernel": "launch",
    "hipLaunchKernel": "launch",
    "hipMemcpyAsync": "launch",
    "hipDeviceSynchronize": "sync",
}
TRACE = three_steps()


def test_every_kernel_of_the_csv_is_read_back(tmp_path):
    reading = read_one(write_csv(tmp_path / "results.csv", TRACE))
    kernels = [
        row | {"stream": row["queue"], "correlation": None}
        for row in expected_events(TRACE)
        if row["kind"] == "kernel"
    ]
    assert rows_of(reading.events, EVENT_COLUMNS) == kernels
    assert reading.host.num_rows == 0
    assert reading.facts.pid == 100
    assert "tells no launches" in reading.health.notes[0]


def test_every_row_of_the_database_is_read_back(tmp_path):
    reading = read_one(write_db(tmp_path / "results.db", TRACE))
    expected = expected_events(TRACE, "bytes", "workgroups")
    for row in expected:
        row["queue"] = row["queue"] or 0
    assert rows_of(reading.events, EVENT_COLUMNS) == expected
    host = expected_host(TRACE, _KINDS)
    for row in host:
        row["correlation"] = None if row["kind"] == "annotation" else row["correlation"]
    assert rows_of(reading.host, HOST_COLUMNS) == host


def test_every_row_of_the_json_is_read_back(tmp_path):
    reading = read_one(write_json(tmp_path / "results.json", TRACE))
    expected = expected_events(TRACE, "bytes", "workgroups", "correlation")
    for row in expected:
        row["queue"] = row["queue"] or 0
    assert rows_of(reading.events, EVENT_COLUMNS) == expected
    host = expected_host(TRACE, _KINDS, "correlation")
    assert rows_of(reading.host, HOST_COLUMNS) == host


def test_of_one_run_the_file_that_tells_most_is_read(tmp_path):
    write_csv(tmp_path / "results.csv", TRACE)
    write_json(tmp_path / "results.json", TRACE)
    write_db(tmp_path / "results.db", TRACE)
    trace = commscope.load([tmp_path])
    assert [file.file for file in trace.files] == ["results.db"]
    assert trace.events.num_rows == 12
    assert trace.ranks.num_rows == 1
    assert any("of the same run and are not read" in note.says for note in trace.notes)


def test_where_the_best_is_damaged_the_next_is_read(tmp_path):
    write_csv(tmp_path / "results.csv", TRACE)
    database = write_db(tmp_path / "results.db", TRACE)
    database.write_bytes(database.read_bytes()[:-4096])
    trace = commscope.load([tmp_path])
    assert [file.file for file in trace.files] == ["results.csv"]
    assert any("results.db: is cut" in note.says for note in trace.notes)


def test_a_csv_without_times_says_how_to_get_them(tmp_path):
    with pytest.raises(CorruptTrace, match="--timestamp on"):
        read_one(write_csv(tmp_path / "results.csv", TRACE, times=False))


def test_a_cut_csv_gives_its_whole_rows(tmp_path):
    path = write_csv(tmp_path / "results.csv", TRACE)
    whole = path.read_bytes()
    header = whole.index(b"\n") + 1
    before = 0
    for size in range(header + 1, len(whole), 23):
        path.write_bytes(whole[:size])
        rows = read_one(path).events.num_rows
        assert before <= rows <= 9
        before = rows


def test_a_cut_json_gives_the_events_before_the_cut(tmp_path):
    path = write_json(tmp_path / "results.json", TRACE)
    whole = path.read_bytes()
    for size in range(300, len(whole), 151):
        path.write_bytes(whole[:size])
        for reading in survives(path):
            assert reading.health.cut
    assert read_one(path).events.num_rows >= 11


@pytest.mark.parametrize("writer", [write_csv, write_json, write_db])
@pytest.mark.parametrize("seed", range(15))
def test_damage_anywhere_gives_a_reading_or_one_line(tmp_path, writer, seed):
    path = writer(tmp_path / "results.x", TRACE)
    dice = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(dice.choice([1, 10, 100])):
        at = dice.randrange(len(data))
        data[at : at + 4] = bytes(4) if dice.random() < 0.5 else dice.randbytes(4)
    path.write_bytes(data)
    for reading in survives(path, RocprofV1Parser()):
        assert reading.events.num_rows <= 12


def test_the_real_database_and_json_say_the_same():
    for name in ("results.db", "results.json"):
        reading = read_one(case(f"amd/rocprof_v1/vecadd/{name}"))
        rows = rows_of(reading.events, EVENT_COLUMNS)
        assert [row["dur_ns"] for row in rows if row["kind"] == "kernel"] == [3_431_611]
        assert sum(row["dur_ns"] for row in rows if row["kind"] == "memcpy") == 1_066_407_390
        assert {row["device"] for row in rows} == {4}
        assert reading.health.events_read == 4 + 13
        assert reading.facts.pid == 19147


def test_calls_of_the_real_database_are_linked():
    trace = commscope.load([case("amd/rocprof_v1/vecadd/results.db")])
    assert trace.events.column("launch_ns").null_count == 0


def test_the_real_csv_has_the_verified_sums():
    reading = read_one(case("amd/rocprof_v1/finite_difference/results.csv"))
    start, length = int64(reading.events, "start_ns"), int64(reading.events, "dur_ns")
    assert reading.events.num_rows == 1_004
    assert int(length.sum()) == 2_610_787_312
    assert int((start + length).max() - start.min()) == 2_649_034_656
    assert set(reading.events.column("device").to_pylist()) == {8}
    names = reading.events.column("name").to_pylist()
    laplacian = [n for n, name in enumerate(names) if "laplacian_kernel" in name]
    assert len(laplacian) == 1_001
    assert int(length[laplacian].sum()) == 2_608_618_986
    assert not any(name.endswith("]") for name in names)


def test_a_json_of_one_line_is_an_error_of_one_line():
    with pytest.raises(CorruptTrace, match=r"no whole JSON document \(80 bytes\)"):
        read_one(case("amd/rocprof_v1/finite_difference/results.json"))


@pytest.mark.parametrize(
    "name",
    [
        *("vecadd/results.stats.csv", "vecadd/results.hip_stats.csv"),
        *("vecadd/results.copy_stats.csv", "finite_difference/results.stats.csv"),
    ],
)
def test_sums_are_recognised_and_passed_over(name):
    [file] = inspect_paths([case(f"amd/rocprof_v1/{name}")], None, silent).files
    assert (file.parser, file.unread) == ("rocprof_v1", "sums of calls or kernels, no timeline")


def test_a_folder_of_a_run_gives_one_rank():
    trace = commscope.load([case("amd/rocprof_v1/vecadd")])
    assert trace.ranks.num_rows == 1
    assert trace.events.num_rows == 4


def test_compressed_files_are_read_too(tmp_path):
    path = write_db(tmp_path / "results.db", TRACE)
    with path.open("rb") as plain, gzip.open(tmp_path / "b.db.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    [reading] = read_file(tmp_path / "b.db.gz")
    assert reading.events.num_rows == 12
