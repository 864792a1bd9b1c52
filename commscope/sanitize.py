"""Text from outside, made harmless: one place for every output."""

from __future__ import annotations

import json
import re
from typing import Any

#: Control characters (with DEL and C1), bidirectional marks, zero-width characters, surrogates, and
#: what no XML may hold.
_HOSTILE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """The text without anything that could steer a terminal or reorder what is read."""
    return _HOSTILE.sub("\ufffd", text)


def json_text(document: Any) -> str:
    """JSON with sorted keys and one line feed at the end, in which nothing steers a terminal.

    Hostile characters are escaped, so that names keep them; a lone surrogate, which no UTF-8 can
    hold, becomes U+FFFD. Raises ValueError on NaN and Infinity.
    """
    text = json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return "".join(f"{_HOSTILE.sub(_escaped, line)}\n" for line in text.split("\n"))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return "\\ufffd" if 0xD800 <= code < 0xE000 else json.dumps(found[0])[1:-1]


def shortened(text: str, width: int) -> str:
    """Harmless text of at most so many characters, with an ellipsis where it was cut."""
    safe = plain(text)
    return safe if len(safe) <= width else safe[: max(width - 1, 0)] + "\u2026"


def shortened_inside(text: str, width: int) -> str:
    """The same, cut in the middle: names that are alike at first may differ at their end."""
    safe = plain(text)
    if len(safe) <= width:
        return safe
    end = (width - 1) // 2
    return f"{safe[: width - 1 - end]}\u2026{safe[len(safe) - end :]}"
