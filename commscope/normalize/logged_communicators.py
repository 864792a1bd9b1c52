"""Communicators of a job: the rows of COMMS that are members of the same one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

#: Parts of the time of an initialisation, as columns of COMMS.
_PARTS = ("kernels", "alloc", "bootstrap", "allgathers", "topo", "graphs", "connections", "rest")


@dataclass(frozen=True, slots=True)
class Slowest:
    """The initialisation that took longest."""

    rank: int | None
    total_ns: int
    part: str | None  #: what took most of it
    part_ns: int | None


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator, and what its members' logs say of it."""

    name: str  #: its hash, or what it was split from, or its size
    nranks: int | None
    members: tuple[int, ...]  #: ranks that the logs hold
    seen: int  #: processes that speak of it
    missing: int | None  #: ranks that the logs do not hold
    started: int  #: members that began its initialisation
    completed: int
    waiting: tuple[int, ...]  #: ranks that began it and did not complete it
    destroyed: int
    aborted: tuple[int, ...]  #: ranks that gave it up
    nnodes: int | None
    networks: tuple[str, ...]
    coll_channels: tuple[int, ...]  #: that members report; more than one number: they differ
    p2p_channels: tuple[int, ...]
    slowest: Slowest | None


@dataclass(frozen=True, slots=True)
class Grouped:
    """The communicators, and to which of them each row of COMMS belongs."""

    communicators: tuple[Communicator, ...]
    of_row: list[int]


def group_communicators(comms: pa.Table) -> Grouped:
    """Finds the members of each communicator, the largest one first.

    Its hash tells; without one, members are those of equal size and, of splits, equal colour that
    come at the same turn in their processes. Processes whose logs lack the line with the hash are
    members of the only communicator of their size that has one.
    """
    rows = comms.to_pylist()
    members: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    turns: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    for number, row in enumerate(rows):
        members[_key(row, turns)].append(number)
    _join_nameless(members, rows)
    ordered = sorted(members.values(), key=lambda group: (-(rows[group[0]]["nranks"] or 0), group))
    of_row = [0] * len(rows)
    for group, numbers in enumerate(ordered):
        for number in numbers:
            of_row[number] = group
    found = tuple(_communicator([rows[number] for number in numbers]) for numbers in ordered)
    return Grouped(found, of_row)


def _join_nameless(
    members: defaultdict[tuple[Any, ...], list[int]], rows: list[dict[str, Any]]
) -> None:
    """Adds members without a hash to the one communicator of their size that has one."""
    for key in [key for key in members if key[0] is None]:
        _, nranks, is_split, _, turn = key
        named = [other for other in members if other[0] is not None and other[1] == nranks]
        if is_split or turn > 1 or len(named) != 1:
            continue
        mine, theirs = (_processes(members[one], rows) for one in (key, named[0]))
        if mine.isdisjoint(theirs) and len(mine) + len(theirs) <= (nranks or 0):
            members[named[0]] = sorted([*members[named[0]], *members.pop(key)])


def _processes(numbers: list[int], rows: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    return {(rows[n]["host"], rows[n]["pid"], rows[n]["rank"]) for n in numbers}


def _key(row: dict[str, Any], turns: defaultdict[tuple[Any, ...], int]) -> tuple[Any, ...]:
    if row["comm_id"] is not None:
        return (row["comm_id"], row["nranks"])
    look = (row["nranks"], row["parent"] is not None, row["color"])
    process = (row["host"], row["pid"], row["file"] if row["pid"] is None else None)
    turn = (*process, row["rank"], *look)
    turns[turn] += 1
    return (None, *look, turns[turn])


def _communicator(rows: list[dict[str, Any]]) -> Communicator:
    first = rows[0]
    members = _ranks(rows)
    nranks = first["nranks"]
    begun = [row for row in rows if row["start_line"] is not None]
    return Communicator(
        name=_name(first),
        nranks=nranks,
        members=members,
        seen=len(rows),
        missing=None if nranks is None else max(0, nranks - max(len(members), len(rows))),
        started=len(begun),
        completed=sum(row["complete_line"] is not None for row in rows),
        waiting=_ranks(row for row in begun if row["complete_line"] is None),
        destroyed=sum(row["end"] == "destroyed" for row in rows),
        aborted=_ranks(row for row in rows if row["end"] == "aborted"),
        nnodes=max((row["nnodes"] for row in rows if row["nnodes"]), default=None),
        networks=tuple(_values(rows, "network")),
        coll_channels=tuple(_values(rows, "coll_channels")),
        p2p_channels=tuple(_values(rows, "p2p_channels")),
        slowest=_slowest(rows),
    )


def _name(row: dict[str, Any]) -> str:
    if row["comm_id"] is not None:
        return str(row["comm_id"])
    if row["parent"] is not None:
        return f"split, color {row['color']}"
    return f"of {row['nranks'] or '?'} ranks"


def _ranks(rows: Any) -> tuple[int, ...]:
    return tuple(sorted({row["rank"] for row in rows if row["rank"] is not None}))


def _values(rows: list[dict[str, Any]], column: str) -> list[Any]:
    return sorted({row[column] for row in rows if row[column] is not None})


def _slowest(rows: list[dict[str, Any]]) -> Slowest | None:
    timed = [row for row in rows if row["total_ns"] is not None]
    if not timed:
        return None
    row = max(timed, key=lambda row: row["total_ns"])
    parts = {part: row[f"{part}_ns"] for part in _PARTS if row[f"{part}_ns"]}
    part = max(parts, key=parts.__getitem__, default=None)
    return Slowest(row["rank"], row["total_ns"], part, parts[part] if part else None)
