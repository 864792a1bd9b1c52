"""Databases whose views never end: one clear line after so many steps, wherever they are read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from collected_counters import write_database
from one_file import source_of

from commscope.engine.counters import load_counters
from commscope.engine.topology import find_topology
from commscope.errors import CorruptTrace
from commscope.parsers import sqlite_file
from commscope.parsers.rocpd import RocpdParser

_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "FREE_STEPS", 1_000_000)


def _database(path: Path, **views: str) -> Path:
    with sqlite3.connect(path) as file:
        for name, columns in views.items():
            file.execute(f"CREATE VIEW rocpd_{name}_r AS {_ENDLESS} {columns} FROM n")
    file.close()
    return path


def test_a_trace(tmp_path: Path) -> None:
    columns = 'i AS id, i AS start, i AS "end", 1 AS pid, 1 AS name_id'
    path = _database(tmp_path / "a.db", region=columns)
    with pytest.raises(CorruptTrace, match=r"^a.db: its views take more steps than") as error:
        list(RocpdParser().read(source_of(path), lambda _done, _total: None))
    assert "\n" not in str(error.value)


def test_counters(tmp_path: Path) -> None:
    path = _database(
        tmp_path / "a.db",
        pmc_event="i AS event_id, 1 AS pmc_id, 'x' AS value",
        kernel_dispatch="i AS event_id, 1 AS kernel_id",
    )
    with pytest.raises(CorruptTrace, match="its views take more steps than"):
        load_counters([path])


def test_a_topology(tmp_path: Path) -> None:
    assert (
        find_topology([_database(tmp_path / "a.db", info_agent="1 AS nid, 2 AS extdata")]) is None
    )


def test_a_database_of_a_profiler_takes_few(tmp_path: Path) -> None:
    assert load_counters([write_database(tmp_path / "a.db")]).tables["COUNTED_KERNELS"].num_rows
