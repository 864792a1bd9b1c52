"""Kernels as RCCL traces them on the GPU (``RCCL_KERNEL_COLL_TRACE_ENABLE=1``).

A channel writes when its kernel begins and when it ends, often from another thread; the record
names no communicator but tells rank and size.
"""

from __future__ import annotations

import re
from functools import lru_cache

from commscope.columns import NONE
from commscope.log_schema import KERNELS
from commscope.parsers.rccl_log.calls import op_of, reduces
from commscope.parsers.rccl_log.rows import RowTable, number
from commscope.parsers.rccl_log.writers import Process, Writer

_TRACE = re.compile(
    rb"## \[ *(\d{1,9})\.(\d{1,9})\] \[(\d{1,9}):(\d{1,9})(?::\d{1,9})*\] ([0-9a-f]{1,15}) "
    rb"(KL|KE|CL|CE|PE|DT)\b(?: HWID [0-9a-f]+)?(?: (?!busId\b)([A-Za-z]\w{2,99}))?(.*)"
)
_FACT = re.compile(rb"\b(nw|nc|busId|nRanks) (\w{1,20})\b")
_FUNCTION = re.compile(
    rb"(?:ncclDevFunc_)?(?P<op>[A-Za-z]+)_(?P<algorithm>[A-Z_]+)_(?P<protocol>LL128|LL|SIMPLE)"
    rb"_(?P<reduction>[A-Za-z]+)_(?P<dtype>\w+)"
)
_KINDS = {b"KL": b"kernel", b"CL": b"launch", b"CE": b"collective", b"PE": b"p2p", b"DT": b"data"}
_DTYPES = {b"i": b"int", b"u": b"uint", b"f": b"float", b"bf": b"bfloat"}
_FIELDS = KERNELS.names[KERNELS.get_field_index("comm") :]

#: A kernel that has begun: its process, rank, channel and device.
_Open = tuple[int, bytes, bytes, "bytes | None"]


class Kernels(RowTable):
    """The rows of KERNELS."""

    def __init__(self) -> None:
        super().__init__(KERNELS, "comm")
        self._open: dict[_Open, int] = {}  #: rows of kernels that have not ended

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads one record of the trace."""
        found = _TRACE.match(message)
        if found is None:
            return False
        seconds, fraction, rank, channel, opcount, kind, function, rest = found.groups()
        facts = dict(_FACT.findall(rest))
        ns = int(seconds) * 10**9 + int(fraction.ljust(9, b"0"))
        key = (id(writer.process), rank, channel, facts.get(b"busId"))
        if kind == b"KE" and key in self._open:
            self.rows.change(self._open.pop(key), _FIELDS.index("end_ns"), ns)
            return True
        nranks = number(facts.get(b"nRanks"))
        code = self.rows.code
        values = {
            "comm": _comm(writer.process, int(rank), nranks),
            "rank": int(rank),
            "channel": int(channel),
            "opcount": int(opcount, 16),
            "kind": code(_KINDS.get(kind, b"kernel")),
            "function": code(function),
            **{name: code(word) for name, word in zip(_SPLIT, _split(function))},
            "warps": number(facts.get(b"nw")),
            "channels": number(facts.get(b"nc")),
            "nranks": nranks,
            "bus_id": code(facts.get(b"busId")),
            "end_ns" if kind == b"KE" else "start_ns": ns,
        }
        if kind == b"KL":
            self._open[key] = self.rows.count
        self.rows.add(place, writer.number, *(values.get(name, NONE) for name in _FIELDS))
        return True


def _comm(process: Process, rank: int, nranks: int) -> int:
    """The communicator of a process with this rank and size, if it is the only one."""
    found = [
        comm.number
        for comm in process.comms.values()
        if comm.facts.get("rank") == rank and comm.facts.get("nranks") == nranks
    ]
    return found[0] if len(found) == 1 else NONE


_SPLIT = ("op", "algorithm", "protocol", "reduction", "dtype")


@lru_cache(maxsize=1024)
def _split(function: bytes | None) -> tuple[bytes | None, ...]:
    """Operation, algorithm, protocol, reduction and type in the name of a function."""
    found = _FUNCTION.fullmatch(function or b"")
    if found is None:
        return (None,) * len(_SPLIT)
    op, algorithm, protocol, reduction, dtype = found.groups()
    word = op_of(op)
    return (
        word,
        algorithm.lower(),
        protocol.lower(),
        reduction.lower() if reduces(word) else None,
        _dtype(dtype),
    )


def _dtype(name: bytes) -> bytes:
    """A type as the calls spell it; ``bf16`` is ``bfloat16``."""
    letters = name.rstrip(b"0123456789")
    return _DTYPES[letters] + name[len(letters) :] if letters in _DTYPES else name
