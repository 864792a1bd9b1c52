"""Databases of rocprof-compute: verified figures of a real one, damage, and hostile ones."""

from __future__ import annotations

import gzip
import os
import random
import sqlite3
from pathlib import Path

import pytest
from counter_samples import GEMM, METRICS, database, folder
from support import case

from commscope.engine.counters import load_counters
from commscope.errors import CorruptTrace, FormatError

REAL = "amd/omniperf/mi350_rocprof_compute_350.db.gz"


def test_verified_figures() -> None:
    loaded = load_counters([case(REAL)])
    kernels = loaded.tables["COUNTED_KERNELS"].to_pylist()
    assert len(kernels) == 7
    assert sum(row["dispatches"] for row in kernels) == 10
    assert sum(row["total_ns"] for row in kernels) == 1_284_933
    (workload,) = loaded.tables["WORKLOADS"].to_pylist()
    told = [workload[name] for name in ("name", "version", "arch", "compute_units", "xcds")]
    assert told == ["drchen_pi", "3.5.0", "gfx950", 256, 8]
    peaks = {row["roof"]: row["peak"] for row in loaded.tables["ROOFLINES"].to_pylist()}
    assert peaks["hbm"] == 4885.545015923266
    assert peaks["mfma bf16"] == 1127592.3612649725
    assert "asrock" not in str([table.to_pylist() for table in loaded.tables.values()])


@pytest.mark.parametrize("packed", [False, True])
def test_a_database_is_read_as_it_is(packed: bool, tmp_path: Path) -> None:
    path = database(tmp_path / "a.db")
    if packed:
        data = gzip.compress(path.read_bytes())
        path.unlink()
        path = tmp_path / "a.db.gz"
        path.write_bytes(data)
    loaded = load_counters([path])
    (kernel,) = loaded.tables["COUNTED_KERNELS"].to_pylist()
    assert kernel == {
        "workload": 0, "kernel": GEMM, "dispatches": 2, "timed": 2, "total_ns": 400,
        "median_ns": 200,
    }  # fmt: skip
    found = {row["counter"]: row["value"] for row in loaded.tables["COUNTERS"].to_pylist()}
    assert found == METRICS
    assert os.listdir(tmp_path) == [path.name]


def test_a_database_that_may_not_be_written_is_read(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db")
    path.chmod(0o400)
    before = path.stat().st_mtime_ns
    assert load_counters([path]).tables["COUNTED_KERNELS"].num_rows == 1
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["a?mode=rwc.db", "a#b%20.db", "ä ö.db"])
def test_names_that_an_address_must_quote(name: str, tmp_path: Path) -> None:
    assert load_counters([database(tmp_path / name)]).tables["COUNTED_KERNELS"].num_rows == 1


def test_another_schema(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", schema="2.0.0")
    with pytest.raises(CorruptTrace, match=r"a\.db: schema 2\.0\.0 .* of which 1\.x is known"):
        load_counters([path])


@pytest.mark.parametrize("name", ["compute_kernel", "compute_dispatch", "compute_workload"])
@pytest.mark.parametrize("instead", ["", "CREATE VIEW {0} AS SELECT 1 AS kernel_uuid"])
def test_a_partial_database(name: str, instead: str, tmp_path: Path) -> None:
    path = database(tmp_path / "a.db")
    with sqlite3.connect(path) as file:
        file.execute(f"DROP TABLE {name}")
        file.execute(instead.format(name) or "SELECT 1")
    file.close()
    with pytest.raises(CorruptTrace, match=f"a.db: has no table {name}, so it is partial"):
        load_counters([path])


@pytest.mark.parametrize("change", [
    "UPDATE compute_dispatch SET end_timestamp = 'x'",
    "UPDATE compute_dispatch SET end_timestamp = start_timestamp - 5",
    "UPDATE compute_dispatch SET kernel_uuid = 99",
    "UPDATE compute_kernel_metric_value SET value = 9e999",
    "UPDATE compute_kernel_metric_value SET value = x'00'",
    "UPDATE compute_metric_definition SET name = NULL, unit = 3",
    "UPDATE compute_workload SET sys_info_extdata = '[1', roofline_bench_extdata = '[]'",
    "UPDATE compute_workload SET sys_info_extdata = x'ff', profiling_config_extdata = NULL",
    "DELETE FROM compute_metadata",
    "UPDATE compute_dispatch SET end_timestamp = 9223372036854775807, start_timestamp = -9",
])  # fmt: skip
def test_values_that_are_none(change: str, tmp_path: Path) -> None:
    path = database(tmp_path / "a.db")
    with sqlite3.connect(path) as file:
        file.execute(change)
    file.close()
    assert load_counters([path]).tables["COUNTED_KERNELS"].num_rows == 1


def test_any_cut_of_a_database_is_told_in_a_line(tmp_path: Path) -> None:
    whole = database(tmp_path / "whole.db").read_bytes()
    path = tmp_path / "a.db"
    for cut in sorted(random.Random(6).sample(range(1, len(whole)), 40)):
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError) as caught:
            load_counters([path])
        assert str(caught.value).startswith("a.db: ")
        assert "\n" not in str(caught.value)


def test_a_damaged_database_among_others_is_noted(tmp_path: Path) -> None:
    folder(tmp_path / "p")
    path = database(tmp_path / "a.db")
    path.write_bytes(path.read_bytes()[:9000])
    loaded = load_counters([tmp_path])
    assert loaded.tables["WORKLOADS"].num_rows == 1
    assert any(note.startswith("a.db: is cut: 9,000 of ") for note in loaded.notes)
