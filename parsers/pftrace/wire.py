"""Reads the fields of many protobuf messages at once, in NumPy.

All messages of a level are read in step: the first field of each, then the second of each, and so
on. The protobuf library makes an object of every message and field, which takes five times as long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.columns import Bool, Int64

Words = npt.NDArray[np.uint64]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
#: Heads of fields that are read at once, with their lengths of up to two bytes, may lie behind
#: the bytes: there are zeros, with which no field begins.
MOST_HEAD_BYTES = 256
_PAD = (1 << 14) + 2 * MOST_HEAD_BYTES
#: A message with more fields is damage, and would be read field by field.
_MOST_FIELDS = 1 << 10
MOST_NUMBER = 1 << 29
MOST_VARINT_BYTES = 10
_MOST_LENGTH = 1 << 40
_FIXED_SIZES = np.array([0, 8, 0, 0, 0, 4, 0, 0])
_HIGH = np.uint64(0x8080808080808080)
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONE, _ZERO = np.uint64(1), np.uint64(0)
#: Steps that close the gaps of one, two and four bits between groups: mask, mask, shift.
_SQUEEZE = tuple(
    (np.uint64(keep), np.uint64(move), np.uint64(by))
    for keep, move, by in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    )
)


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields of several messages; those of one message in order, at ``starts`` to ``ends``."""

    message: Int64  #: number of the message that each is of
    number: Int64
    wire: Int64
    starts: Int64
    ends: Int64

    def where(self, rows: Int64) -> Fields:
        """Some of the fields."""
        return Fields(
            self.message[rows], self.number[rows], self.wire[rows],
            self.starts[rows], self.ends[rows],
        )  # fmt: skip

    def of(self, number: int, wire: int) -> Fields:
        """The fields of one number that are of the expected kind."""
        return self.where(np.flatnonzero((self.number == number) & (self.wire == wire)))


class Wire:
    """Bytes that hold messages."""

    def __init__(self, data: bytes) -> None:
        padded = data + bytes(_PAD)
        self.data = data
        self._padded = padded
        self._bytes = np.frombuffer(padded, np.uint8)
        places = len(padded) - 7
        self._words: Words = np.ndarray((places,), np.uint64, padded, strides=(1,))

    def varints(self, at: Int64, most: int = MOST_VARINT_BYTES) -> Int64:
        """The numbers that begin at each place; those from 2**63 on are negative.

        None of them takes more than ``most`` bytes.
        """
        if most == 1:
            return self.byte(at)
        words = self._words[at]
        stop = _stop(words)
        value = words & _LOW7 & ((stop << _ONE) - _ONE)
        for keep, move, by in _SQUEEZE[: (min(most, 8) - 1).bit_length()]:
            value = (value & keep) | ((value & move) >> by)
        long = np.flatnonzero(stop == _ZERO) if most > 8 else at[:0]
        if len(long):
            value[long] |= self._ninth(at[long] + 8)
        return np.asarray(value.view(np.int64))

    def words(self, at: Int64) -> Words:
        """Eight bytes from each place on."""
        return self._words[at]

    def texts(self, at: Int64, size: int) -> tuple[Int64, list[bytes]]:
        """The bytes at each place, as numbers of the distinct ones."""
        if not size:
            return np.zeros(len(at), np.int64), [b""]
        places = len(self._bytes) - size + 1
        # A view of overlapping items: each is copied at once.
        items = np.ndarray((places,), f"V{size}", self._padded, strides=(1,))
        stored = [None, pa.py_buffer(items[at].tobytes())]
        found = pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), len(at), stored)
        coded = found.dictionary_encode()
        return coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist()

    def _ninth(self, at: Int64) -> Words:
        """The bits of the ninth and tenth byte of a number, in their places."""
        ninth, tenth = self._bytes[at].astype(np.uint64), self._bytes[at + 1].astype(np.uint64)
        more = np.where(ninth > 127, tenth & _ONE, _ZERO)
        bits: Words = ((ninth & np.uint64(127)) << np.uint64(56)) | (more << np.uint64(63))
        return bits

    def _sizes(self, at: Int64) -> Int64:
        """How many bytes the number that begins at each place takes."""
        stop = _stop(self._words[at])
        # The exponent of a power of two is the place of its bit.
        size = (((stop.astype(np.float64).view(np.int64) >> 52) - 1023) >> 3) + 1
        long = np.flatnonzero(stop == _ZERO)
        if len(long):
            size[long] = np.where(self._bytes[at[long] + 8] > 127, 10, 9)
        return size

    def byte(self, at: Int64) -> Int64:
        """The byte at each place."""
        return self._bytes[at].astype(np.int64)

    def begins_with(self, starts: Int64, ends: Int64, tag: int) -> Bool:
        """Which messages begin with this tag of one byte and a number of one byte."""
        is_there = (starts + 1 < ends) & (self._bytes[starts] == tag)
        return np.asarray(is_there & (self._bytes[starts + 1] < 128))

    def fields(self, starts: Int64, ends: Int64) -> tuple[Fields, Bool]:
        """The fields of messages at these places, and which messages are damaged."""
        message, at, end = np.arange(len(starts)), starts, ends
        damaged = np.zeros(len(starts), np.bool_)
        found = []
        for _ in range(_MOST_FIELDS):
            alive = np.flatnonzero(at < end)
            if len(alive) < len(at):
                message, at, end = message[alive], at[alive], end[alive]
            if not len(at):
                break
            fields, bad = self._next(message, at, end)
            if bad.any():
                damaged[message[bad]] = True
                good = np.flatnonzero(~bad)
                fields, message, end = fields.where(good), message[good], end[good]
            found.append(fields)
            at = fields.ends
        damaged[message] = True if len(at) else damaged[message]
        return _joined(found), damaged

    def _next(self, message: Int64, at: Int64, end: Int64) -> tuple[Fields, Bool]:
        """The field that begins at each place, and which are damaged."""
        tag = self._bytes[at].astype(np.int64)
        value = at + 1
        if tag.max() > 127:
            tag = self.varints(at)
            value = at + _tag_sizes(tag)
        wire = tag & 7
        size = self.small_sizes(np.minimum(value, end))
        has_length = wire == LENGTH
        start, stop = value + has_length * size, value + size
        sized = np.flatnonzero(has_length)
        if len(sized):
            stop[sized] += self._lengths(np.minimum(value[sized], end[sized]))
        fixed = np.flatnonzero(~has_length & (wire != VARINT))
        bad = (stop > end) | (stop < start)
        if len(fixed):
            stop[fixed] = value[fixed] + _FIXED_SIZES[wire[fixed]]
            bad[fixed] = (stop[fixed] > end[fixed]) | (_FIXED_SIZES[wire[fixed]] == 0)
        if tag.max() > 127 or tag.min() < 8:
            bad |= (tag < 8) | (tag >> 3 > MOST_NUMBER)
        return Fields(message, tag >> 3, wire, start, stop), bad

    def small_sizes(self, at: Int64) -> Int64:
        """As ``_sizes``, for numbers most of which are of one byte."""
        size = np.ones(len(at), np.int64)
        long = np.flatnonzero(self._bytes[at] > 127)
        if len(long):
            size[long] = self._sizes(at[long])
        return size

    def _lengths(self, at: Int64) -> Int64:
        """The lengths that begin at each place, most of which are of one byte."""
        length = self._bytes[at].astype(np.int64)
        long = np.flatnonzero(length > 127)
        if len(long):
            length[long] = np.clip(self.varints(at[long]), -_MOST_LENGTH, _MOST_LENGTH)
        return length


def _stop(words: Words) -> Words:
    """The highest bit of the byte that ends the number in each word; 0 where none does."""
    stop = ~words & _HIGH
    lowest: Words = stop & (~stop + _ONE)
    return lowest


def _tag_sizes(tag: Int64) -> Int64:
    """How many bytes each tag takes, which is written as short as it can be."""
    size: Int64 = 1 + (tag >= 1 << 7).astype(np.int64)
    if len(tag) and tag.max() >= 1 << 14:
        size += (tag >= 1 << 14).astype(np.int64) + (tag >= 1 << 21) + (tag >= 1 << 28)
    return size


def _joined(parts: list[Fields]) -> Fields:
    none = np.empty(0, np.int64)
    parts = parts or [Fields(none, none, none, none, none)]
    columns = zip(*((p.message, p.number, p.wire, p.starts, p.ends) for p in parts))
    return Fields(*map(np.concatenate, columns))
