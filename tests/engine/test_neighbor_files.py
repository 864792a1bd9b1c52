"""Which files are neighbours of a log, and what becomes of those that cannot be read."""

from __future__ import annotations

import os
import pickle
import tarfile
from pathlib import Path
from typing import Any

import pytest
from flight_dumps import dump, entry
from support import case

from commscope.engine.neighbors import load_neighbors, load_reference
from commscope.errors import FormatError, UnknownFormat, UsageError
from commscope.neighbor_schema import NEIGHBOR_TABLES


def test_the_neighbours_in_a_folder_of_logs_are_found_by_content() -> None:
    found = load_neighbors([case("rccl_logs")])
    assert found is not None
    assert {(file.file, file.kind, file.rows) for file in found.files if file.rows} == {
        ("nccl_inspector_records.jsonl", "records", 2),
        ("nccl_ras_report_and_watchdog.log", "ras", 5),
        ("nccl_tests_schema3.json", "benchmark", 6),
        ("rccl_tests_allreduce_8xmi300x.txt", "benchmark", 62),
        ("rccl_tests_allreduce_16xmi300x_2node.txt", "benchmark", 64),
    }
    assert found.notes == ()
    assert {name: table.schema for name, table in found.tables.items()} == NEIGHBOR_TABLES


def test_none_among_traces_and_logs(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text('{"traceEvents": [], "version": 1}', encoding="utf-8")
    (tmp_path / "log.txt").write_text("h:1:1 [0] NCCL INFO Using network IB\n", encoding="utf-8")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "model.pkl").write_bytes(pickle.dumps({"weights": [1.0]}))
    assert load_neighbors([tmp_path]) is None


def test_a_table_behind_a_long_log_is_found(tmp_path: Path) -> None:
    log = "h:1:1 [0] NCCL INFO Channel 00/02 : 0 1\n" * 10_000
    table = "# size count type redop root time algbw busbw #wrong\n8 2 float sum -1 1 2 3 0\n"
    (tmp_path / "all_reduce.log").write_text(log + table, encoding="utf-8")
    found = load_neighbors([tmp_path])
    assert found is not None
    (row,) = found.tables["BENCHMARKS"].to_pylist()
    assert (row["line"], row["bytes"], row["op"]) == (10_002, 8, "all_reduce")


class Hostile:
    """Makes a folder when it is unpickled in the usual way."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.path,)


def test_a_hostile_dump_runs_nothing_and_is_refused(tmp_path: Path) -> None:
    trap, path = tmp_path / "trap", tmp_path / "nccl_trace_rank_0"
    path.write_bytes(pickle.dumps({**dump(0, [entry(1)]), "more": Hostile(trap)}))
    with pytest.raises(FormatError, match=r"^nccl_trace_rank_0: the pickle wants to import a name"):
        load_neighbors([path])
    noted = load_neighbors([tmp_path])
    assert noted is not None
    assert noted.files == ()
    assert "wants to import a name" in noted.notes[0]
    assert not trap.exists()


def test_dumps_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "nccl_trace_rank_7"
    path.write_bytes(pickle.dumps(dump(7, [entry(1)]), 2))
    with tarfile.open(tmp_path / "dumps.tar.gz", "w:gz") as archive:
        archive.add(path, path.name)
    path.unlink()
    found = load_neighbors([tmp_path / "dumps.tar.gz"])
    assert found is not None
    assert found.tables["FLIGHT"].column("rank").to_pylist() == [7]


def test_a_reference_may_be_a_folder_of_results() -> None:
    assert load_reference(case("rccl_logs")).num_rows == 6 + 62 + 64


def test_no_reference(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        load_reference(tmp_path / "missing.txt")
    path = tmp_path / "begun.txt"
    path.write_text("# nThread 1 nGpus 1 minBytes 8\n", encoding="utf-8")
    with pytest.raises(UnknownFormat, match="holds no result"):
        load_reference(path)
