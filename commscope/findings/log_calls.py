"""The calls of each member of a communicator, compared with those of the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64, codes, int64
from commscope.normalize.logged_communicators import Communicator

#: Operations of two ranks only: others need not make them.
_OF_TWO = {"send", "recv"}
_ROOTED = {"broadcast", "reduce", "gather", "scatter"}
#: Calls that share a number are told apart by their turn, of which there are fewer.
_MOST_TURNS = 1 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """The collectives of one member of a communicator, in the order of the log."""

    comm: int  #: row of COMMS
    places: Int64  #: rows of CALLS
    opcounts: Int64
    looks: Int64  #: equal where operation, count, type, reduction and root are

    @property
    def is_numbered(self) -> bool:
        """Whether the library numbers the calls: NCCL 2.28 prints 0 throughout."""
        return bool((self.opcounts > 0).any())

    @property
    def last_opcount(self) -> int:
        """The highest number of a call."""
        return int(self.opcounts.max())


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first call that is not the same for all members who made it."""

    opcount: int | None  #: null where calls are not numbered
    rows: Mapping[int, int]  #: row of COMMS -> row of CALLS

    @property
    def is_numbered(self) -> bool:
        """Whether the number of the call tells that it is the same one."""
        return self.opcount is not None


def callers(
    table: pa.Table,
    group_of_comm: Int64,
    communicators: Sequence[Communicator],
    named: Collection[int],
) -> dict[int, list[Member]]:
    """The members that made the collectives of CALLS, by communicator.

    Those that the logs do not name are left out unless exactly their members are seen: others may
    be several that look alike.
    """
    table = table.select(["op", "comm", "opcount", "count", "dtype", "reduction", "root"])
    op, words = codes(table, "op")
    comm = int64(table, "comm")
    of_two = np.array([word in _OF_TWO for word in words] or [False])
    kept = np.flatnonzero((comm != NONE) & ~of_two[op])
    kept = kept[np.argsort(comm[kept], kind="stable")]
    looks, opcounts = _looks(table.take(kept)), int64(table, "opcount")[kept]
    found: dict[int, list[Member]] = {}
    if not len(kept):
        return found
    begins = np.flatnonzero(np.diff(comm[kept], prepend=-1))
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(kept)]):
        row = int(comm[kept[begin]])
        group = int(group_of_comm[row])
        one = communicators[group]
        if group in named or one.seen == one.nranks:
            cut = slice(begin, end)
            found.setdefault(group, []).append(Member(row, kept[cut], opcounts[cut], looks[cut]))
    return found


def _looks(calls: pa.Table) -> Int64:
    """A number for each look of a call."""
    op, words = codes(calls, "op")
    rooted = np.array([word in _ROOTED for word in words] or [False])[op]
    root = np.where(rooted, int64(calls, "root"), -1)
    look = np.unique(int64(calls, "count"), return_inverse=True)[1].astype(np.int64)
    for column in (op, codes(calls, "dtype")[0], codes(calls, "reduction")[0], root):
        look = look * (int(column.max(initial=0)) + 2) + np.maximum(column, -1) + 1
    return look


def first_mismatch(members: Sequence[Member], *, numbered: bool) -> Mismatch | None:
    """The first call on which members do not agree; null where they agree on all they share."""
    if len(members) < 2 or _all_alike(members):
        return None
    keys, runs = zip(*(_keys(member) for member in members))
    key, look, run = (np.concatenate(of) for of in (keys, [m.looks for m in members], runs))
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    differ = _spread(look[order], begins)
    if numbered:  # a member that made fewer calls of this number may have lost a line
        differ &= ~_spread(run[order], begins)
    if not differ.any():
        return None
    wanted = int(key[order][begins[int(differ.argmax())]])
    rows = {
        member.comm: int(member.places[at[0]])
        for member, mine in zip(members, keys)
        if len(at := np.flatnonzero(mine == wanted))
    }
    return Mismatch(wanted // _MOST_TURNS if numbered else None, rows)


def _all_alike(members: Sequence[Member]) -> bool:
    first = members[0]
    return all(
        np.array_equal(first.looks, other.looks) and np.array_equal(first.opcounts, other.opcounts)
        for other in members[1:]
    )


def _keys(member: Member) -> tuple[Int64, Int64]:
    """Number and turn of each call as one number, and how many calls have its number."""
    _, number, counts = np.unique(member.opcounts, return_inverse=True, return_counts=True)
    order = np.argsort(number, kind="stable")
    turn = np.empty(len(order), np.int64)
    begins = np.cumsum(counts) - counts
    turn[order] = np.arange(len(order)) - np.repeat(begins, counts)
    opcounts = np.maximum(member.opcounts, 0) % (1 << 42)
    return opcounts * _MOST_TURNS + turn % _MOST_TURNS, counts[number]


def _spread(values: Int64, begins: Int64) -> Any:
    """Where a run of values holds different ones."""
    return np.maximum.reduceat(values, begins) != np.minimum.reduceat(values, begins)


def rows_of(table: pa.Table, places: Mapping[int, int]) -> dict[int, dict[str, Any]]:
    """The rows of CALLS at these places, by the same keys."""
    rows = table.take(list(places.values())).to_pylist()
    return dict(zip(places, rows))
