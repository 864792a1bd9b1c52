"""The names of all events of a run, each once, by number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from commscope.columns import Bool
from commscope.sanitize import shortened

#: Real names of kernels have kilobytes.
MOST_CHARACTERS = 500

Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class NameBook:
    """Names as they are in the trace; they leave through ``shown`` only."""

    texts: tuple[str, ...]

    def shown(self, number: int) -> str:
        """A name, harmless and not too long."""
        return shortened(self.texts[number], MOST_CHARACTERS)

    def matching(self, text: str) -> Bool:
        """Which names hold a text, in upper or lower case."""
        wanted = text.casefold()
        found = (wanted in name.casefold() for name in self.texts)
        return np.fromiter(found, np.bool_, count=len(self.texts))

    def named(self, texts: Collection[str]) -> Bool:
        """Which names are one of these, which are in lower case."""
        found = (name.casefold() in texts for name in self.texts)
        return np.fromiter(found, np.bool_, count=len(self.texts))


@dataclass(slots=True)
class NameCollector:
    """Gathers names while the lanes are built."""

    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """The number of a name."""
        return self._numbers.setdefault(name, len(self._numbers))

    def numbers(self, names: Iterable[str] | Sequence[str]) -> Numbers:
        """The number of each name."""
        return np.array([self.number(name) for name in names], np.uint32)

    def book(self) -> NameBook:
        """All names gathered."""
        return NameBook(tuple(self._numbers))
