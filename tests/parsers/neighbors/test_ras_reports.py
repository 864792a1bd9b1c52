"""Reports of RAS: as text, as JSON, and events of its monitor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import case

from commscope.engine.neighbors import load_neighbors
from commscope.errors import CorruptTrace
from commscope.neighbor_schema import RAS
from commscope.parsers.ras import read_document, read_report
from commscope.parsers.row_builder import RowBuilder

_REPORT = """\
Communicators... (2.05s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4       7-8        32        32   RUNNING  INCOMPLETE

Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 3487 on node 198.51.100.13 managing GPU 5

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 2 ranks
  The missing ranks: 21, 23

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data

#0-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different AllReduce operation counts
  28 ranks have launched up to operation 64
  Rank 7 has launched up to operation 60 -- GPU 3 managed by process 16 on node node1
  1 ranks have not launched any operations
  Rank 9 -- GPU 1 managed by process 17 on node node2
"""
_RANK = {
    "rank": 0, "host": "h", "pid": 1, "cuda_dev": 0, "status": {"init_state": 0},
    "collective_counts": {"AllReduce": 101, "Broadcast": 0},
}  # fmt: skip
_JSON = {
    "nccl_version": "2.28.9",
    "communicators_count": 1,
    "communicators": [
        {
            "hash": "0xab", "size": 3, "ranks": [_RANK, {**_RANK, "rank": 1}],
            "missing_ranks": [
                {"rank": 2, "host": "h2", "pid": 9, "status": {"considered_dead": True}}
            ],
        }
    ],
}  # fmt: skip


def facts(text: str) -> list[tuple[Any, ...]]:
    table = RowBuilder(RAS, "RAS")
    read_report(enumerate(text.encode().split(b"\n"), 1), "x", table)
    names = ("kind", "communicator", "rank", "ranks", "op", "count")
    return [tuple(row[name] for name in names) for row in table.table().to_pylist()]


def test_facts_of_the_real_report() -> None:
    found = load_neighbors([case("rccl_logs/nccl_ras_report_and_watchdog.log")])
    assert found is not None
    rows = found.tables["RAS"].to_pylist()
    assert [(r["communicators"], r["nranks"], r["says"]) for r in rows[:2]] == [
        (1, 128, "MISMATCH"), (16, 8, "OK")
    ]  # fmt: skip
    behind = rows[-1]
    assert (behind["rank"], behind["count"], behind["pid"], behind["device"], behind["line"]) == (
        118, 6649, 483078, "6", 26
    )  # fmt: skip
    assert behind["comm_id"] == "0x27a079b828ff1a75"


def test_all_kinds_of_trouble() -> None:
    assert facts(_REPORT) == [
        ("summary", "0", None, None, None, None),
        ("incomplete", None, None, None, None, None),
        ("incomplete", "0-0", 21, None, None, None),
        ("incomplete", "0-0", 23, None, None, None),
        ("mismatch", "0-0", None, 28, "all_reduce", 64),
        ("mismatch", "0-0", 7, 1, "all_reduce", 60),
        ("mismatch", "0-0", None, 1, "all_reduce", 0),
        ("mismatch", "0-0", 9, None, "all_reduce", 0),
    ]


def test_statuses_that_differ() -> None:
    text = (
        "#0-0 (ab) MISMATCH\n  Communicator ranks have different status\n"
        "  26 ranks have status UNKNOWN\n  Rank 4 -- GPU 4 managed by process 5 on node n\n"
    )
    table = RowBuilder(RAS, "RAS")
    read_report(enumerate(text.encode().split(b"\n"), 1), "x", table)
    rows = table.table().to_pylist()
    assert [(row["status"], row["count"], row["rank"]) for row in rows] == [
        ("unknown", None, None), ("unknown", None, 4)
    ]  # fmt: skip


def test_a_dead_peer_of_the_monitor() -> None:
    text = "[2026-01-02 03:04:05] PEER_DEAD: Process 12 on node 198.51.100.2 managing GPU 7"
    table = RowBuilder(RAS, "RAS")
    assert read_report([(1, text.encode())], "x", table) == 1
    (row,) = table.table().to_pylist()
    assert (row["kind"], row["pid"], row["host"], row["device"]) == (
        "dead",
        12,
        "198.51.100.2",
        "7",
    )


def test_json_with_and_without_the_comma_that_a_version_forgets(tmp_path: Path) -> None:
    text = json.dumps(_JSON, indent=1)
    broken = text.replace('"pid": 9,\n', '"pid": 9\n')
    assert broken != text
    tables = []
    for number, it in enumerate((text, broken, f"OK\nOK\n{text}")):
        path = tmp_path / f"{number}.json"
        path.write_text(it, encoding="utf-8")
        found = load_neighbors([path])
        assert found is not None
        tables.append(found.tables["RAS"].drop_columns(["file"]))
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    rows = [(r["kind"], r["rank"], r["op"], r["count"], r["says"]) for r in tables[0].to_pylist()]
    assert rows == [
        ("summary", None, None, None, "INCOMPLETE"), ("rank", 0, "AllReduce", 101, None),
        ("rank", 1, "AllReduce", 101, None), ("incomplete", 2, None, None, "dead"),
    ]  # fmt: skip


def test_json_cut_anywhere_is_one_clear_error() -> None:
    text = json.dumps(_JSON).encode()
    for end in range(len(text)):
        with pytest.raises(CorruptTrace, match=r"^x: the JSON of this report of RAS"):
            read_document(text[:end], "x", RowBuilder(RAS, "RAS"))


@given(st.integers(0, len(_REPORT)), st.text(max_size=50))
def test_any_damage_is_survived(place: int, text: str) -> None:
    facts(_REPORT[:place] + text.encode("utf-8", "replace").decode() + _REPORT[place:])


def test_many_empty_lines_are_passed_over_once() -> None:
    """Looked at again from each of them, they would take minutes."""
    text = b'{"nccl_version": "2.28.9", "communicators": [1' + b"\n " * 400_000
    with pytest.raises(CorruptTrace):
        read_document(text, "r.json", RowBuilder(RAS, "RAS"))
