"""Texts as codes: in tables of millions of rows most texts occur many times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from commscope.columns import Int64
from commscope.parsers.integers import Scalar


class Words(dict[str, int]):
    """Text to code: a new word gets the next number when it is first looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.spelled: list[str] = []  #: code to text

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self)
        self.spelled.append(word)
        return code

    def encode(self, texts: Sequence[Scalar]) -> Int64:
        """The code of each text; what is not text is taken as it is printed."""
        words = texts if set(map(type, texts)) <= {str} else [str(text) for text in texts]
        return np.fromiter(map(self.__getitem__, words), np.int64, len(words))  # type: ignore[arg-type]


def dictionary(rows: Int64, words: Sequence[str]) -> pa.Array:
    """Codes as an Arrow dictionary of only the words in use."""
    used, inverse = np.unique(rows, return_inverse=True)
    indices = pa.array(inverse.reshape(-1), pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array([words[c] for c in used], pa.string()))
