"""Text from outside, made harmless: one place for every output."""

from __future__ import annotations

import re

#: Control characters (with DEL and C1), bidirectional marks, zero-width characters, surrogates.
_HOSTILE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """The text without anything that could steer a terminal or reorder what is read."""
    return _HOSTILE.sub("\ufffd", text)


def shortened(text: str, width: int) -> str:
    """Harmless text of at most so many characters, with an ellipsis where it was cut."""
    safe = plain(text)
    return safe if len(safe) <= width else safe[: max(width - 1, 0)] + "\u2026"
