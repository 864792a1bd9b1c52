"""A file's bytes, cut into chunks that hold whole events, with the document around them.

    { header..., "traceEvents": [ event, event, ... ], trailer... }    or    [ event, event, ... ]

Memory is bounded by one block and one event, whatever the size of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commscope.errors import CorruptTrace
from commscope.parsers.kineto.layout import Layout, find_layout
from commscope.parsers.kineto.tolerant import event_end

_MEBI = 1 << 20
#: A header larger than this is no header of a trace (a group of 10,000 ranks takes 1 MB).
MAX_HEADER_BYTES = 64 * _MEBI
#: Text this long without a boundary between events: the layout has changed.
_RELEARN_BYTES = 1 * _MEBI
#: Text this long without the end of an event is given up.
MAX_EVENT_BYTES = 16 * _MEBI
#: As far back as the key of the array can begin before the end of what was searched.
_OVERLAP_BYTES = 4096

_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[\s*')
_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,4096}\[\s*")


class Chunks:
    """Iterates over byte strings of whole events, without the array's brackets.

    ``header`` is the text before the array, ``layout`` the one to read the current chunk by.
    ``is_final`` says that the current chunk ends where the file does, or where an event would have
    grown too long: then what cannot be read of it is not continued by the next one. Before, the
    begin of an event that goes on may be put back. The last chunk holds the end of the array and
    what follows it.
    """

    def __init__(self, blocks: Iterator[bytes], name: str) -> None:
        self.header = b""
        self.layout: Layout | None = None
        self.is_final = False
        self._blocks = blocks
        self._name = name
        self._text = b""

    def __iter__(self) -> Iterator[bytes]:
        self._skip_header()
        for block in self._blocks:
            self._text += block
            end = self._last_boundary()
            if end:
                self.is_final = end > MAX_EVENT_BYTES
                yield self._take(end)
        if self.layout is None:
            self._learn()
        self.is_final = True
        yield self._take(len(self._text))

    def put_back(self, text: bytes) -> None:
        """Gives back the end of the current chunk, to come again at the begin of the next."""
        self._text = text + self._text

    def remaining(self) -> Iterator[bytes]:
        """The text behind the current chunk."""
        yield self._take(len(self._text))
        yield from self._blocks

    def _take(self, end: int) -> bytes:
        taken, self._text = self._text[:end], self._text[end:]
        return taken

    def _last_boundary(self) -> int:
        """Where the last event ends that is surely whole; 0 if more text is needed."""
        text = self._text
        if self.layout is None or len(text) > _RELEARN_BYTES:
            self._learn()
        if self.layout is not None:
            found = text.rfind(self.layout.separator)
            if found > 0:
                return found + 1
        return len(text) if len(text) > MAX_EVENT_BYTES else 0

    def _learn(self) -> None:
        """Takes the layout from the first event at hand that is whole."""
        text = self._text[:_RELEARN_BYTES].lstrip(b", \r\n\t")
        end = event_end(text)
        self.layout = (find_layout(text, end) if end else None) or self.layout

    def _skip_header(self) -> None:
        """Keeps the header apart, and the text from the first event on."""
        text, searched = bytearray(), 0
        for block in self._blocks:
            text += block
            start = _array_start(text, searched)
            if start is not None:
                self.header, self._text = bytes(text[:start]), bytes(text[start:])
                return
            searched = max(0, len(text) - _OVERLAP_BYTES)
            if len(text) > MAX_HEADER_BYTES:
                break
        raise CorruptTrace(f"{self._name}: {_no_events(text)}")


def _array_start(text: bytearray, searched: int) -> int | None:
    found = _ARRAY.match(text) or _EVENTS.search(text, searched)
    return found.end() if found else None


def _no_events(text: bytearray) -> str:
    if not text.strip():
        white = f" ({len(text):,} bytes of white space)" if text else ""
        return f"the file is empty{white}; record the trace again"
    return (
        f'no "traceEvents" in the first {len(text):,} bytes: the file is cut before its events or '
        "is not a trace; record it again"
    )
