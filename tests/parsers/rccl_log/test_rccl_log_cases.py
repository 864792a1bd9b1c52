"""Every fact of ``rccl_logs/expected.json``, and what the READMEs of the logs say besides."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support import CASES, case

from commscope.engine.logs import load_logs
from commscope.parsers.rccl_log import Logs

pytestmark = pytest.mark.long

FOLDER = "rccl_logs"


def _expected() -> dict[str, dict[str, Any]]:
    file = CASES / FOLDER / "expected.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


EXPECTED = _expected()


@cache
def _logs(path: Path) -> Logs:
    return load_logs([path]).logs


@cache
def _rows(path: Path, table: str) -> list[dict[str, Any]]:
    return _logs(path).tables[table].to_pylist()


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted({value for value in values if value is not None})


def _versions(path: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in _rows(path, "VERSIONS"):
        found.setdefault(row["component"], set()).add(row["version"])
    return found


def _library(path: Path) -> str:
    (name,) = {"rccl", "nccl"} & set(_versions(path))
    return name


def _version(path: Path) -> str:
    (version,) = _versions(path)[_library(path)]
    return version


def _graphs(path: Path, kind: str) -> list[dict[str, Any]]:
    return [row for row in _rows(path, "GRAPHS") if row["kind"] == kind]


def _edges(path: Path) -> set[tuple[int, int]]:
    return {(row["src"], row["dst"]) for row in _rows(path, "CHANNELS")}


def _transport(row: dict[str, Any]) -> str:
    device = "" if row["net_device"] is None else f"/{row['net_device']}"
    return row["transport"] + device + ("/GDRDMA" if row["gpu_direct"] else "")


def _channels_of_ring_lists(path: Path) -> int:
    (channels,) = {row["channels"] for row in _graphs(path, "ring_list")}
    return channels


def _collectives(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in _rows(path, "CALLS"):
        name = "".join(map(str.title, row["op"].split("_")))
        tally = found.setdefault(name, {"records": 0, "count_x_dtype_bytes": 0})
        tally["records"] += 1
        tally["count_x_dtype_bytes"] += row["call_bytes"]
    return found


def _watchdog(path: Path) -> list[dict[str, Any]]:
    return [
        {"rank": r["rank"], "seq": r["seq"], "op": r["op"], "numel_in": r["elements_in"]}
        for r in _rows(path, "HANGS")
        if r["op"] is not None
    ]


def _ranks(path: Path) -> list[dict[str, Any]]:
    return [
        {name: row[column] for name, column in (*_SAME, ("comm", "address"))}
        for row in sorted(_rows(path, "COMMS"), key=lambda row: row["rank"] or 0)
        if row["bus_id"] is not None
    ]


_SAME = [(name, name) for name in ("rank", "cuda_dev", "bus_id")]


def _tuning(path: Path) -> list[str]:
    return [
        f"{''.join(map(str.title, row['op'].split('_')))}: {row['bytes']} Bytes -> "
        f"Algo {row['algorithm'].upper()} proto {row['protocol'].upper()} "
        f"channel{{Lo..Hi}}={{{row['first_channel']}..{row['last_channel']}}}"
        for row in _rows(path, "TUNING")
    ]


def _comms_with(path: Path, column: str, *values: Any) -> int:
    rows = _rows(path, "COMMS")
    return sum(row[column] in values if values else row[column] is not None for row in rows)


FACTS: dict[str, Callable[[Path], Any]] = {
    "library": _library,
    "version": _version,
    "hosts": lambda path: _sorted(p.host for p in _logs(path).processes),
    "processes": lambda path: len(_logs(path).processes),
    "nranks": lambda path: _sorted(row["nranks"] for row in _rows(path, "COMMS")),
    "comm_ids": lambda path: _sorted(row["comm_id"] for row in _rows(path, "COMMS")),
    "init_start_records": lambda path: _comms_with(path, "start_line"),
    "init_complete_ranks": lambda path: _comms_with(path, "complete_line"),
    "destroy_complete": lambda path: _comms_with(path, "end", "destroyed"),
    "abort_complete": lambda path: _comms_with(path, "end", "aborted"),
    "ring_list_records": lambda path: len(_graphs(path, "ring_list")),
    "channels_from_ring_lists": _channels_of_ring_lists,
    "channel_records": lambda path: len(_rows(path, "CHANNELS")),
    "distinct_channel_src_dst": lambda path: len(
        {(row["channel"], row["src"], row["dst"]) for row in _rows(path, "CHANNELS")}
    ),
    "distinct_directed_edges": lambda path: len(_edges(path)),
    "records_by_transport": lambda path: dict(
        Counter(_transport(row) for row in _rows(path, "CHANNELS"))
    ),
    "connected_records": lambda path: dict(
        Counter(row["name"] for row in _graphs(path, "connected"))
    ),
    "warnings": lambda path: sum(r["level"] == "warn" for r in _rows(path, "WARNINGS")),
    "tuning_records": _tuning,
    "collectives": _collectives,
    "ranks": _ranks,
    "watchdog": _watchdog,
}


@pytest.mark.parametrize(
    ("file", "fact"), [(file, fact) for file, facts in EXPECTED.items() for fact in facts]
)
def test_fact_of_a_real_log(file: str, fact: str) -> None:
    assert FACTS[fact](case(f"{FOLDER}/{file}")) == EXPECTED[file][fact]
