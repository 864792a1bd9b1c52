"""A trace's bytes, cut into blocks of whole packets.

A trace is nothing but packets, each behind its length; so what follows a damaged length cannot be
found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from commscope.columns import Int64

_TAG = 0x0A  # field 1, with a length
#: No packet of a profiler is larger: its buffers are not.
MOST_PACKET_BYTES = 64 << 20
_MOST_LENGTH_BYTES = 5


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes with whole packets, which lie at ``starts`` to ``ends`` of them."""

    data: bytes
    starts: Int64
    ends: Int64


class Packets:
    """Iterates over blocks; ``cut`` then says why the trace ends before its end, or is null."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.cut: str | None = None
        self.bytes_lost = 0
        self._blocks = blocks
        self._taken = 0

    def __iter__(self) -> Iterator[Block]:
        rest = b""
        blocks = iter(self._blocks)
        for block in blocks:
            data = rest + block
            found = _walk(data)
            if len(found.starts):
                yield Block(data, found.starts, found.ends)
            self._taken += found.end
            if found.is_damaged:
                self._give_up(len(data) - found.end + sum(map(len, blocks)))
                return
            rest = data[found.end :]
        if rest:
            self.cut = "the file ends within a packet"
            self.bytes_lost = len(rest)

    def _give_up(self, bytes_lost: int) -> None:
        self.cut = f"what stands at byte {self._taken:,} is no packet"
        self.bytes_lost = bytes_lost


def begins_with_packets(head: bytes, wanted: int) -> bool:
    """Whether the begin of a file is that many packets, or all of it some."""
    found = _walk(head)
    count = len(found.starts)
    return not found.is_damaged and (count >= wanted or (count > 0 and found.end == len(head)))


@dataclass(frozen=True, slots=True)
class _Walk:
    starts: Int64
    ends: Int64
    end: int  #: behind the last whole packet
    is_damaged: bool


def _walk(data: bytes) -> _Walk:
    """Goes from packet to packet, each telling where the next one begins."""
    size, at, damaged = len(data), 0, False
    ends: list[int] = []
    while at + 2 < size:
        if data[at] != _TAG:
            damaged = True
            break
        # Written out for lengths of one and two bytes: this is done for millions of packets.
        length = data[at + 1]
        if length < 128:
            end = at + 2 + length
        elif data[at + 2] < 128:
            end = at + 3 + length - 128 + (data[at + 2] << 7)
        else:
            length, begin = _long(data, at + 1)
            end = begin + length
        if end > size:
            damaged = end > size + MOST_PACKET_BYTES
            break
        ends.append(end)
        at = end
    damaged = damaged or (at < size and data[at] != _TAG)
    behind = np.array(ends, np.int64)
    return _Walk(_starts(data, behind), behind, at, damaged)


def _starts(data: bytes, ends: Int64) -> Int64:
    """Where the packets begin that follow each other up to these ends: behind their lengths."""
    raw = np.frombuffer(data, np.uint8)
    at = np.append(0, ends[:-1])[: len(ends)] + 1
    goes_on = np.ones(len(ends), np.bool_)
    for _ in range(_MOST_LENGTH_BYTES):
        goes_on &= raw[np.minimum(at, len(raw) - 1)] > 127
        at += goes_on
    return np.asarray(at + 1)


def _long(data: bytes, at: int) -> tuple[int, int]:
    """A length of several bytes, and where it ends: behind the data where that is cut in it."""
    length = 0
    for number, byte in enumerate(data[at : at + _MOST_LENGTH_BYTES]):
        length |= (byte & 127) << (7 * number)
        if byte < 128:
            return length, at + number + 1
    is_cut = at + _MOST_LENGTH_BYTES > len(data)
    return (0, len(data) + 1) if is_cut else (len(data) + MOST_PACKET_BYTES + 1, at)
