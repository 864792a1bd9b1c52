"""What the neighbours of a log say, in as few rows as a screen holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import pyarrow as pa

from commscope.engine.neighbors import NeighborFile, Neighbors

Rows = tuple[dict[str, Any], ...]

#: A larger message may not take less time by more than this; below the size, times vary.
_MOST_FASTER, _LEAST_BYTES = 1.1, 64 << 10


@dataclass(frozen=True, slots=True)
class NeighborSummary:
    """What benchmarks, profilers' records, dumps and reports of RAS say."""

    files: tuple[NeighborFile, ...]
    benchmarks: Rows  #: by file, operation and ranks
    records: Rows  #: by profiler, operation, size and ranks
    flight: Rows  #: by process group
    ras: Rows
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return asdict(self)


def summarize_neighbors(neighbors: Neighbors) -> NeighborSummary:
    """Puts together what the tables say."""
    tables = neighbors.tables
    return NeighborSummary(
        neighbors.files,
        tuple(_benchmarks(tables["BENCHMARKS"], tables["BENCHMARK_DEVICES"])),
        tuple(_records(tables["RECORDS"])),
        tuple(_flight(tables["FLIGHT"], tables["FLIGHT_GROUPS"])),
        tuple(tables["RAS"].to_pylist()),
        neighbors.notes,
    )


def _grouped(
    table: pa.Table, keys: Sequence[str], values: Sequence[str]
) -> list[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Rows that are alike in the keys, in the order of their first: the keys, and all values."""
    plain = {name: _plain(table.column(name)) for name in keys}
    numbered = pa.table({**plain, "row": pa.array(range(table.num_rows), pa.int64())})
    grouped = numbered.group_by(list(keys), use_threads=False).aggregate([("row", "list")])
    columns = {name: table.column(name).to_pylist() for name in values}
    return [
        (
            {name: group[name] for name in keys},
            {name: [column[row] for row in group["row_list"]] for name, column in columns.items()},
        )
        for group in grouped.to_pylist()
    ]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without a dictionary, as keys of groups may have none."""
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _benchmarks(measured: pa.Table, devices: pa.Table) -> list[dict[str, Any]]:
    hosts: defaultdict[str, set[str | None]] = defaultdict(set)
    parts: defaultdict[str, set[str]] = defaultdict(set)
    for device in devices.to_pylist():
        hosts[device["file"]].add(device["host"])
        parts[device["file"]] |= {device["name"]} - {None}
    keys = ("file", "op", "ranks", "dtype")
    return [
        {
            **key,
            "hosts": len(hosts[key["file"]]) or None,
            "device": next(iter(parts[key["file"]])) if len(parts[key["file"]]) == 1 else None,
            **_measured(**rows),
        }
        for key, rows in _grouped(measured, keys, ("bytes", "time_us", "busbw_gbps", "wrong"))
    ]


def _measured(**rows: list[Any]) -> dict[str, Any]:
    sizes, rates = rows["bytes"], rows["busbw_gbps"]
    best = max(range(len(sizes)), key=lambda place: rates[place] or 0.0)
    wrong = _known(rows["wrong"])
    return {
        "rows": len(sizes),
        "min_bytes": min(sizes),
        "max_bytes": max(sizes),
        "least_us": _least(rows["time_us"]),
        "best_busbw_gbps": rates[best],
        "best_bytes": sizes[best],
        "wrong": sum(wrong) if wrong else None,
        "slower_than_larger": _slower_than_larger(sizes, rows["time_us"]),
    }


def _slower_than_larger(sizes: Sequence[int], times: Sequence[float | None]) -> list[int]:
    """Sizes that take longer than the next larger one: another algorithm is chosen there."""
    by_size: defaultdict[int, list[float]] = defaultdict(list)
    for size, time in zip(sizes, times):
        if time is not None and size >= _LEAST_BYTES:
            by_size[size].append(time)
    return [
        one
        for one, two in pairwise(sorted(by_size))
        if min(by_size[one]) > _MOST_FASTER * max(by_size[two])
    ]


def _records(records: pa.Table) -> list[dict[str, Any]]:
    keys = ("source", "op", "nranks", "nnodes", "bytes", "size_range", "algorithm", "protocol")
    rows = [
        {
            **key,
            "count": len(mine["rank"]),
            "ranks": len(set(mine["rank"])),
            "exec_time_us": _middle(mine["exec_time_us"]),
            "busbw_gbps": _middle(mine["busbw_gbps"]),
            "least_busbw_gbps": _least(mine["busbw_gbps"]),
            "timing_source": mine["timing_source"][0],
        }
        for key, mine in _grouped(
            records, keys, ("rank", "exec_time_us", "busbw_gbps", "timing_source")
        )
    ]
    return sorted(rows, key=lambda row: -(row["exec_time_us"] or 0.0) * row["count"])


def _flight(flight: pa.Table, groups: pa.Table) -> list[dict[str, Any]]:
    """How far the ranks came in each process group."""
    keys = ("group", "description")
    entries = _by_key(_grouped(flight, keys, ("rank", "state", "seq")))
    told = _by_key(_grouped(groups, keys, ("rank", "ranks", "last_enqueued", "last_completed")))
    return [
        {
            "group": key[0],
            "description": key[1],
            **_progress(entries.get(key, _NOTHING), told.get(key, _NOTHING)),
        }
        for key in dict.fromkeys([*told, *entries])
    ]


_Values = Mapping[str, list[Any]]
_NOTHING: _Values = defaultdict(list)


def _by_key(grouped: Iterable[tuple[dict[str, Any], _Values]]) -> dict[tuple[Any, ...], _Values]:
    return {tuple(key.values()): values for key, values in grouped}


def _progress(entries: _Values, told: _Values) -> dict[str, Any]:
    members = {rank for ranks in _known(told["ranks"]) for rank in ranks}
    states = entries["state"]
    return {
        "members": len(members) or None,
        "dumps": len({*entries["rank"], *told["rank"]}),
        "entries": len(states),
        "scheduled": states.count("scheduled"),
        "started": states.count("started"),
        "last_seq": max(_known(entries["seq"]), default=None),
        "last_enqueued": max(_known(told["last_enqueued"]), default=None),
        "least_completed": _least(told["last_completed"]),
    }


def _known(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def _least(values: Iterable[Any]) -> Any:
    return min(_known(values), default=None)


def _middle(values: Iterable[Any]) -> float | None:
    known = _known(values)
    return median(known) if known else None
