"""Columns that values of annotations are put into, which traces tell as numbers or as texts."""

from __future__ import annotations

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.integers import integers, products
from commscope.parsers.pftrace.scan import Texts
from commscope.parsers.pftrace.state import State
from commscope.parsers.pftrace.used import COLUMNS, SIZES, TEXTS
from commscope.parsers.words import Words


class Filling:
    """The columns of one block; of several values of an event the last one counts."""

    def __init__(self, state: State, words: Words, epoch: Int64) -> None:
        self.epoch = epoch  #: of each event
        self.columns = {name: np.full(len(epoch), NONE, np.int64) for name in COLUMNS}
        self._state, self._words = state, words

    def put_numbers(self, column: str, events: Int64, values: Int64) -> None:
        """Values that are whole numbers."""
        is_text = column in TEXTS
        put = self._words.encode(list(map(str, values.tolist()))) if is_text else values
        self.columns[column][events] = put

    def put_texts(self, column: str, texts: Texts) -> None:
        """Values that are texts; numbers in them are read."""
        self.columns[column][texts.events] = self._meant(column, texts.words)[texts.word]

    def put_ids(self, column: str, events: Int64, ids: Int64) -> None:
        """Values that are texts told by number."""
        if not len(events):
            return
        codes = self._state.texts.codes(self.epoch[events], ids)
        if column not in TEXTS:
            distinct, row = np.unique(codes, return_inverse=True)
            words = self._words.spelled
            texts = ["" if code == NONE else words[code] for code in distinct.tolist()]
            codes = self._meant(column, texts)[row.reshape(-1)]
        self.columns[column][events] = codes

    def _meant(self, column: str, texts: list[str]) -> Int64:
        """What texts mean in a column: themselves, the product of sizes, or a number."""
        if column in TEXTS:
            return self._words.encode(texts)
        if column in SIZES:
            return products([text.encode() for text in texts])
        return integers(texts)
