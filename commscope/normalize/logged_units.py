"""What the kernels of a process run, by its logged calls: one call each, or a group of messages.

A group is launched as it ends, in one kernel where it holds sends and receives only. How many
kernels a group of other operations takes is not told, nor where a group ends if calls bear no
number: such calls are kept, but no kernel is held to be one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, at, codes, int64, parts
from commscope.normalize.stretches import Stretches

#: Operations that are made of sends and receives, and run by one kind of kernel.
MESSAGES = frozenset({"send", "recv", "send_recv", "all_to_all", "gather", "scatter"})
_PAIR = ("send", "recv")
_KNOWN = (*_PAIR, "send_recv", "all_to_all")


@dataclass(frozen=True)
class Units:
    """Calls, or groups of them, in the order in which they were launched.

    ``op``, ``dtype`` and ``stream`` are places in ``words``. ``peer`` is a rank of the communicator
    ``comm``, a row of COMMS. Of what is not ``sure`` it is not known how many kernels ran it.
    """

    words: tuple[str, ...]
    comm: Int64
    nranks: Int64
    op: Int64
    bytes: Int64
    dtype: Int64
    stream: Int64
    peer: Int64
    opcount: Int64
    sure: Bool

    def __len__(self) -> int:
        return len(self.comm)

    @property
    def is_message(self) -> Bool:
        """Which are a single send or receive."""
        return np.asarray(self.op < len(_PAIR))

    @cached_property
    def kind(self) -> Int64:
        """A number that is equal for what is alike but for its buffers."""
        return _numbered(self.comm, self.op, self.bytes, self.dtype)

    @cached_property
    def operation(self) -> Int64:
        """A number that is equal for one operation on one communicator."""
        return _numbered(self.comm, self.op)

    @cached_property
    def number_of_op(self) -> dict[str, int]:
        """A number for each operation that a kernel tells: of messages it tells no more."""
        numbers = dict.fromkeys(MESSAGES, 0)
        for word in self.words:
            numbers.setdefault(word, len(numbers))
        return numbers

    @cached_property
    def stretches(self) -> Stretches:
        """Those numbers, in which stretches are looked for."""
        number = np.array([self.number_of_op[word] for word in self.words], np.int64)
        return Stretches(number[self.op])

    @cached_property
    def unsure_before(self) -> Int64:
        """How many are not sure before each, and in all."""
        return np.concatenate(([0], np.cumsum(~self.sure)))

    def take(self, rows: Int64) -> Units:
        """Some of them."""
        columns = (getattr(self, field.name)[rows] for field in fields(self)[1:])
        return Units(self.words, *columns)


def _numbered(*keys: Int64) -> Int64:
    """A number of each row that is equal for rows with equal keys."""
    _, number = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)
    return np.asarray(number, np.int64).reshape(-1)


def units_of(calls: pa.Table, nranks: Sequence[int | None]) -> Units:
    """The units of the calls of one process; ``nranks`` is the size of each row of COMMS.

    Calls on a communicator of one rank, and collectives of nothing, launch no kernel.
    """
    size = np.array([NONE if count is None else count for count in (*nranks, None)], np.int64)
    found = _alone(calls, size)
    launches = (found.nranks != 1) & (found.is_message | (int64(calls, "count") > 0))
    rows = np.flatnonzero(launches)
    found, run, is_told = found.take(rows), *_runs(calls.take(pa.array(rows)), found.take(rows))
    found.sure[found.is_message & (found.bytes <= 0)] = False
    kept = np.ones(len(found), np.bool_)
    for members in _grouped(run):
        found.sure[members] = False
        if is_told[members].all() and _is_group(found, members):
            kept[members[:-1]] = False
            _write_group(found, members)
    return found.take(np.flatnonzero(kept))


def _grouped(run: Int64) -> list[Int64]:
    """The rows of each run that has several."""
    return [members for _, members in parts(run) if len(members) > 1]


def _alone(calls: pa.Table, size: Int64) -> Units:
    """Each call as a unit of its own."""
    words = {word: place for place, word in enumerate(_KNOWN)}
    op, dtype, stream = (_coded(calls, name, words) for name in ("op", "dtype", "stream"))
    comm = np.maximum(int64(calls, "comm"), -1)
    peer = np.where(op < len(_PAIR), int64(calls, "root"), NONE)
    return Units(
        tuple(words), comm, size[comm], op, int64(calls, "bytes").copy(), dtype, stream, peer,
        int64(calls, "opcount"), np.ones(len(op), np.bool_),
    )  # fmt: skip


def _coded(rows: pa.Table, name: str, words: dict[str, int]) -> Int64:
    """The places of a column's words, which are added; -1 for null."""
    code, own = codes(rows, name)
    places = np.array([words.setdefault(word, len(words)) for word in own], np.int64)
    return np.array(at(places, code, -1), np.int64)


def _runs(calls: pa.Table, found: Units) -> tuple[Int64, Bool]:
    """The number of the group of each call, and whether the log tells where it ends."""
    thread, task = int64(calls, "thread"), int64(calls, "task")
    order = np.lexsort((np.arange(len(found)), found.comm, thread))
    is_numbered = np.isin(found.comm, found.comm[found.opcount > 0]) & (found.opcount != NONE)
    same = np.zeros(len(found), np.bool_)
    before, after = order[:-1], order[1:]
    same[1:] = (thread[before] == thread[after]) & (found.comm[before] == found.comm[after])
    by_number = found.opcount[before] == found.opcount[after]
    unnumbered = found.is_message[before] & found.is_message[after]
    told = np.where(is_numbered[after], by_number, unnumbered)
    same[1:] &= np.where(task[after] != NONE, task[after] > 0, told)
    run = np.empty(len(found), np.int64)
    run[order] = np.cumsum(~same)
    return run, is_numbered | (task != NONE)


def _is_group(found: Units, members: Int64) -> bool:
    """Whether calls can be one group of messages: one to and one from each rank at most."""
    pairs = set(zip(found.op[members].tolist(), found.peer[members].tolist()))
    sizes = found.bytes[members]
    return (
        bool(found.is_message[members].all())
        and len(pairs) == len(members)
        and bool((sizes > 0).all())
    )


def _write_group(found: Units, members: Int64) -> None:
    """Makes the last call of a group stand for all: messages with all ranks are an all_to_all."""
    last, sizes, sends = members[-1], found.bytes[members], found.op[members] == 0
    peers = [set(found.peer[members[way]].tolist()) for way in (sends, ~sends)]
    everyone = set(range(found.nranks[last]))
    pair, total = sorted(sizes.tolist()), int(sizes[sends].sum())
    found.sure[last] = True
    found.op[last], found.bytes[last] = found.words.index("send_recv"), NONE
    if peers == [everyone, everyone]:
        found.op[last], found.bytes[last] = found.words.index("all_to_all"), total
    elif len(members) == 2 and all(peers) and pair[0] == pair[1]:
        found.bytes[last] = total
    if peers[0] != peers[1] or len(peers[0]) > 1:
        found.peer[last] = NONE
