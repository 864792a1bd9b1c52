"""New names for what is renamed: the same text has the same name everywhere.

All texts are gathered first, then numbered in their order: so names sort as the texts did, and
depend on nothing but the texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from commscope.parsers.sources import natural
from commscope.saved.vocabulary import WORDS

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Numbers that stand for numbers are longer than those that stay.
_FIRST_NUMBER = 10_001
#: A shorter host or user is a word like others, and would be found everywhere.
_LEAST_FOUND = 3


class Names:
    """Names by kind: host1, path1, ...; words get letters, and numbers stay numbers."""

    def __init__(self) -> None:
        self._gathered: dict[str, set[str]] = defaultdict(set)
        self._new: dict[str, dict[str, str]] | None = None

    def of(self, kind: str, text: str) -> str:
        """The name of a text; while they are gathered, the text itself."""
        if self._new is None:
            self._gathered[kind].add(text)
            return text
        return self._new[kind][text]

    def settle(self) -> None:
        """Numbers all that was gathered."""
        self._new = {kind: _numbered(kind, texts) for kind, texts in self._gathered.items()}

    def counts(self) -> dict[str, int]:
        """How many texts of each kind there are."""
        return {kind: len(texts) for kind, texts in sorted(self._gathered.items())}

    def forget_all_but(self, kinds: Sequence[str]) -> None:
        """Begins to gather anew, but for these kinds."""
        for kind in set(self._gathered) - set(kinds):
            del self._gathered[kind]

    def known(self, kind: str) -> re.Pattern[str] | None:
        """What finds the texts of a kind within others, longest first; null without any."""
        found = (t for t in self._gathered[kind] if len(t) >= _LEAST_FOUND)
        return _any_of(frozenset(text for text in found if text.lower() not in WORDS))


@lru_cache(maxsize=16)
def _any_of(texts: frozenset[str]) -> re.Pattern[str] | None:
    if not texts:
        return None
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile(
        rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, longest_first))})(?![A-Za-z0-9])"
    )


def _numbered(kind: str, texts: set[str]) -> dict[str, str]:
    ordered = sorted(texts, key=natural)
    if kind == "number":
        return {text: str(_FIRST_NUMBER + place) for place, text in enumerate(ordered)}
    if kind == "word":
        width = letters_for(len(ordered))
        return {text: f"name{in_letters(place, width)}" for place, text in enumerate(ordered)}
    width = len(str(len(ordered)))
    return {text: f"{kind}{place:0{width}}" for place, text in enumerate(ordered, 1)}


def letters_for(count: int) -> int:
    """How many letters number so many things."""
    width = 1
    while len(_LETTERS) ** width < count:
        width += 1
    return width


def in_letters(number: int, width: int) -> str:
    """A number in letters, of a width: aa, ab, ..."""
    text = ""
    for _ in range(width):
        number, letter = divmod(number, len(_LETTERS))
        text = _LETTERS[letter] + text
    return text
