"""The slow way through damaged text: event by event, mending what can be mended.

Damage that real files show, and what is done with it: NaN and Infinity become null; trailing commas
go; bad escapes, raw control characters and quotes inside a string are escaped; bytes that are not
UTF-8 are replaced; values that are missing become null. What still cannot be read is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from commscope.parsers.kineto.mending import BAD_JSON, DECODER, STRICT, repaired

#: White space, the commas between events, and the zeros of a file whose end was never written.
_SPACE = re.compile(r"[\s,\0]*")
_KEYS = r'"(?:ph|cat|name|pid|tid|ts|dur|args|bp)"'
# White space may be as long as the file: each pattern goes over it once.
_NEXT_EVENT = re.compile(r"\}\s*(?:,\s*)?(?=\{\s*" + _KEYS + ")")
_END_OF_ARRAY = re.compile(r'\}\s*(?:,\s*)?(?=\]\s*(?:,\s*"|\}|\Z))')
_EVENT = re.compile(r'(?P<before>\S)\s*\{\s*"ph"')
_DOCUMENT = '"traceEvents"'
#: Arguments that may be lists.
_LISTS = ("grid", "Process Group Ranks", "In split size", "Out split size")
#: Objects inside a damaged event can look like the next event: as many ends are tried.
_MOST_ENDS = 4
_UNDECODED = re.compile("[\udc80-\udcff]")


@dataclass(slots=True)
class Salvage:
    """What one damaged stretch of text gave."""

    events: list[bytes] = field(default_factory=list)  #: as clean JSON
    repaired: int = 0
    lost: int = 0
    bytes_lost: int = 0
    rest: bytes | None = None  #: what follows the end of the array, if it ended
    joined: bool = False  #: another trace begins in ``rest``, before the array ended
    unread: bytes = b""  #: an event that goes on behind the chunk


def event_end(text: bytes) -> int | None:
    """Where the JSON value ends that the text begins with; None if it is damaged or cut."""
    decoded = text.decode("latin-1")  # one character a byte: positions are positions in the bytes
    try:
        return int(DECODER.raw_decode(decoded)[1])
    except BAD_JSON:
        return None


def salvage(chunk: bytes, separator: bytes, is_final: bool) -> Salvage:
    """Everything that can be read of a chunk of events, up to the end of the array if it is there.

    The separator is the file's own, empty if it is not known. Behind a chunk that is not final
    stands another one: an event that goes on there is left unread.
    """
    stretch = _Stretch(_text(chunk), _text(separator), is_final)
    stretch.read()
    return stretch.found


class _Stretch:
    """Damaged text and how far it was read."""

    def __init__(self, text: str, separator: str, is_final: bool) -> None:
        self.found = Salvage()
        self._text, self._at = text, 0
        self._separator, self._is_final = separator, is_final
        self._has_undecoded = _UNDECODED.search(text) is not None

    def read(self) -> None:
        """Reads event by event until the array or the text ends, or an event goes on behind it."""
        self._skip_space()
        while self._at < len(self._text) and self.found.rest is None and not self.found.unread:
            if self._text[self._at] == "]":
                self._end_array()
            else:
                self._one_event()
            self._skip_space()

    def _skip_space(self) -> None:
        space = _SPACE.match(self._text, self._at)
        if space:
            self._at = space.end()
            self.found.bytes_lost += space.group().count("\0")

    def _end_array(self) -> None:
        """Ends, unless the bracket is debris of a damaged event: then more events follow."""
        event = _EVENT.search(self._text, self._at)
        if event and event["before"] != "[":
            self._lose(event.start() + 1)
        elif not event and not self._is_final and self._separator.endswith('"ph"'):
            self._lose(len(self._text))
        else:
            self.found.rest = _bytes(self._text[self._at + 1 :])

    def _one_event(self) -> None:
        try:
            event, end = STRICT.raw_decode(self._text, self._at)
        except BAD_JSON as error:
            if self._goes_on(error):
                self.found.unread = _bytes(self._text[self._at :])
            else:
                self._mend()
            return
        mended = self._has_undecoded and _UNDECODED.search(self._text, self._at, end) is not None
        self._keep_or_lose(event, end, mended)

    def _goes_on(self, error: Exception) -> bool:
        """Whether the text ends before the event does, and more text may come."""
        if self._is_final or not isinstance(error, json.JSONDecodeError):
            return False
        return error.pos >= len(self._text) or error.msg.startswith("Unterminated string")

    def _mend(self) -> None:
        """Mends the event, or gives it up."""
        ends = list(self._ends())
        document = self._text.find(_DOCUMENT, self._at, ends[0])
        if document >= 0:
            self.found.rest, self.found.joined = _bytes(self._text[self._at :]), True
            return
        for end in ends:
            event = repaired(self._text[self._at : end])
            if event is not None:
                self._keep_or_lose(event, end, True)
                return
        self._lose(ends[0])

    def _next_begin(self) -> int:
        """Where the next thing begins that looks like an event and like no part of one."""
        events = _EVENT.finditer(self._text, self._at)
        begins = (found.start() + 1 for found in events if found["before"] not in "[:")
        return next(begins, len(self._text))

    def _ends(self) -> Iterator[int]:
        """Where the damaged event may end: at the latest at the file's own separator."""
        following = _NEXT_EVENT.finditer(self._text, self._at)
        ends = [found.start() + 1 for found in islice(following, _MOST_ENDS)]
        begin = self._next_begin()
        if not ends or begin < ends[0]:
            closing = _END_OF_ARRAY.finditer(self._text, self._at, begin)
            yield from (found.start() + 1 for found in islice(closing, _MOST_ENDS))
            yield begin
            return
        for end in ends:
            yield end
            if self._separator and self._text.startswith(self._separator, end - 1):
                return
        if len(ends) < _MOST_ENDS:
            yield len(self._text)

    def _keep_or_lose(self, event: Any, end: int, mended: bool) -> None:
        text = clean(event) if isinstance(event, dict) else None
        if text is None:
            self._lose(end)
            return
        self.found.events.append(text)
        self.found.repaired += mended
        self._at = end

    def _lose(self, end: int) -> None:
        self.found.lost += 1
        self.found.bytes_lost += len(_bytes(self._text[self._at : end]))
        self._at = end


def _text(chunk: bytes) -> str:
    return chunk.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def clean(event: dict[str, Any]) -> bytes | None:
    """The event as valid JSON in valid UTF-8, without values of a kind that no key has.

    Lone surrogates become question marks. None where it is nested too deeply to be written.
    """
    plain = {key: value for key, value in event.items() if _is_scalar(value)}
    args = event.get("args")
    plain.pop("args", None)
    if isinstance(args, dict):
        plain["args"] = {
            key: value for key, value in args.items() if _is_scalar(value) or key in _LISTS
        }
    try:
        return json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
    except BAD_JSON:
        return None


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))
