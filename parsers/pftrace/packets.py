"""A trace's bytes, cut into blocks of whole packets.

A trace is nothing but packets, each behind its length; so what follows a damaged length cannot be
found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from commscope.columns import Int64
from commscope.parsers.pftrace.walk import walk


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
            found = walk(data)
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
    found = walk(head)
    count = len(found.starts)
    return not found.is_damaged and (count >= wanted or (count > 0 and found.end == len(head)))
