"""A small picture of levels as PNG: one colour, more of it the higher the level."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

#: Level 0 shows nothing; 1 to 15 cover what is behind more and more.
LEVELS = 15
_COLOUR = (217, 96, 26)
_LEAST_OPAQUE, _MOST_OPAQUE = 16, 255


def level_picture(rows: Sequence[Sequence[int]]) -> str:
    """The ``data:`` URI of a picture with a point a level, all rows of one length."""
    height, width = len(rows), len(rows[0])
    header = struct.pack(">IIBBBBB", width, height, 4, 3, 0, 0, 0)
    packed = b"".join(b"\0" + _packed(row) for row in rows)
    parts = (
        (b"IHDR", header),
        (b"PLTE", bytes(_COLOUR * (LEVELS + 1))),
        (b"tRNS", bytes([0, *(opacity(level) for level in range(1, LEVELS + 1))])),
        (b"IDAT", zlib.compress(packed, 9)),
        (b"IEND", b""),
    )
    data = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def opacity(level: int) -> int:
    """How much a level covers, of 255."""
    if not level:
        return 0
    return _LEAST_OPAQUE + (_MOST_OPAQUE - _LEAST_OPAQUE) * (level - 1) // (LEVELS - 1)


def _packed(row: Sequence[int]) -> bytes:
    """Four bits a level, two in a byte."""
    even = [*row, 0] if len(row) % 2 else row
    return bytes(high << 4 | low for high, low in zip(even[::2], even[1::2]))


def _chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)
