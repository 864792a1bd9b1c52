"""Cuts the document into its sections, and lists of records into pieces, in bounded memory.

The sections follow each other in the text. Their keys cannot be taken for text in a name, for in
that a quote is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

#: Sections of which the whole is needed at once.
METADATA, AGENTS, NAMES, MESSAGES = "metadata", "agents", "names", "messages"
_WHOLE = (METADATA, AGENTS, NAMES, MESSAGES)
SYMBOLS, DISPATCHES, COPIES = "kernel_symbols", "kernel_dispatch", "memory_copy"
CALLS = ("hip_api", "rccl_api", "marker_api", "hsa_api")
#: Lists of records that begin with their size, which can be decoded piece by piece.
_RECORDS = (SYMBOLS, DISPATCHES, COPIES, *CALLS)
#: Lists of records of the buffers that are passed over.
_UNUSED = (
    *("memory_allocation", "scratch_memory", "rocdecode_api", "rocjpeg_api"),
    *("pc_sample_host_trap", "pc_sample_stochastic", "counter_collection"),
)
_PARTS = (
    *(METADATA, AGENTS, "counters", "strings", "code_objects", SYMBOLS, "host_functions"),
    *("summary", "callback_records", "buffer_records"),
)
#: What the lists of text are, by the keys that they have among the strings.
_STRINGS = {"buffer_records": NAMES, "marker_api": MESSAGES}
_KEYS = "|".join(sorted({*_PARTS, *_RECORDS, *_UNUSED}))
_KEY = re.compile(rf'"({_KEYS})"\s*:\s*([\[{{])'.encode())
#: A list of records ends before the next key: there are few brackets to look at.
_KEY_BEHIND_LIST = re.compile(rb"\][\s,{}]*" + _KEY.pattern)
_BETWEEN = re.compile(rb'\}\s*,\s*(?=\{\s*"size"\s*:)')
#: What the document ends with: a process, the list of them, and itself.
_END = re.compile(rb"\}\s*\]\s*\}\s*\Z")
#: Longer than a key with what follows up to its bracket, and than what the document ends with.
_MARGIN = 4096


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of a section: from behind its bracket, or from behind the piece before."""

    section: str
    text: bytes
    ends: bool  #: the section ends in it, with what follows up to the next one


class Sections:
    """The pieces of a document in order, and then whether it came to its end."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.complete = False
        self._blocks = blocks
        self._section = ""
        self._part = ""
        self._text = b""
        self._searched = 0

    def __iter__(self) -> Iterator[Piece]:
        for block in self._blocks:
            self._text += block
            yield from self._sections()
            yield from self._records()
        self.complete = self._part == "buffer_records" and bool(_END.search(self._text))
        if self._section:
            yield Piece(self._section, self._text, ends=True)

    def _sections(self) -> Iterator[Piece]:
        """The sections that end in the text, which then begins with the one that is open."""
        start = 0
        while key := self._next_key(max(start, self._searched)):
            if self._section:
                yield Piece(self._section, self._text[start : key.start()], ends=True)
            start = key.end()
            self._section = self._entered(key[1].decode(), is_list=key[2] == b"[")
        if not self._section:
            start = max(start, len(self._text) - _MARGIN)
        self._text = self._text[start:]
        self._searched = max(len(self._text) - _MARGIN, 0)

    def _next_key(self, start: int) -> re.Match[bytes] | None:
        pattern = _KEY_BEHIND_LIST if self._section in _RECORDS else _KEY
        return pattern.search(self._text, start)

    def _records(self) -> Iterator[Piece]:
        """The whole records of the section that is open."""
        if self._section not in _RECORDS:
            return
        between = _last(_BETWEEN, self._text)
        if between is not None:
            yield Piece(self._section, self._text[: between.start() + 1], ends=False)
            self._text = self._text[between.end() :]
            self._searched = max(len(self._text) - _MARGIN, 0)

    def _entered(self, key: str, *, is_list: bool) -> str:
        """The section that a key begins; empty for one that is not needed."""
        if self._part == "strings" and is_list and key in (*_STRINGS, "callback_records"):
            return _STRINGS.get(key, "")
        if key in _PARTS and not (self._part == "strings" and key == "counters"):
            self._part = key
        if key in (METADATA, AGENTS, SYMBOLS):
            return key
        return key if key in _RECORDS and self._part == "buffer_records" else ""


def _last(pattern: re.Pattern[bytes], text: bytes) -> re.Match[bytes] | None:
    """The last place where the pattern fits, looked for near the end first."""
    for start in (max(len(text) - _MARGIN, 0), 0):
        *_, last = None, *pattern.finditer(text, start)
        if last is not None:
            return last
    return None
