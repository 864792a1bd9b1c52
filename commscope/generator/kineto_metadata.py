"""What a Kineto trace says of a collective: the arguments of its record and of its kernel."""

from __future__ import annotations

import json
from functools import lru_cache

from commscope.generator.dtypes import sent_as
from commscope.generator.kineto_style import SPELLINGS
from commscope.generator.schedule import (
    Collective,
    Communication,
    Communicator,
    Receive,
    Schedule,
    Send,
    op_of,
)


def metadata(rank: int, operation: Communication, schedule: Schedule, seq: int | None) -> str:
    """The arguments, as members of a JSON object; only collectives have a ``seq``, if any."""
    communicator, dtype = schedule.communicators[operation.communicator], schedule.dtype
    if isinstance(operation, Collective) and operation.shares:
        sent, received = operation.shares, _received(operation.shares, rank, communicator)
        shared = _uneven(sent, received, communicator, dtype)
    else:
        shared = _arguments(op_of(operation), operation.size_bytes, communicator, dtype)
    if not isinstance(operation, Collective):
        # PyTorch numbers messages by rank, not by pair: a Seq of theirs would match nothing.
        return _src_dst(rank, operation) + shared
    return shared if seq is None else f'"Seq": {seq}, {shared}'


def _src_dst(rank: int, operation: Send | Receive) -> str:
    is_sent = isinstance(operation, Send)
    src, dst = (rank, operation.peer) if is_sent else (operation.peer, rank)
    return f'"Src Rank": {src}, "Dst Rank": {dst}, '


def _share(op: str, size_bytes: int, members: int) -> tuple[int, int]:
    """Bytes that a member puts in and gets out."""
    share = size_bytes // members
    sent = share if op == "all_gather" else size_bytes
    return sent, share if op == "reduce_scatter" else size_bytes


@lru_cache(maxsize=4096)
def _arguments(op: str, size_bytes: int, communicator: Communicator, dtype: str) -> str:
    """The arguments that all calls of the same kind share, as members of a JSON object."""
    sent, received = _share(op, size_bytes, len(communicator.members))
    return _told(SPELLINGS[op], (sent,), (received,), communicator, dtype)


@lru_cache(maxsize=4096)
def _uneven(
    sent: tuple[int, ...], received: tuple[int, ...], communicator: Communicator, dtype: str
) -> str:
    """The arguments of an all_to_all that is uneven."""
    return _told(SPELLINGS["all_to_all"], sent, received, communicator, dtype)


def _received(shares: tuple[int, ...], rank: int, communicator: Communicator) -> tuple[int, ...]:
    """What a rank gets from each member."""
    return (shares[communicator.members.index(rank)],) * len(shares)


def _told(
    name: str,
    sent: tuple[int, ...],
    received: tuple[int, ...],
    communicator: Communicator,
    dtype: str,
) -> str:
    """The arguments; several sizes are splits."""
    element = sent_as(dtype, *sent, *received)
    ins, outs = ([size // element.size_bytes for size in sizes] for sizes in (sent, received))
    arguments = {
        "Collective name": name,
        "In msg nelems": sum(ins),
        "Out msg nelems": sum(outs),
        "Group size": len(communicator.members),
        "dtype": element.torch,
        "In split size": str(ins) if len(ins) > 1 else "[]",
        "Out split size": str(outs) if len(outs) > 1 else "[]",
        "Process Group Name": communicator.name,
        "Process Group Description": communicator.description,
        "Process Group Ranks": str(list(communicator.members)),
    }
    return json.dumps(arguments)[1:-1]
