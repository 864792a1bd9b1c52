"""The slow way through damaged text: event by event, mending what can be mended.

Damage that real files show, and what is done with it: NaN and Infinity become null; trailing commas
go; bad escapes, raw control characters and quotes inside a string are escaped; bytes that are not
UTF-8 are replaced; values that are missing become null. What still cannot be read is counted.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any


def _text(number: str) -> str:
    return number


#: Numbers stay text (a time stamp must not become a float) and NaN becomes null.
_DECODER = json.JSONDecoder(
    strict=False, parse_float=_text, parse_int=_text, parse_constant=lambda _: None
)
_BAD_JSON = (json.JSONDecodeError, RecursionError)
_SPACE = re.compile(r"[\s,]*")
_NEXT_EVENT = re.compile(r"\}\s*,?\s*(?=\{\s*\")")


@dataclass(slots=True)
class Salvage:
    """What one damaged stretch of text gave."""

    events: list[bytes] = field(default_factory=list)  #: as clean JSON
    repaired: int = 0
    lost: int = 0
    bytes_lost: int = 0
    rest: str | None = None  #: what follows the end of the array, if it ended
    second_document: bool = False  #: ``rest`` begins inside another trace


def event_end(text: bytes) -> int | None:
    """Where the JSON value ends that the text begins with; None if it is damaged or cut."""
    decoded = text.decode("latin-1")  # one character a byte: positions are positions in the bytes
    try:
        return _DECODER.raw_decode(decoded)[1]
    except _BAD_JSON:
        return None


def salvage(chunk: bytes) -> Salvage:
    """Everything that can be read of a chunk of events, up to the end of the array if it is there."""
    text = chunk.decode("utf-8", "replace")
    result, at = Salvage(), _skip_space(text, 0)
    while at < len(text) and result.rest is None:
        at = _skip_space(text, _one_value(text, at, result))
    return result


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _one_value(text: str, at: int, result: Salvage) -> int:
    """Reads the event at a position, or mends it, or gives it up; returns where to go on."""
    if text[at] == "]":
        result.rest = text[at + 1 :]
        return at
    try:
        event, end = _DECODER.raw_decode(text, at)
    except _BAD_JSON:
        return _mend(text, at, result)
    _keep_or_lose(event, text[at:end], result)
    return int(end)


def _keep_or_lose(event: Any, piece: str, result: Salvage) -> None:
    if isinstance(event, dict):
        result.events.append(clean(event))
    else:
        result.lost += 1
        result.bytes_lost += len(piece.encode())


def _mend(text: str, at: int, result: Salvage) -> int:
    found = _NEXT_EVENT.search(text, at)
    end = found.start() + 1 if found else len(text)
    piece = text[at:end]
    if '"traceEvents"' in piece:
        result.rest, result.second_document = text[at:], True
        return at
    event = repaired(piece)
    result.repaired += event is not None
    _keep_or_lose(event, piece, result)
    return end


def clean(event: dict[str, Any]) -> bytes:
    """The event as valid JSON in valid UTF-8: lone surrogates become question marks."""
    return json.dumps(event, ensure_ascii=False).encode("utf-8", "replace")


_STRING = r'("(?:[^"\\]|\\.)*")'
_BARE = re.compile(_STRING + r"|[-+]?\b(?:nan|inf|infinity)\b(?:\([a-z0-9]*\))?", re.I | re.S)
_MISSING = re.compile(_STRING + r"|:(?=\s*[,}\]])", re.S)
_TRAILING_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.S)
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
#: The length is bounded so that hostile text cannot make the search quadratic.
_VALUE = re.compile(
    r'("(?:name|cat|ph)"\s*:\s*")(.{0,4096}?)("\s*(?:,\s*"[A-Za-z_]+"\s*:|\}))', re.DOTALL
)
_LONE_QUOTE = re.compile(r'(?<!\\)"')


def repaired(piece: str) -> Any:
    """The event of a damaged piece of text, or None; the most careful repair comes first."""
    escaped = _ESCAPE.sub(lambda found: found[0] if found[1] else r"\\", piece)
    requoted = _VALUE.sub(_escape_quotes, escaped)
    for candidate in (piece, escaped, requoted):
        mended = _outside(_BARE, _outside(_MISSING, candidate, ":null"), "null")
        try:
            return _DECODER.decode(_outside(_TRAILING_COMMA, mended, ""))
        except _BAD_JSON:
            continue
    return None


def _outside(pattern: re.Pattern[str], piece: str, replacement: str) -> str:
    """Replaces what the pattern finds, leaving strings (its first group) as they are."""
    return pattern.sub(lambda found: found[1] or replacement, piece)


def _escape_quotes(found: re.Match[str]) -> str:
    return found[1] + _LONE_QUOTE.sub(r"\\\"", found[2]) + found[3]
