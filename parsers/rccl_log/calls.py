"""Calls of collectives, sends and receives.

These records are most of a long log, and but for the number of the operation and the addresses of
buffers they repeat: what stands before and behind those is looked up as text, and read where it is
new. A row holds three numbers; what calls that look alike share is kept once.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pyarrow as pa

from commscope.classify.collective import canonical_op
from commscope.columns import NONE, Int64, nullable
from commscope.log_schema import CALLS
from commscope.parsers.rccl_log.comms import Comms
from commscope.parsers.rccl_log.lines import Numbered
from commscope.parsers.rccl_log.rows import MOST_64, RowTable, number, without_rank
from commscope.parsers.rccl_log.writers import Comm, Process, Read, Writer

OPCOUNT = b" opCount "
#: ``opCount 1f sendbuff 0x1 recvbuff 0x2``, then what repeats.
_WORDS = 5
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
_REDUCING = {b"all_reduce", b"reduce_scatter", b"reduce"}

#: More lines, as where a collector puts a time before each, are forgotten.
_MOST_KNOWN = 1 << 18
#: What calls that look alike share.
_LOOK = without_rank(CALLS.remove(CALLS.get_field_index("opcount")))


class Calls(RowTable):
    """The rows of CALLS; those of the base class are what they look like."""

    def __init__(self, comms: Comms, otherwise: Read) -> None:
        super().__init__(_LOOK, "comm")
        self._comms = comms
        self._otherwise = otherwise
        #: Looks, by what is before ``OPCOUNT`` in a line and what repeats behind it.
        self._known: dict[bytes, int] = {}
        self._numbers: dict[tuple[int, ...], int] = {}  #: looks by their columns
        self._made: list[tuple[Writer, Comm]] = []  #: who calls in what, by look
        self._opcount_of = _Opcounts()
        self.clear()
        comms.watch = self._forget

    def clear(self) -> None:
        """Lets all calls go."""
        super().clear()
        self._places, self._looks, self._opcounts = array("q"), array("q"), array("q")
        self._settled = 0  #: rows whose writers speak of their communicators

    def others(self, batch: Numbered, base: int) -> Iterator[tuple[int, bytes, bytes]]:
        """Reads the lines that hold a call like one before; gives those that do not.

        Each with its place, and with what is before ``OPCOUNT`` in it.
        """
        look_of, opcount_of = self._known.get, self._opcount_of
        add_place, add_look, add_opcount = (
            *(self._places.append, self._looks.append),
            self._opcounts.append,
        )
        for number_of_line, line in zip(*batch):
            begin, _, rest = line.partition(OPCOUNT)
            if rest:
                words = rest.split(b" ", _WORDS)
                look = look_of(begin + words[-1])
                if look is not None:
                    add_place(number_of_line + base)
                    add_look(look)
                    add_opcount(opcount_of[words[0]])
                    continue
            if len(self._looks) > self._settled:
                self._settle()
            yield number_of_line + base, line, begin

    def _settle(self) -> None:
        """Has writers speak of the communicators of their last calls.

        It is put off until other records are read: there may be a million calls in between.
        """
        since = self._looks[self._settled :]
        for look in reversed(dict.fromkeys(reversed(since))):
            writer, writer.comm = self._made[look]
        self._settled = len(self._looks)

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the record of one call; what begins like one, but is none, is read otherwise."""
        name, _, rest = message.partition(OPCOUNT)
        words = rest.split(b" ", _WORDS)
        if len(words) <= _WORDS or b" " in name:
            return self._otherwise(writer, place, message)
        look = writer.calls.get(name + words[-1])
        if look is None:
            look = self._new(writer, place, name, words[-1])
            if look is None:
                return False
        _, writer.comm = self._made[look]
        self._add(place, look, self._opcount_of[words[0]])
        return True

    def remember(self, writer: Writer, begin: bytes, message: bytes) -> None:
        """Takes that lines of calls of a writer begin like the one with this message."""
        name, _, rest = message.partition(OPCOUNT)
        arguments = rest.split(b" ", _WORDS)[-1]
        look = writer.calls.get(name + arguments)
        if look is not None and begin.endswith(b" " + name):
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[begin + arguments] = look
            writer.process.lines.append(begin + arguments)

    def read_traced(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the record that the level CALL writes: it has no number of the operation."""
        found = _TRACED.match(message)
        if not found:
            return False
        name, *words, address, stream = found.groups()
        comm = self._comms.of(_pointer(address), writer, place)
        arguments = (*words, _pointer(address), None, _pointer(stream), None, None)
        self._add(place, self._look(writer, comm, name, arguments), NONE)
        return True

    def _add(self, place: int, look: int, opcount: int) -> None:
        self._places.append(place)
        self._looks.append(look)
        self._opcounts.append(opcount)
        self._settled = len(self._looks)

    def _forget(self, process: Process) -> None:
        """Forgets calls of a process: at an address there may be another communicator now."""
        for writer in process.writers:
            writer.calls.clear()
        for line in process.lines:
            self._known.pop(line, None)
        process.lines.clear()

    def _new(self, writer: Writer, place: int, name: bytes, arguments: bytes) -> int | None:
        """The look of a call that is new to a writer; null where it is torn."""
        found = _ARGUMENTS.match(arguments)
        if found is None:
            return None
        comm = self._comms.of(found[5], writer, place)
        nranks = number(found[6])
        if nranks != NONE:
            comm.facts.setdefault("nranks", nranks)
        look = self._look(writer, comm, name.rstrip(b":"), found.groups())
        writer.calls[name + arguments] = look
        return look

    def _look(
        self, writer: Writer, comm: Comm, name: bytes, arguments: tuple[bytes | None, ...]
    ) -> int:
        count, dtype, op, root, address, nranks, stream, task, rank = arguments
        word = op_of(name)
        elements, ranks = number(count, MOST_64), number(nranks)
        kind, size = _element(number(dtype))
        look = (
            writer.number,
            comm.number,
            self.rows.code(word),
            elements,
            self.rows.code(kind),
            _product(elements, size),
            _product(elements, size, ranks if word in _PER_RANK else 1),
            self.rows.code(_reduction(number(op)) if reduces(word) else None),
            number(root),
            ranks,
            self.rows.code(address),
            self.rows.code(stream),
            number(task),
            number(rank),
        )
        if look not in self._numbers:
            self._numbers[look] = len(self._numbers)
            self._made.append((writer, comm))
            self.rows.add(NONE, *look)
        return self._numbers[look]

    def places(self) -> Int64:
        """Where each call was read."""
        return _numbers(self._places)

    def spread(self, arrays: dict[str, pa.Array]) -> dict[str, pa.Array]:
        """The columns of the calls, of those of their looks."""
        look = pa.array(_numbers(self._looks))
        shared = {name: column.take(look) for name, column in arrays.items()}
        return {**shared, "opcount": nullable(_numbers(self._opcounts))}


def _numbers(values: array[int]) -> Int64:
    return np.frombuffer(values, np.int64)


class _Opcounts(dict[bytes, int]):
    """Numbers of operations, which are hexadecimal; ``NONE`` for what is no number."""

    def __missing__(self, text: bytes) -> int:
        try:
            value = max(min(int(text, 16), MOST_64), NONE)
        except ValueError:
            value = NONE
        self[text] = value
        return value


@lru_cache(maxsize=256)
def op_of(name: bytes) -> bytes:
    """The operation in the words of the tables; its own name where it is none of those."""
    text = name.decode("ascii", "replace")
    return (canonical_op(text) or text).encode()


def reduces(op: bytes) -> bool:
    """Whether an operation reduces: elsewhere the name of a reduction means nothing."""
    return op in _REDUCING


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
