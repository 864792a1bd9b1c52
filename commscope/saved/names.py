"""New names for what is renamed: the same text has the same name everywhere.

All texts are gathered first, then numbered in their order: so names sort as the texts did, and
depend on nothing but the texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from commscope.parsers.sources import natural
from commscope.saved.vocabulary import WORDS

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Numbers that stand for numbers are longer than those that stay.
_FIRST_NUMBER = 10_001
#: What is looked for in all texts once it was found in one.
FOUND_AGAIN = ("host", "user")
#: A shorter host or user is a word like others, and would be found everywhere.
_LEAST_FOUND = 3


class Names:
    """Names by kind: host1, path1, ...; words get letters, and numbers stay numbers.

    ``known`` finds the hosts and users within other texts, as they were before this round.
    """

    def __init__(self) -> None:
        self._gathered: dict[str, set[str]] = defaultdict(set)
        self._new: dict[str, dict[str, str]] | None = None
        self.known: Mapping[str, re.Pattern[str]] = {}

    def of(self, kind: str, text: str) -> str:
        """The name of a text; while they are gathered, the text itself."""
        if self._new is None:
            self._gathered[kind].add(text)
            return text
        return self._new[kind][text]

    def settle(self) -> None:
        """Numbers all that was gathered."""
        self.known = self._finders()
        self._new = {kind: _numbered(kind, texts) for kind, texts in self._gathered.items()}

    def counts(self) -> dict[str, int]:
        """How many texts of each kind there are."""
        return {kind: len(texts) for kind, texts in sorted(self._gathered.items())}

    def next_round(self) -> None:
        """Begins to gather anew, but for hosts and users."""
        for kind in set(self._gathered) - set(FOUND_AGAIN):
            del self._gathered[kind]
        self.known = self._finders()

    def _finders(self) -> dict[str, re.Pattern[str]]:
        found = {kind: list(filter(_is_found, self._gathered[kind])) for kind in FOUND_AGAIN}
        return {kind: _any_of(texts) for kind, texts in found.items() if texts}


def _is_found(text: str) -> bool:
    return len(text) >= _LEAST_FOUND and text.lower() not in WORDS


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """What finds any of the texts within others, the longest that is there."""
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
