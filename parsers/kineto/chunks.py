"""A file's bytes, cut into chunks that hold whole events, with the document around them.

    { header..., "traceEvents": [ event, event, ... ], trailer... }      or      [ event, event, ... ]

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

_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[\s*')
_ARRAY = re.compile(rb"\s*\[\s*")
_BOM = b"\xef\xbb\xbf"


class Chunks:
    """Iterates over byte strings of whole events, without the array's brackets.

    The last one may hold the end of the array and what follows it. ``header`` is the text before
    the array, ``layout`` the one to read the current chunk by, ``is_last`` whether the file ends
    with the current chunk.
    """

    def __init__(self, blocks: Iterator[bytes], name: str) -> None:
        self._blocks = blocks
        self._name = name
        self.header = b""
        self.layout: Layout | None = None
        self.is_last = False

    def __iter__(self) -> Iterator[bytes]:
        text = self._skip_header()
        for block in self._blocks:
            text += block
            end = self._last_boundary(text)
            if end:
                yield text[:end]
                text = text[end:]
        self.is_last = True
        yield text

    def remaining(self) -> Iterator[bytes]:
        """The blocks that were not iterated over."""
        return self._blocks

    def _last_boundary(self, text: bytes) -> int:
        """Where the last event ends that is surely whole; 0 if more text is needed."""
        if self.layout is None or len(text) > _RELEARN_BYTES:
            self._learn(text)
        if self.layout is not None:
            found = text.rfind(self.layout.separator)
            if found > 0:
                return found + len(self.layout.separator) - 1
        return len(text) if len(text) > MAX_EVENT_BYTES else 0

    def _learn(self, text: bytes) -> None:
        """Takes the layout from text that begins with an event."""
        end = event_end(text)
        self.layout = (find_layout(text, end) if end else None) or self.layout

    def _skip_header(self) -> bytes:
        """The text from the first event on."""
        text = b""
        for block in self._blocks:
            text += block
            start = _array_start(text)
            if start is not None:
                self.header = text[:start]
                return text[start:]
            if len(text) > MAX_HEADER_BYTES:
                break
        raise CorruptTrace(
            f'{self._name}: no "traceEvents" in the first {len(text):,} bytes: the file is cut '
            "before its events or is not a trace; record it again"
        )


def _array_start(text: bytes) -> int | None:
    start = len(_BOM) if text.startswith(_BOM) else 0
    found = _ARRAY.match(text, start) or _EVENTS.search(text, start)
    return found.end() if found else None
