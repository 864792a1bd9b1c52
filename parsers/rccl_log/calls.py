"""Calls of collectives, sends and receives.

These records are most of a long log, and but for the number of the operation they repeat: what
stands behind the buffers is looked up as text, and read where it is new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import pyarrow as pa

from commscope.classify.collective import canonical_op
from commscope.columns import NONE
from commscope.log_schema import CALLS
from commscope.parsers.rccl_log.comms import Comms
from commscope.parsers.rccl_log.rows import MOST_64, Rows, RowTable, number
from commscope.parsers.rccl_log.writers import Call, Read, Writer

OPCOUNT = b"opCount"
#: ``host:1:1 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x1 recvbuff 0x2``, then what repeats.
LINE_WORDS = 11
_NAME = 4  #: number of the word that names the call
_NO_CALLS: dict[bytes, Call] = {}
_ARGUMENTS = re.compile(
    rb"(?:acc \S+ )?count (\d{1,18}) datatype (\d+) op (\d+) root (-?\d+) comm (0x[0-9a-f]+)"
    rb"(?: \[nranks=(\d+)\])?(?: stream (0x[0-9a-f]+|\(nil\)))?(?: task (\d+) globalrank (\d+))?"
)
_TRACED = re.compile(
    rb"nccl(\w+)\((?:[0-9a-fx()nil]*,){1,3}(\d{1,18}),(\d+),(\d+),(-?\d+),"
    rb"((?:0x)?[0-9a-f]+),((?:0x)?[0-9a-f]+)\)"
)
_DTYPES = (
    *((b"int8", 1), (b"uint8", 1), (b"int32", 4), (b"uint32", 4), (b"int64", 8), (b"uint64", 8)),
    *((b"float16", 2), (b"float32", 4), (b"float64", 8), (b"bfloat16", 2)),
    *((b"float8_e4m3", 1), (b"float8_e5m2", 1)),
)
_REDUCTIONS = (b"sum", b"prod", b"max", b"min", b"avg")
#: Operations whose size nccl-tests counts over all ranks, though the call gives that of one.
_PER_RANK = {b"all_gather", b"reduce_scatter", b"gather", b"scatter", b"all_to_all"}
#: Operations that reduce: elsewhere the number of the reduction means nothing.
_REDUCING = {b"all_reduce", b"reduce_scatter", b"reduce"}

#: What differs between calls that look alike, and the number of what they look like.
_ROW = pa.schema([("comm", pa.int64()), ("opcount", pa.int64()), ("look", pa.int64())])


class Calls(RowTable):
    """The rows of CALLS."""

    def __init__(self, comms: Comms, calls_of: Mapping[bytes, dict[bytes, Call]], otherwise: Read):
        super().__init__(_ROW, "comm")
        self._comms = comms
        self._calls_of = calls_of
        self._otherwise = otherwise
        self._opcounts = _Opcounts()
        self._append, self._pack = self.rows.append, self.rows.pack
        self._looks = Rows(CALLS, "op")
        self._numbers: dict[tuple[int, ...], int] = {}

    def repeat(self, place: int, words: list[bytes]) -> bool:
        """Reads a call from the words of its line, if its writer has made one like it before."""
        known = self._calls_of.get(words[0], _NO_CALLS).get(words[LINE_WORDS])
        if known is None or known[0] != words[_NAME]:
            return False
        _, writer, comm, number_of_writer, number_of_comm, look = known
        writer.comm = comm
        opcount = self._opcounts[words[_NAME + 2]]
        self._append(self._pack(place, number_of_writer, number_of_comm, opcount, look))
        return True

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the record of one call; what begins like one, but is none, is read otherwise."""
        words = message.split(b" ", LINE_WORDS - _NAME)
        if len(words) <= LINE_WORDS - _NAME or words[1] != OPCOUNT:
            return self._otherwise(writer, place, message)
        name, arguments = words[0], words[-1]
        known = writer.calls.get(arguments)
        if known is None or known[0] != name:
            known = self._new(writer, place, name, arguments)
            if known is None:
                return False
        writer.comm = known[2]
        self.rows.add(place, *known[3:5], self._opcounts[words[2]], known[5])
        return True

    def read_traced(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the record that the level CALL writes: it has no number of the operation."""
        found = _TRACED.match(message)
        if not found:
            return False
        name, *words, address, stream = found.groups()
        comm = writer.comm = self._comms.of(_pointer(address), writer, place)
        look = self._look(name, (*words, _pointer(address), None, _pointer(stream), None, None))
        self.rows.add(place, writer.number, comm.number, NONE, look)
        return True

    def _new(self, writer: Writer, place: int, name: bytes, arguments: bytes) -> Call | None:
        """What arguments mean that are new to a writer; null where they are torn."""
        found = _ARGUMENTS.match(arguments)
        if found is None:
            return None
        comm = self._comms.of(found[5], writer, place)
        nranks = number(found[6])
        if nranks != NONE:
            comm.facts.setdefault("nranks", nranks)
        look = self._look(name.rstrip(b":"), found.groups())
        known = name, writer, comm, writer.number, comm.number, look
        writer.calls[arguments] = known
        return known

    def _look(self, name: bytes, arguments: tuple[bytes | None, ...]) -> int:
        count, dtype, op, root, address, nranks, stream, task, rank = arguments
        word = op_of(name)
        elements, ranks = number(count, MOST_64), number(nranks)
        kind, size = _element(number(dtype))
        look = (
            self._looks.code(word),
            elements,
            self._looks.code(kind),
            _product(elements, size),
            _product(elements, size, ranks if word in _PER_RANK else 1),
            self._looks.code(_reduction(number(op)) if word in _REDUCING else None),
            number(root),
            ranks,
            self._looks.code(address),
            self._looks.code(stream),
            number(task),
            number(rank),
        )
        if look not in self._numbers:
            self._numbers[look] = len(self._numbers)
            self._looks.add(0, 0, *look)
        return self._numbers[look]

    def arrays(self) -> dict[str, pa.Array]:
        """The columns of CALLS but for those that tell who wrote them."""
        arrays = self.rows.arrays()
        look = arrays.pop("look")
        looks = {name: column.take(look) for name, column in self._looks.arrays().items()}
        return {**arrays, **looks}


class _Opcounts(dict[bytes, int]):
    """Numbers of operations, which are hexadecimal; ``NONE`` for what is no number."""

    def __missing__(self, text: bytes) -> int:
        try:
            value = min(int(text, 16), MOST_64)
        except ValueError:
            value = NONE
        self[text] = value
        return value


@lru_cache(maxsize=256)
def op_of(name: bytes) -> bytes:
    """The operation in the words of the tables; its own name where it is none of those."""
    text = name.decode("ascii", "replace")
    return (canonical_op(text) or text).encode()


def _element(code: int) -> tuple[bytes | None, int]:
    if not 0 <= code < len(_DTYPES):
        return None, NONE
    name, size = _DTYPES[code]
    return name, size


def _reduction(code: int) -> bytes | None:
    if code < 0:
        return None
    return _REDUCTIONS[code] if code < len(_REDUCTIONS) else b"user"


def _product(*factors: int) -> int:
    """The product; ``NONE`` where a factor is not known, or where it is too large."""
    result = 1
    for factor in factors:
        if factor == NONE:
            return NONE
        result *= factor
    return result if result <= MOST_64 else NONE


def _pointer(text: bytes | None) -> bytes:
    return b"0x" + (text or b"").removeprefix(b"0x")
