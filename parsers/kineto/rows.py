"""Column batches: from decoded events to NumPy columns, and from those to Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64
from commscope.parsers.kineto.decode import Scalar

_ALL_ONES = 2**64 - 1
_TOP = 2**63


class Words(dict[str, int]):
    """Text to code: a new word gets the next number when it is first looked up."""

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self)
        return code

    def encode(self, texts: Sequence[Scalar]) -> Int64:
        """The code of each text."""
        try:
            return np.fromiter(map(self.__getitem__, texts), np.int64, len(texts))  # type: ignore[arg-type]
        except TypeError:  # a list or an object where a word belongs cannot come here
            return self.encode([str(text) for text in texts])


def integers(values: Sequence[Scalar]) -> Int64:
    """Whole numbers of any spelling as int64, ``NONE`` where there is none.

    Ids of 64 bits keep their bits (those from 2**63 on become negative); -1 and all ones are null.
    """
    types = set(map(type, values))
    if types <= {int, type(None)}:
        plain = values if types == {int} else [NONE if v is None else v for v in values]
        try:
            whole = np.fromiter(plain, np.int64, len(values))  # type: ignore[arg-type]
        except OverflowError:
            pass
        else:
            return np.where(whole == -1, NONE, whole)
    return np.array([_integer(value) for value in values], np.int64)


def _integer(value: Scalar) -> int:
    if isinstance(value, str):
        value = _parsed(value)
    if value is None or value != value or value in (_ALL_ONES, -1):  # noqa: PLR0124
        return NONE
    if not -_TOP <= value < 2 * _TOP:
        return NONE
    whole = int(value)
    return whole - 2 * _TOP if whole >= _TOP else whole


def _parsed(text: str) -> int | float | None:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(slots=True)
class Columns:
    """Columns that grow batch by batch; all of one batch have the same length."""

    batches: dict[str, list[Int64]] = field(default_factory=dict)

    def append(self, **columns: Int64) -> None:
        """Adds a batch of rows."""
        for name, values in columns.items():
            self.batches.setdefault(name, []).append(values)

    def __len__(self) -> int:
        return sum(map(len, next(iter(self.batches.values()), [])))

    def column(self, name: str) -> Int64:
        """All rows of a column."""
        return np.concatenate(self.batches.get(name) or [np.empty(0, np.int64)])


def dictionary(rows: Int64, words: Sequence[str]) -> pa.Array:
    """Codes as an Arrow dictionary of only the words in use, ``NONE`` becoming null."""
    used, inverse = np.unique(rows, return_inverse=True)
    known = used != NONE
    position = np.cumsum(known) - 1
    indices = pa.array(position[inverse.reshape(-1)], pa.int32(), mask=~known[inverse.reshape(-1)])
    return pa.DictionaryArray.from_arrays(
        indices, pa.array([words[c] for c in used[known]], pa.string())
    )


def first_known(values: Sequence[Scalar], instead: Sequence[Scalar]) -> Int64:
    """Whole numbers, taken from the second where the first has none."""
    first = integers(values)
    missing = first == NONE
    return np.where(missing, integers(instead), first) if missing.any() else first
