"""Groups of packets of one shape, found by going through all packets of a block at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from commscope.columns import Bool, Int64
from commscope.parsers.pftrace.packets import Block
from commscope.parsers.pftrace.shapes import FIXED_SIZES, Note, Shape, Token, shape_of
from commscope.parsers.pftrace.wire import LENGTH, VARINT, Wire, Words

#: Fewer packets are read as fast one by one.
_FEW = 200
#: Shapes that are tried in one block and of which there are too few packets.
_MOST_FAILED = 8
#: Shapes that are remembered, and new ones that are looked for in one block: traces have a dozen.
MOST_SHAPES = 64
_TOP_BIT = np.uint64(0x80)


@dataclass(frozen=True, slots=True)
class Spans:
    """Where the values of a field lie, one a packet."""

    starts: Int64
    ends: Int64

    @property
    def most(self) -> int:
        """Bytes of the longest, at least one."""
        return int(np.max(self.ends - self.starts, initial=1))

    def take(self, rows: Int64 | Bool) -> Spans:
        """Some of them."""
        return Spans(self.starts[rows], self.ends[rows])


@dataclass(frozen=True, slots=True)
class Group:
    """Packets of one shape, in order. Of several fields of one number the last counts."""

    packets: Int64  #: their numbers in the block
    has_event: bool
    packet: dict[tuple[int, int], Spans]  #: by number and wire type
    event: dict[tuple[int, int], Spans]
    notes: tuple[tuple[Note, Spans], ...]  #: by kind; all that follows the tag of the value

    @property
    def event_packets(self) -> Int64:
        """The packets that hold an event: all or none."""
        return self.packets if self.has_event else self.packets[:0]


class Grouper:
    """Sorts the packets of blocks by shapes, which it remembers."""

    def __init__(self, few: int = _FEW) -> None:
        self._few = few
        self._known: list[tuple[int, Shape]] = []  # with the packets that had it last

    def sort(self, block: Block, wire: Wire) -> tuple[list[Group], Int64]:
        """The groups of a block, and the packets that are in none."""
        sorting = _Sorting(block, wire, self._few)
        known = [(sorting.take(shape), shape) for _, shape in self._known]
        failed = 0
        for _ in range(MOST_SHAPES):
            if len(sorting.left) < self._few or failed == _MOST_FAILED:
                break
            shape = sorting.shape_of_first()
            count = 0 if shape is None else sorting.take(shape)
            failed += not count
            if shape is not None:
                known.append((count, shape))
        known.sort(key=itemgetter(0), reverse=True)
        self._known = [one for one in known[:MOST_SHAPES] if one[0]]
        return sorting.groups, np.sort(np.concatenate((*sorting.others, sorting.left)))


class _Sorting:
    """The packets of one block, of which fewer and fewer are left."""

    def __init__(self, block: Block, wire: Wire, few: int) -> None:
        self.left = np.arange(len(block.starts))
        self.groups: list[Group] = []
        self.others: list[Int64] = []  #: packets that are in no group
        self._block, self._wire, self._few = block, wire, few

    def take(self, shape: Shape) -> int:
        """Takes the packets of a shape away, if they are not too few; how many they are."""
        if len(self.left) < self._few:
            return 0
        match = _Match(self._block, self._wire, self.left)
        match.go_through(shape)
        taken = match.packets
        if not len(taken):
            return 0
        is_taken = np.zeros(len(self._block.starts), np.bool_)
        is_taken[taken] = True
        self.left = self.left[~is_taken[self.left]]
        if len(taken) < self._few:
            self.others.append(taken)
            return 0
        self.groups.append(match.group(shape))
        return len(taken)

    def shape_of_first(self) -> Shape | None:
        """The shape of the first packet that is left, which is left no more if it has none."""
        first = int(self.left[0])
        block = self._block
        shape = shape_of(block.data[block.starts[first] : block.ends[first]])
        if shape is None:
            self.others.append(self.left[:1])
            self.left = self.left[1:]
        return shape


class _Match:
    """Goes through packets field by field, at once; those of another shape fall out."""

    def __init__(self, block: Block, wire: Wire, packets: Int64) -> None:
        self.packets = packets
        self._wire = wire
        self._at, self._packet_end = block.starts[packets], block.ends[packets]
        self._spans: list[tuple[Token, Int64, Int64]] = []

    def go_through(self, shape: Shape) -> None:
        """Leaves only the packets that have the shape."""
        self._pass(shape.before)
        if shape.event is not None:
            _, begin, _ = self._spans[-1]
            self._at = begin
            self._pass(shape.event)
            event = self._spans[len(shape.before) - 1]
            self._keep(self._at == event[2])
            self._pass(shape.after)
        self._keep(self._at == self._packet_end)

    def group(self, shape: Shape) -> Group:
        """The packets that are left."""
        spans = [(token, Spans(starts, ends)) for token, starts, ends in self._spans]
        behind = len(shape.before) + len(shape.event or ())
        inner = spans[len(shape.before) : behind]
        notes = [(token.note, span) for token, span in inner if token.note]
        return Group(
            packets=self.packets,
            has_event=shape.event is not None,
            packet=_by_key([*spans[: len(shape.before)], *spans[behind:]]),
            event=_by_key(inner),
            notes=tuple(sorted(notes, key=lambda one: one[0].kind)),
        )

    def _pass(self, tokens: Iterable[Token]) -> None:
        for token in tokens:
            words = self._words_of(token)
            start = self._at + token.size
            end = self._end(token, words, start)
            self._spans.append((token, start, end))
            self._at = end

    def _words_of(self, token: Token) -> Words:
        """Leaves only those that go on with the head of a field, and gives its first words."""
        (mask, shared), *others = token.head
        words = self._wire.words(self._at)
        self._keep((words & mask) == shared)
        for place, (mask, shared) in enumerate(others, 1):
            self._keep((self._wire.words(self._at + 8 * place) & mask) == shared)
        return words if len(words) == len(self._at) else self._wire.words(self._at)

    def _end(self, token: Token, words: Words, start: Int64) -> Int64:
        """Where the field ends: perhaps behind the block, where no head follows."""
        if token.key[1] == LENGTH:
            length: Int64 = (words >> np.uint64(8 * token.length_at)).view(np.int64)
            if token.length_bytes == 2:
                length = (length & 0x7F) | (length >> 1 & 0x3F80)
            else:
                length &= 0x7F
            return self._at + (token.length_at + token.length_bytes) + length
        if token.key[1] != VARINT:
            return start + FIXED_SIZES[token.key[1]]
        # Most numbers take one byte, which stands behind the head in the same word.
        goes_on = _TOP_BIT << np.uint64(8 * token.size) if token.size < 8 else None
        if goes_on is not None and not (words & goes_on).any():
            return start + 1
        return start + self._wire.small_sizes(start)

    def _keep(self, fits: Bool) -> None:
        if fits.all():
            return
        rows = np.flatnonzero(fits)
        self.packets, self._at = self.packets[rows], self._at[rows]
        self._packet_end = self._packet_end[rows]
        self._spans = [(token, starts[rows], ends[rows]) for token, starts, ends in self._spans]


def _by_key(spans: Iterable[tuple[Token, Spans]]) -> dict[tuple[int, int], Spans]:
    return {token.key: span for token, span in spans}
