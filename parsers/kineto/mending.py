"""Mends the text of one damaged event so that it becomes JSON."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn


def _text(number: str) -> str:
    return number


def _refuse(constant: str) -> NoReturn:
    raise json.JSONDecodeError(f"{constant} is no JSON", constant, 0)


#: Numbers stay text: a time stamp must not become a float.
STRICT = json.JSONDecoder(parse_float=_text, parse_int=_text, parse_constant=_refuse)
#: Takes raw control characters in strings too, and NaN as null.
DECODER = json.JSONDecoder(
    strict=False, parse_float=_text, parse_int=_text, parse_constant=lambda _: None
)
BAD_JSON = (json.JSONDecodeError, RecursionError)

#: Longer pieces are no events: mending them would cost more than it could win.
_MOST_CHARACTERS = 1 << 17
_STRING = r'("(?:[^"\\]|\\.)*")'
_BARE = re.compile(_STRING + r"|[-+]?\b(?:nan|inf|infinity)\b(?:\([a-z0-9]*\))?", re.I | re.S)
_MISSING = re.compile(_STRING + r"|:(?=\s*[,}\]])", re.S)
_TRAILING_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.S)
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
#: A value with quotes in it ends where another key follows, or else where the object ends. The
#: length is bounded so that hostile text cannot make the search quadratic.
_VALUE = r'("(?:name|cat|ph)"\s*:\s*")(.{0,4096}?)("\s*%s)'
_VALUES = [
    re.compile(_VALUE % end, re.DOTALL)
    for end in (r'(?:,\s*"[A-Za-z_]+"\s*:|\})', r',\s*"[A-Za-z_]+"\s*:')
]
_EVENT = re.compile(r'\{\s*"ph"\s*:')
_LONE_QUOTE = re.compile(r'(?<!\\)"')


def repaired(piece: str) -> Any:
    """The value of a damaged piece of text, or None; the most careful repair comes first."""
    if len(piece) > _MOST_CHARACTERS:
        return None
    escaped = _ESCAPE.sub(lambda found: found[0] if found[1] else r"\\", piece)
    requoted = [value.sub(_escape_quotes, escaped) for value in _VALUES]
    for candidate in dict.fromkeys((piece, escaped, *requoted)):
        mended = _outside(_BARE, _outside(_MISSING, candidate, ":null"), "null")
        try:
            return DECODER.decode(_outside(_TRAILING_COMMA, mended, ""))
        except BAD_JSON:
            continue
    return None


def _outside(pattern: re.Pattern[str], piece: str, replacement: str) -> str:
    """Replaces what the pattern finds, leaving strings (its first group) as they are."""
    return pattern.sub(lambda found: found[1] or replacement, piece)


def _escape_quotes(found: re.Match[str]) -> str:
    if _EVENT.search(found[2]):  # it has run into the next event
        return found[0]
    return found[1] + _LONE_QUOTE.sub(r'\\"', found[2]) + found[3]
