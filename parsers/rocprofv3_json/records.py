"""Records of the document, decoded to what is needed of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from commscope.parsers.rocprofv3_json.sections import Piece

_BETWEEN = re.compile(rb'(?<=\})\s*,\s*(?=\{\s*"size"\s*:)')
#: What follows the last record: the end of its list, and perhaps of the process and the document.
_TAIL = re.compile(rb"\]\s*(?:,|\}\s*\}\s*(?:\]\s*\}|,\s*\{))?\s*\Z")
_BLANK = b", \t\r\n"
_STANDARD = json.JSONDecoder(strict=False)


class Handle(msgspec.Struct, gc=False):
    """The id of an agent, queue or stream."""

    handle: int


class Ids(msgspec.Struct, gc=False):
    """The id that a call shares with what it started."""

    internal: int


class Sizes(msgspec.Struct, gc=False):
    """Work-items along each axis."""

    x: int
    y: int
    z: int


class DispatchInfo(msgspec.Struct, gc=False):
    """What was dispatched, and to which queue."""

    agent_id: Handle
    queue_id: Handle
    kernel_id: int
    workgroup_size: Sizes
    grid_size: Sizes


class Dispatch(msgspec.Struct, gc=False):
    """A kernel."""

    start_timestamp: int
    end_timestamp: int
    correlation_id: Ids
    dispatch_info: DispatchInfo
    stream_id: Handle | None = None


class Copy(msgspec.Struct, gc=False):
    """A copy between agents."""

    kind: int
    operation: int
    start_timestamp: int
    end_timestamp: int
    correlation_id: Ids
    src_agent_id: Handle
    dst_agent_id: Handle
    bytes: int | None = None
    stream_id: Handle | None = None


class Call(msgspec.Struct, gc=False):
    """A call of an API, or a marker."""

    kind: int
    operation: int
    start_timestamp: int
    end_timestamp: int
    correlation_id: Ids
    thread_id: int


class Symbol(msgspec.Struct, gc=False):
    """A kernel's names."""

    kernel_id: int
    formatted_kernel_name: str = ""
    kernel_name: str = ""


Record = TypeVar("Record", Dispatch, Copy, Call, Symbol)


@dataclass(frozen=True, slots=True)
class Decoded(Generic[Record]):
    """Records of a piece, and what of its text could not be read."""

    records: list[Record]
    lost: int = 0
    bytes_lost: int = 0


def decode(piece: Piece, decoder: msgspec.json.Decoder[list[Record]]) -> Decoded[Record]:
    """The records of a piece: all at once, or one by one where that fails."""
    text = (_TAIL.sub(b"", piece.text) if piece.ends else piece.text).strip(_BLANK)
    try:
        return Decoded(decoder.decode(b"[" + text + b"]"))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _one_by_one(text, decoder)


def _one_by_one(text: bytes, decoder: msgspec.json.Decoder[list[Record]]) -> Decoded[Record]:
    found: list[Record] = []
    lost = bytes_lost = 0
    for one in _BETWEEN.split(text):
        record = _decoded(one, decoder) or _decoded(_prefix(one), decoder)
        if record:
            found += record
        else:
            lost, bytes_lost = lost + 1, bytes_lost + len(one)
    return Decoded(found, lost, bytes_lost)


def _decoded(text: bytes, decoder: msgspec.json.Decoder[list[Record]]) -> list[Record]:
    """The record in a list, which is empty where it cannot be read."""
    try:
        return decoder.decode(b"[" + text + b"]")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return []


def _prefix(text: bytes) -> bytes:
    """The value that a text begins with, whatever follows it; empty for none."""
    value = beginning_of(text)
    return b"" if value is None else json.dumps(value).encode()


def beginning_of(text: bytes) -> Any:
    """The value that a text begins with, whatever follows it; null where there is none."""
    try:
        value, _ = _STANDARD.raw_decode(text.decode("utf-8", "replace").lstrip())
        # Lone surrogates may stand in JSON but in no table: they become question marks.
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
