"""What a file of the cache looks like, whatever it keeps.

    magic | hash of all that follows | length of the header | header | body

The header is JSON: the key, and what describes the body.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from commscope.engine.cache_key import CacheKey

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"commscope cache1"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 8
_HEAD_BYTES = len(MAGIC) + _DIGEST_BYTES + _LENGTH_BYTES
#: A header of this length is none: it names files, versions and notes.
_MOST_HEADER_BYTES = 64 << 20


class CorruptEntry(Exception):
    """The bytes are no entry, or not all of one."""


@dataclass(frozen=True, slots=True)
class _Header:
    key: CacheKey
    about: Any


def framed(
    key: CacheKey, about: object, body: Sequence[bytes | pa.Buffer]
) -> list[bytes | pa.Buffer]:
    """The entry, in pieces; ``about`` describes the body. Raises ValueError if it is no JSON."""
    plain = msgspec.to_builtins(_Header(key, about), str_keys=True)
    header = json.dumps(plain).encode()
    pieces = [len(header).to_bytes(_LENGTH_BYTES, "little"), header, *body]
    return [MAGIC, _digest(pieces), *pieces]


def unframed(data: bytes, key: CacheKey) -> tuple[Any, memoryview] | None:
    """What describes the body, and the body; null of another key. Raises CorruptEntry."""
    start = len(MAGIC) + _DIGEST_BYTES
    whole = memoryview(data)
    if data[: len(MAGIC)] != MAGIC or _digest([whole[start:]]) != data[len(MAGIC) : start]:
        raise CorruptEntry("it is cut or damaged")
    at = _HEAD_BYTES + int.from_bytes(data[start:_HEAD_BYTES], "little")
    header = _header(data[_HEAD_BYTES:at])
    return (header.about, whole[at:]) if header.key == key else None


def key_in(file: BinaryIO) -> CacheKey:
    """The key of an entry, without reading its body; raises CorruptEntry."""
    head = file.read(_HEAD_BYTES)
    size = int.from_bytes(head[-_LENGTH_BYTES:], "little")
    if len(head) < _HEAD_BYTES or not head.startswith(MAGIC) or size > _MOST_HEADER_BYTES:
        raise CorruptEntry("it does not begin as an entry does")
    return _header(file.read(size)).key


def _header(text: bytes) -> _Header:
    try:
        return msgspec.convert(json.loads(text), _Header, str_keys=True)
    except (ValueError, msgspec.MsgspecError) as error:  # ValueError: of JSON and of UTF-8
        raise CorruptEntry(str(error)) from error


def _digest(pieces: Sequence[bytes | memoryview | pa.Buffer]) -> bytes:
    found = blake2b(digest_size=_DIGEST_BYTES)
    for piece in pieces:
        found.update(piece)
    return found.digest()
