"""Shapes of packets: which fields follow each other in a packet, its event and its annotations.

Packets of one shape differ only in the values of the fields, and in how many bytes those take. A
shape is found once, by reading one packet field by field; ``groups`` finds the others that have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from commscope.columns import NONE
from commscope.parsers.pftrace import numbers
from commscope.parsers.pftrace.interning import MOST_IDS
from commscope.parsers.pftrace.wire import (
    FIXED32,
    FIXED64,
    LENGTH,
    MOST_HEAD_BYTES,
    MOST_NUMBER,
    MOST_VARINT_BYTES,
    VARINT,
)  # fmt: skip

FIXED_SIZES = {FIXED32: 4, FIXED64: 8}
#: No profiler writes as many fields into a packet, an event or an annotation.
_MOST_FIELDS = 256
#: Packets with one of these are read one by one.
_UNSHAPED = frozenset((*numbers.STATEFUL, numbers.CLEARED))
#: Kinds of values, in the order in which they are taken where an event has several.
NUMBER, TEXT, TEXT_ID = range(3)
KINDS = {
    **{(number, VARINT): NUMBER for number in numbers.ANNOTATION_NUMBERS},
    (numbers.ANNOTATION_TEXT, LENGTH): TEXT,
    (numbers.ANNOTATION_TEXT_ID, VARINT): TEXT_ID,
}


@dataclass(frozen=True, slots=True)
class Note:
    """What an annotation tells, but for its value."""

    name_id: int  #: ``NONE`` where the name is written out
    name: str
    kind: int  #: NUMBER, TEXT or TEXT_ID
    tag_bytes: int  #: of the value


@dataclass(frozen=True, slots=True)
class Token:
    """A field: bytes that are the same in all packets of a shape, then its value.

    The former are the tag, and of an annotation its name and the tag of the value, too.
    """

    key: tuple[int, int]  #: number and wire type
    head: tuple[tuple[np.uint64, np.uint64], ...]  #: words of it: bits that count, and these bits
    size: int  #: bytes of the head
    length_at: int = 0  #: where the head tells a length, in how many bytes
    length_bytes: int = 0
    note: Note | None = None  #: null where the field is no annotation that may be of use


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of a packet: those before its event, those of the event, those behind it."""

    before: tuple[Token, ...]
    event: tuple[Token, ...] | None  #: null where the packet holds none
    after: tuple[Token, ...]


def shape_of(packet: bytes) -> Shape | None:
    """The shape of a packet; null for those that are damaged or rarely seen."""
    try:
        return _shape(packet)
    except _NoShapeError:
        return None


class _NoShapeError(Exception):
    """The packet is better read one by one."""


@dataclass(frozen=True, slots=True)
class _Field:
    key: tuple[int, int]
    at: int
    value: int
    end: int


def _shape(packet: bytes) -> Shape:
    fields = list(_fields(packet, 0, len(packet)))
    if any(field.key[0] in _UNSHAPED for field in fields):
        raise _NoShapeError
    events = [row for row, field in enumerate(fields) if field.key[0] == numbers.EVENT]
    tokens = tuple(_token(packet, field) for field in fields)
    if not events:
        return Shape(tokens, None, ())
    if len(events) > 1 or fields[events[0]].key[1] != LENGTH:
        raise _NoShapeError
    [row] = events
    inner = _fields(packet, fields[row].value, fields[row].end)
    event = tuple(_event_token(packet, field) for field in inner)
    return Shape(tokens[: row + 1], event, tokens[row + 1 :])


def _fields(data: bytes, at: int, end: int) -> Iterator[_Field]:
    for _ in range(_MOST_FIELDS):
        if at == end:
            return
        tag, value = _varint(data, at, end)
        # A tag that is longer than it need be ends in an empty byte.
        if not 0 < tag >> 3 <= MOST_NUMBER or data[value - 1] == 0:
            raise _NoShapeError
        size, value = _size(data, tag & 7, value, end)
        if value + size > end:
            raise _NoShapeError
        yield _Field((tag >> 3, tag & 7), at, value, value + size)
        at = value + size
    if at < end:
        raise _NoShapeError


def _size(data: bytes, wire: int, at: int, end: int) -> tuple[int, int]:
    """How many bytes a value takes, and where it begins."""
    if wire == VARINT:
        return _varint(data, at, end)[1] - at, at
    if wire == LENGTH:
        return _varint(data, at, end)
    if wire not in FIXED_SIZES:
        raise _NoShapeError
    return FIXED_SIZES[wire], at


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value = 0
    for place in range(min(end - at, MOST_VARINT_BYTES)):
        byte = data[at + place]
        value |= (byte & 127) << (7 * place)
        if byte < 128:
            return value, at + place + 1
    raise _NoShapeError


def _token(data: bytes, field: _Field, head_end: int | None = None) -> Token:
    """The token of a field, whose head may go on into the value."""
    end = field.value if head_end is None else head_end
    head, mask = bytearray(data[field.at : end]), bytearray(b"\xff" * (end - field.at))
    tag_bytes = _varint(data, field.at, field.end)[1] - field.at
    length_bytes = field.value - field.at - tag_bytes if field.key[1] == LENGTH else 0
    if length_bytes > 2 or len(head) > MOST_HEAD_BYTES:
        raise _NoShapeError
    for at in range(tag_bytes, tag_bytes + length_bytes):
        mask[at] = 0x80
        head[at] &= 0x80
    return Token(field.key, _words(bytes(mask), bytes(head)), len(head), tag_bytes, length_bytes)


def _words(mask: bytes, head: bytes) -> tuple[tuple[np.uint64, np.uint64], ...]:
    size = -(-len(head) // 8) * 8
    words = (np.frombuffer(part.ljust(size, b"\0"), np.uint64) for part in (mask, head))
    return tuple(zip(*words))


def _event_token(data: bytes, field: _Field) -> Token:
    """The token of a field of an event, whose value may be of use if it is an annotation."""
    if field.key != (numbers.ANNOTATION, LENGTH):
        return _token(data, field)
    found = list(_fields(data, field.value, field.end))
    if len(found) != 2:
        raise _NoShapeError
    name, value = found
    note = _note(data, name, value)
    return replace(_token(data, field, value.at + _tag_bytes(data, value)), note=note)


def _tag_bytes(data: bytes, field: _Field) -> int:
    return _varint(data, field.at, field.end)[1] - field.at


def _note(data: bytes, name: _Field, value: _Field) -> Note | None:
    """What an annotation tells, if its value may be of use."""
    if name.key == (numbers.ANNOTATION_NAME, LENGTH):
        name_id, text = NONE, str(data[name.value : name.end], "utf-8", "replace")
    elif name.key == (numbers.ANNOTATION_NAME_ID, VARINT):
        name_id, text = _varint(data, name.value, name.end)[0], ""
        if name_id >= MOST_IDS:
            raise _NoShapeError
    else:
        raise _NoShapeError
    kind = KINDS.get(value.key)
    return None if kind is None else Note(name_id, text, kind, _tag_bytes(data, value))
