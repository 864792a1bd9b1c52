"""Finds the events of a chunk that are needed without decoding the others, in NumPy.

Each ``"ph"`` of the chunk must stand where an event begins, directly behind the file's own
separator. So no damage can hide the begin of an event that is needed in one that is not, and no
text that looks like a separator cuts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from commscope.columns import Bool, Int64
from commscope.parsers.kineto.layout import Layout, Prefix

Words = npt.NDArray[np.uint64]

_KEY = b'"ph"'
_SPACE = b", \r\n\t"
_WORD_BYTES = 8
#: Phases that hold nothing the analysis needs: flows, counters, metadata, instants.
_IS_SKIPPED = np.isin(np.arange(256), list(b"stfMCiInNOD"))
_QUOTE = ord('"')
_CATEGORIES = (b'python_function"', b'cpu_instant_event"', b'overhead"', b'fwdbwd"', b'ac2g"')
_OPERATORS = (b"cpu_op", b"Operator")
#: Operators that are needed all the same.
_NEEDED = (b"record_param_comms", b"ProfilerStep#")
#: An array of objects inside an event: without indentation its commas look like the events' own.
_NESTED = re.compile(rb"\[\s*\{")


@dataclass(frozen=True, slots=True)
class Found:
    """The needed events of a chunk."""

    seen: int  #: events in all
    needed: int
    text: bytes  #: the needed ones, with commas between


class _Text:
    """A chunk whose bytes can be compared at many places at once."""

    def __init__(self, chunk: bytes, reach: int) -> None:
        padded = chunk + bytes(reach + _WORD_BYTES)
        self.bytes = np.frombuffer(padded, np.uint8)
        places = len(padded) - _WORD_BYTES + 1
        self._words: Words = np.ndarray((places,), np.uint64, padded, strides=(1,))

    def find(self, literal: bytes, rare: int) -> Int64:
        """Where the literal stands, in order; its byte at ``rare`` is the one least seen."""
        places: Int64 = np.flatnonzero(self.bytes == literal[rare]) - rare
        places = places[self.bytes[places + rare - 1] == literal[rare - 1]]
        places = places[(places >= 0) & (places < len(self._words))]
        return places[self.has(literal, places)]

    def words(self, places: Int64) -> Words:
        """The eight bytes that begin at each place."""
        return self._words[places]

    def has(self, literal: bytes, places: Int64) -> Bool:
        """At which of the places the literal begins."""
        found = _begin_with(self.words(places), literal)
        for at in range(_WORD_BYTES, len(literal), _WORD_BYTES):
            found &= _begin_with(self.words(places + at), literal[at:])
        return found


def _begin_with(words: Words, literal: bytes) -> Bool:
    """Which words begin with the literal, of which only the first eight bytes count."""
    mask, part = _masked(literal[:_WORD_BYTES])
    found: Bool = (words & mask) == part
    return found


@lru_cache
def _masked(part: bytes) -> tuple[np.uint64, np.uint64]:
    """The bits of a word that the bytes take, and the word that begins with them."""
    both = (b"\xff" * len(part)).ljust(_WORD_BYTES, b"\0") + part.ljust(_WORD_BYTES, b"\0")
    mask, word = np.frombuffer(both, np.uint64)
    return mask, word


def needed_events(chunk: bytes, layout: Layout) -> Found | None:
    """The needed events of a chunk of whole events; None where it is not written as expected."""
    prefix = layout.prefix
    if prefix is None or b"\0" in chunk or not (layout.is_indented or not _NESTED.search(chunk)):
        return None
    text = _Text(chunk, _reach(prefix))
    keys = _keys(text, chunk, layout.separator)
    if keys is None:
        return None
    keep = ~_skippable(text, keys + len(_KEY), prefix)
    starts = keys - (len(layout.separator) - len(_KEY) - layout.separator.index(b"{"))
    ends = np.append(starts[1:] - layout.gap, len(chunk))
    return Found(len(keys), int(keep.sum()), _joined(chunk, starts, ends, keep))


def _reach(prefix: Prefix) -> int:
    """How many bytes behind a key are looked at, at most."""
    words = max(map(len, (*_CATEGORIES, *_OPERATORS))) + _WORD_BYTES
    return len(_KEY + prefix.phase + prefix.category + prefix.name) + words + 1


def _keys(text: _Text, chunk: bytes, separator: bytes) -> Int64 | None:
    """Where each event has its key "ph"; None if one stands elsewhere."""
    keys = text.find(_KEY, rare=_KEY.index(b"h"))
    if not len(keys) or chunk[: keys[0]].translate(None, _SPACE) != b"{":
        return None
    before = keys[1:] + len(_KEY) - len(separator)
    return keys if (before >= 0).all() and text.has(separator, before).all() else None


def _skippable(text: _Text, at: Int64, prefix: Prefix) -> Bool:
    """Which events are surely not needed, by what follows their key "ph"."""
    phase = at + len(prefix.phase)
    is_regular = text.has(prefix.phase, at)
    skip: Bool = is_regular & _IS_SKIPPED[text.bytes[phase]] & (text.bytes[phase + 1] == _QUOTE)
    spans = np.flatnonzero(is_regular & text.has(b"X" + prefix.category, phase))
    skip[spans] = _is_skipped_span(text, phase[spans] + 1 + len(prefix.category), prefix)
    return skip


def _is_skipped_span(text: _Text, category: Int64, prefix: Prefix) -> Bool:
    words = text.words(category)
    skip: Bool = np.zeros(len(words), np.bool_)
    for word in _CATEGORIES:
        skip |= _begin_with(words, word)
    for word in _OPERATORS:
        rows = np.flatnonzero(_begin_with(words, word))
        name = category[rows] + len(word)
        is_regular = text.has(prefix.name, name)
        names = text.words(name + len(prefix.name))
        skip[rows] = is_regular & ~(_begin_with(names, _NEEDED[0]) | _begin_with(names, _NEEDED[1]))
    return skip


def _joined(chunk: bytes, starts: Int64, ends: Int64, keep: Bool) -> bytes:
    """The events to keep, with commas between; neighbours are taken in one piece."""
    padded = np.concatenate(([False], keep, [False]))
    edges = np.flatnonzero(padded[1:] != padded[:-1])  # the first one of a piece, then behind it
    spans = zip(starts[edges[::2]].tolist(), ends[edges[1::2] - 1].tolist())
    return b",".join([chunk[start:end] for start, end in spans])
