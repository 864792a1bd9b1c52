"""What the arguments of RCCL's calls tell of a collective: size, element type, peer, communicator.

Profilers write arguments as text: enumerations as their number, and a communicator as its address
in this process. Addresses differ between ranks, and may even be the same for other communicators:
they name no communicator of the job. The unique id does, with which all members began it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from commscope.classify import canonical_op, dtype_bytes
from commscope.parsers.integers import MAX_RANK

#: The arguments of one call, by their names in RCCL's header.
Texts = Mapping[str, str]

_COUNTS = ("count", "sendcount", "recvcount")
#: Names of arguments that are of use.
USED = (*_COUNTS, "datatype", "peer", "comm", "newcomm", "nranks", "myrank", "commId")

#: By the numbers of ncclDataType_t.
_TYPES = (
    *("int8", "uint8", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
)
#: The count is that of the whole buffer, or of the share of one member.
_WHOLE = frozenset({"all_reduce", "broadcast", "reduce", "send", "recv"})
_SHARES = frozenset({"all_gather", "reduce_scatter", "all_to_all"})
_BEGINS = frozenset({"ncclCommInitRank", "ncclCommInitRankConfig"})
#: Calls that end a communicator, or begin one of which nothing is known, by the argument with it.
_UNKNOWN = {"ncclCommDestroy": "comm", "ncclCommAbort": "comm", "ncclCommSplit": "newcomm"}

_Value = TypeVar("_Value", str, int)
_DIGITS = re.compile(r"[0-9]{1,18}")
_UNIQUE_ID = re.compile(r"0x((?:[0-9a-f]{2}){128})")
_MOST_BYTES = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of calls of RCCL by the correlation of the call, and whose calls they are."""

    of_call: Mapping[int, Texts] = field(default_factory=dict)
    rank: int | None = None
    world_size: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a collective, null where it is not."""

    op: str | None = None
    address: str | None = None  #: of its communicator, in this process
    bytes: int | None = None  #: as nccl-tests counts them
    dtype: str | None = None
    comm: str | None = None
    group_size: int | None = None
    peer: int | None = None  #: a rank of the job


@dataclass(frozen=True, slots=True)
class _Communicator:
    name: str | None
    size: int
    rank: int | None

    def is_world(self, arguments: Arguments) -> bool:
        """Whether its ranks are those of the job."""
        known = arguments.rank is not None and arguments.world_size is not None
        return known and (self.rank, self.size) == (arguments.rank, arguments.world_size)


def told_by(calls: Iterable[tuple[int, str, int]], arguments: Arguments) -> dict[int, Told]:
    """What each call tells, by its row: ``calls`` are rows, names and correlations, as they began.

    The order matters, for the address of a communicator that ended may be given to another one.
    """
    found = {}
    communicators: dict[str, _Communicator] = {}
    for row, name, correlation in calls:
        texts = arguments.of_call.get(correlation)
        if texts is None:
            continue
        if name in _BEGINS:
            _begin(texts, communicators)
        elif name in _UNKNOWN:
            communicators.pop(texts.get(_UNKNOWN[name], ""), None)
        elif op := canonical_op(name):
            communicator = communicators.get(texts.get("comm", ""))
            found[row] = _told(op, texts, communicator, arguments)
    return found


def combined(calls: Sequence[Told], kernels: int) -> Told:
    """What calls tell of the kernels that they started together, each of them.

    A size is that of all calls, for one kernel on one communicator runs them all. Of several
    kernels nothing tells which call each runs. Sends and receives together count what is sent.
    """
    sends = [one for one in calls if one.op == "send"]
    sizes = [one.bytes for one in sends or calls]
    is_one = kernels == 1 and len({one.address for one in calls}) == 1
    total = sum(size or 0 for size in sizes)
    return Told(
        bytes=total if is_one and all(sizes) and total <= _MOST_BYTES else None,
        dtype=_same([one.dtype for one in calls]),
        comm=_same([one.comm for one in calls]),
        group_size=_same([one.group_size for one in calls]),
        peer=_same([one.peer for one in calls]),
    )


def _same(values: Sequence[_Value | None]) -> _Value | None:
    return values[0] if len(set(values)) == 1 else None


def _begin(texts: Texts, communicators: dict[str, _Communicator]) -> None:
    address = texts.get("newcomm") or texts.get("comm", "")
    size = _number(texts.get("nranks"))
    communicators.pop(address, None)
    if size and size <= MAX_RANK:
        name = _name_of(texts.get("commId", ""))
        communicators[address] = _Communicator(name, size, _number(texts.get("myrank")))


def _name_of(unique_id: str) -> str | None:
    """The name of a communicator, from its unique id: the hash that RCCL's log calls ``commId``."""
    written = _UNIQUE_ID.fullmatch(unique_id)
    if not written:
        return None
    value = 0xDEADBEEF
    for byte in bytes.fromhex(written[1]):
        signed = byte - 256 if byte > 127 else byte
        value = ((value ^ value >> 32) * 0x8DB3DB47FA2994AD + signed) % 2**64
    return f"0x{value:x}"


def _told(op: str, texts: Texts, of: _Communicator | None, arguments: Arguments) -> Told:
    dtype = _dtype(texts.get("datatype", ""))
    size = of.size if of else None
    peer = _number(texts.get("peer"))
    # A peer is counted within the communicator: a rank of the job only where that spans the job.
    is_rank = of is not None and of.is_world(arguments) and peer is not None and peer < of.size
    return Told(
        op=op,
        address=texts.get("comm"),
        bytes=_bytes(op, texts, dtype, size),
        dtype=dtype,
        comm=of.name if of else None,
        group_size=size,
        peer=peer if is_rank else None,
    )


def _bytes(op: str, texts: Texts, dtype: str | None, members: int | None) -> int | None:
    count = next((texts[name] for name in _COUNTS if name in texts), None)
    shares = 1 if op in _WHOLE else members if op in _SHARES else None
    total = (_number(count) or 0) * (dtype_bytes(dtype or "") or 0) * (shares or 0)
    return total if 0 < total <= _MOST_BYTES else None


def _dtype(text: str) -> str | None:
    number = _number(text)
    if number is not None:
        return _TYPES[number] if number < len(_TYPES) else None
    word = text.removeprefix("nccl").lower()
    return word if dtype_bytes(word) else None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _DIGITS.fullmatch(text) else None
