"""Which communicator each collective belongs to, across ranks.

A process group is known by its name and members. Where the trace tells neither, the stream stands
for it: a library runs the collectives of one communicator on one stream, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.analysis.groups import group_rows
from commscope.columns import NONE, Bool, Int64, codes, int64


@dataclass(frozen=True, slots=True)
class Communicator:
    """A group of ranks that run collectives together.

    ``members`` are the declared ones, else the ranks of the trace that use it; ``size`` is the
    declared number of them, which may exceed the ranks of the trace.
    """

    name: str | None
    description: str | None
    members: tuple[int, ...]
    size: int
    by_stream: bool  #: told by stream and order, as the trace has no process groups


@dataclass(frozen=True, slots=True)
class Communicators:
    """The communicators of a trace, and for each collective which one it is."""

    found: tuple[Communicator, ...]
    of_row: Int64
    guessed: Bool  #: rows without a process group, given that of their stream

    @property
    def labels(self) -> tuple[str, ...]:
        """What each is called, each name once: what it is for, or its name; then its members."""
        short = [c.description or c.name or "unnamed" for c in self.found]
        long = [f"{name} {_ranges(c.members)}" for name, c in zip(short, self.found)]
        names = [name if short.count(name) == 1 else more for name, more in zip(short, long)]
        return tuple(
            name if names.count(name) == 1 else f"{name} #{names[: number + 1].count(name)}"
            for number, name in enumerate(names)
        )


def _ranges(members: tuple[int, ...]) -> str:
    """Ranks in short, such as ``0-3,8``."""
    cuts = [0, *(i for i in range(1, len(members)) if members[i] != members[i - 1] + 1)]
    parts = [members[a:b] for a, b in zip(cuts, [*cuts[1:], len(members)])]
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts if p)


def find_communicators(times: pa.Table, streams: Int64) -> Communicators:
    """The communicators of collectives (see ``overlap.collective_times``) on their streams."""
    rank, name = int64(times, "rank"), codes(times, "comm")[0]
    members, lists = _member_lists(times)
    members = _with_namesakes(rank, name, members, lists)
    name, members, guessed = _from_streams(rank, streams, name, members)
    lane = np.where(name < 0, _lanes(rank, streams, name < 0), -1)
    of_row, first = group_rows([name, members, lane])
    rows = [_described_rows(times, column, of_row, len(first)) for column in _FACTS]
    users = np.split(rank[np.argsort(of_row, kind="stable")], np.cumsum(np.bincount(of_row))[:-1])
    found = tuple(
        _communicator(facts, np.unique(mine).tolist(), bool(name[row] < 0))
        for row, mine, *facts in zip(first.tolist(), users, *rows)
    )
    return Communicators(found, of_row, guessed)


#: What any row of a communicator may tell of it.
_FACTS = ("comm", "description", "members", "group_size")


def _described_rows(times: pa.Table, column: str, of_row: Int64, count: int) -> list[Any]:
    """What the first row of each communicator that tells it says in a column; else null."""
    known = np.flatnonzero(times.column(column).is_valid().to_numpy())[::-1]
    row = np.full(count, -1, np.int64)
    row[of_row[known]] = known
    told: list[Any] = times.column(column).take(pa.array(row, mask=row < 0)).to_pylist()
    return told


def _member_lists(times: pa.Table) -> tuple[Int64, list[tuple[int, ...]]]:
    """The members of each row as a number in the list of distinct ones; -1 where not known.

    The lists are compared as bytes: there are as many as collectives, but few that differ.
    """
    column = times.column("members").combine_chunks()
    ends = np.cumsum(pc.fill_null(pc.list_value_length(column), 0).to_numpy().astype(np.int64))
    buffers = [
        None,
        pa.py_buffer(np.concatenate(([0], ends)) * 4),
        pa.py_buffer(np.ascontiguousarray(column.flatten().to_numpy(), np.int32)),
    ]
    texts = pa.Array.from_buffers(pa.large_binary(), len(column), buffers).dictionary_encode()
    known: dict[tuple[int, ...], int] = {}
    numbers = [
        known.setdefault(tuple(sorted(np.frombuffer(text, np.int32).tolist())), len(known))
        if text
        else -1
        for text in texts.dictionary.to_pylist()
    ]
    return np.asarray(np.array([*numbers, -1])[texts.indices.to_numpy()]), list(known)


def _with_namesakes(
    rank: Int64, name: Int64, members: Int64, lists: list[tuple[int, ...]]
) -> Int64:
    """Gives a group without members those of the one group of its name that its rank is in."""
    result: Int64 = members.copy()
    unknown = (members < 0) & (name >= 0)
    named = np.unique(np.stack((name, members), axis=1)[(members >= 0) & (name >= 0)], axis=0)
    for word in np.unique(name[unknown]):
        for number in named[named[:, 0] == word, 1].tolist():
            mine = unknown & (name == word) & np.isin(rank, lists[number])
            result[mine] = np.where(result[mine] == -1, number, -2)
    return np.maximum(result, -1)


def _from_streams(
    rank: Int64, streams: Int64, name: Int64, members: Int64
) -> tuple[Int64, Int64, Bool]:
    """Gives a collective without a group that of its stream, where that only ever has one."""
    lane, _ = group_rows([rank, streams])
    unknown = name < 0
    if not unknown.any() or unknown.all():
        return name, members, np.zeros(len(name), np.bool_)
    count = int(lane.max()) + 1
    low_name, high_name = _bounds(lane[~unknown], name[~unknown], count)
    low_members, high_members = _bounds(lane[~unknown], members[~unknown], count)
    single = (low_name == high_name) & (low_members == high_members)
    guessed = unknown & single[lane] & (streams != NONE)
    return (
        np.where(guessed, low_name[lane], name),
        np.where(guessed, low_members[lane], members),
        guessed,
    )


def _bounds(group: Int64, values: Int64, count: int) -> tuple[Int64, Int64]:
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -2)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return low, high


def _lanes(rank: Int64, streams: Int64, chosen: Bool) -> Int64:
    """The place of each row's stream among those of its rank: ranks may number them otherwise."""
    result = np.zeros(len(rank), np.int64)
    for number in np.unique(rank[chosen]):
        mine = chosen & (rank == number)
        result[mine] = np.unique(streams[mine], return_inverse=True)[1].reshape(-1)
    return result


def _communicator(facts: Sequence[Any], users: list[int], by_stream: bool) -> Communicator:
    name, description, declared, size = facts
    members = tuple(sorted(declared or users))
    return Communicator(
        name, description, members, size=max(size or 0, len(members)), by_stream=by_stream
    )
