"""Texts that a trace writes once and then tells by number, until the sequence begins anew."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from commscope.columns import NONE, Int64

#: Numbers of texts from here on are damage; so an epoch and a number fit one key.
MOST_IDS = 1 << 32


class Interned:
    """Texts by (epoch, number): an epoch is a sequence of packets between two resets."""

    def __init__(self) -> None:
        self._codes: dict[int, int] = {}
        self._keys = np.empty(0, np.int64)
        self._sorted = np.empty(0, np.int64)

    def add(self, epoch: int, texts: Mapping[int, int]) -> None:
        """Texts of an epoch, as codes of words, by their numbers."""
        fitting = {number: code for number, code in texts.items() if number < MOST_IDS}
        self._codes |= {epoch * MOST_IDS + number: code for number, code in fitting.items()}

    def codes(self, epoch: Int64, number: Int64) -> Int64:
        """The code of each text, ``NONE`` where it is not known."""
        if not self._codes:
            return np.full(len(number), NONE, np.int64)
        if len(self._keys) != len(self._codes):
            self._keys = np.array(sorted(self._codes), np.int64)
            self._sorted = np.array([self._codes[key] for key in self._keys.tolist()], np.int64)
        fits = (number >= 0) & (number < MOST_IDS)
        key = np.where(fits, epoch * MOST_IDS + number, -1)
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[place] == key, self._sorted[place], NONE)
