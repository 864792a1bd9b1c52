"""Packets that hold other packets, compressed with deflate or zstd, are replaced by those."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError

from commscope.columns import Int64
from commscope.parsers.pftrace.packets import Block
from commscope.parsers.pftrace.schema import message_class
from commscope.parsers.pftrace.walk import walk

_Packet = message_class("TracePacket")
#: The tags of both fields, with which such a packet begins.
_DEFLATE_TAG, _ZSTD_TAG = b"\x92\x03", b"\xaa\x08"
#: No writer packs more into a packet, nor so tightly; what does is made to fill the memory.
MOST_BYTES, _MOST_RATIO, _FREE_BYTES = 32 << 20, 200, 1 << 20
_BLOCK_BYTES = 4 << 20

_DAMAGED = "damaged"
_TOO_LARGE = "larger than any profiler makes them"


class _UnreadError(Exception):
    """Carries why the packets of a packet are not read."""


class Opened:
    """Iterates over blocks in which no packet is compressed any more."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self.unread: Counter[str] = Counter()  #: compressed packets, by why they are not read
        self.bytes_lost = 0  #: of those, as they are stored
        self._blocks = blocks

    def __iter__(self) -> Iterator[Block]:
        for block in self._blocks:
            rows = _compressed(block)
            if len(rows):
                yield from self._opened(block, rows.tolist())
            else:
                yield block

    def _opened(self, block: Block, rows: list[int]) -> Iterator[Block]:
        begins = np.append(0, block.ends)
        parts: list[bytes] = []
        done, size = 0, 0
        for row in rows:
            plain = block.data[done : begins[row]]
            inside = self._inside(block.data[block.starts[row] : block.ends[row]])
            parts += plain, inside
            size += len(plain) + len(inside)
            done = begins[row + 1]
            if size > _BLOCK_BYTES:
                yield from _blocks_of(parts)
                parts, size = [], 0
        yield from _blocks_of([*parts, block.data[done : begins[-1]]])

    def _inside(self, packet: bytes) -> bytes:
        """The whole packets inside of a packet."""
        try:
            inside = _decompressed(packet)
            found = walk(inside)
            if found.end < len(inside):
                self.unread[_DAMAGED] += 1
                self.bytes_lost += len(inside) - found.end
            return inside[: found.end]
        except _UnreadError as error:
            self.unread[str(error)] += 1
            self.bytes_lost += len(packet)
            return b""


def _compressed(block: Block) -> Int64:
    """The packets that begin with compressed ones."""
    raw = np.frombuffer(block.data, np.uint8)
    rows = np.flatnonzero(block.ends - block.starts > len(_ZSTD_TAG))
    first, second = raw[block.starts[rows]], raw[block.starts[rows] + 1]
    is_one = np.zeros(len(rows), np.bool_)
    for tag in (_DEFLATE_TAG, _ZSTD_TAG):
        is_one |= (first == tag[0]) & (second == tag[1])
    return rows[is_one]


def _blocks_of(parts: list[bytes]) -> Iterator[Block]:
    data = b"".join(parts)
    found = walk(data)
    if len(found.starts):
        yield Block(data, found.starts, found.ends)


def _decompressed(packet: bytes) -> bytes:
    """What is compressed in a packet; raises _UnreadError where that cannot be read."""
    try:
        message = _Packet.FromString(packet)
        stored, zstd = message.compressed_packets, message.zstd_compressed_packets
        most = min(max(_FREE_BYTES, _MOST_RATIO * len(packet)), MOST_BYTES)
        inside = _unzstd(zstd, most) if zstd else _inflated(stored, most)
    except (DecodeError, zlib.error, OSError) as error:
        raise _UnreadError(_DAMAGED) from error
    if len(inside) > most:
        raise _UnreadError(_TOO_LARGE)
    return inside


def _inflated(stored: bytes, most: int) -> bytes:
    decoder = zlib.decompressobj()
    inside = decoder.decompress(stored, most + 1)
    if not decoder.eof and len(inside) <= most:
        raise _UnreadError(_DAMAGED)
    return inside


def _unzstd(stored: bytes, most: int) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(stored), "zstd") as stream:
        return bytes(stream.read(most + 1))
