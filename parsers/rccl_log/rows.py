"""Rows of a table as whole numbers in one flat array, until they become Arrow columns.

Text is kept once and stands in a row by its number, so a row takes eight bytes a column, however
long a log is.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from struct import Struct

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64, nullable
from commscope.schema import TEXT, conform

#: The largest numbers of columns of 32 and 64 bits.
MOST_32, MOST_64 = 2**31 - 1, 2**63 - 1


class Texts(dict["bytes | None", int]):
    """Text to number: a new text gets the next number when it is first looked up."""

    def __init__(self) -> None:
        super().__init__({None: NONE})

    def __missing__(self, text: bytes | None) -> int:
        code = self[text] = len(self) - 1
        return code

    def words(self) -> list[str]:
        """The text of each number."""
        return [text.decode("utf-8", "replace") for text in self if text is not None]


class Rows:
    """Rows of one table, of the columns of a schema from ``first`` on.

    What is before those columns is told by two numbers of each row: its line and its writer.
    """

    def __init__(self, schema: pa.Schema, first: str) -> None:
        self._texts = Texts()
        self.code = self._texts.__getitem__  #: what stands for a text in a row
        self._fields = list(schema)[schema.get_field_index(first) :]
        self._width = len(self._fields) + 2
        self._pack = Struct(f"{self._width}q").pack
        self._lists: list[list[int | None]] = []
        self.clear()

    def clear(self) -> None:
        """Lets all rows go."""
        self._flat = array("q")
        # Packed numbers are added in an eighth of the time that array.extend takes.
        self._append = self._flat.frombytes

    def add(self, *row: int) -> None:
        """Adds a row: line, writer, and of each column a number, a code or ``NONE``."""
        self._append(self._pack(*row))

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self._flat) // self._width

    def change(self, row: int, column: int, value: int) -> None:
        """Changes a value of a row that was added."""
        self._flat[row * self._width + 2 + column] = value

    def list_code(self, values: list[int | None]) -> int:
        """What stands for a list of numbers in a row."""
        self._lists.append(values)
        return len(self._lists) - 1

    def numbers(self) -> Int64:
        """The rows as they were added."""
        return np.frombuffer(self._flat, np.int64).reshape(-1, self._width)

    def arrays(self) -> dict[str, pa.Array]:
        """The columns of the schema."""
        numbers = self.numbers()
        words = self._texts.words()
        return {
            field.name: self._array(field.type, numbers[:, at], words)
            for at, field in enumerate(self._fields, 2)
        }

    def _array(self, kind: pa.DataType, column: Int64, words: list[str]) -> pa.Array:
        if kind == TEXT:
            return text_array(column, words)
        if pa.types.is_list(kind):
            return pa.array([None if n == NONE else self._lists[n] for n in column.tolist()], kind)
        if pa.types.is_floating(kind):
            values = [None if n == NONE else _finite(words[n]) for n in column.tolist()]
            return pa.array(values, kind)
        return nullable(np.ascontiguousarray(column)).cast(kind)


class RowTable:
    """A table that grows row by row; what is before the columns of its rows is told elsewhere."""

    def __init__(self, schema: pa.Schema, first: str) -> None:
        self.rows = Rows(schema, first)

    def places(self) -> Int64:
        """Where each row was read."""
        return self.rows.numbers()[:, 0]

    def writers(self) -> Int64:
        """The number of who wrote each row."""
        return self.rows.numbers()[:, 1]

    def arrays(self) -> dict[str, pa.Array]:
        """The columns of the rows."""
        return self.rows.arrays()

    def spread(self, arrays: dict[str, pa.Array]) -> dict[str, pa.Array]:
        """The columns of the table, of those of the rows and of who wrote them."""
        return arrays

    def clear(self) -> None:
        """Lets all rows go."""
        self.rows.clear()


def text_array(codes: Int64, words: Sequence[str]) -> pa.Array:
    """A dictionary column of numbers of words, of which only those used are kept."""
    is_null = codes == NONE
    used = np.flatnonzero(np.bincount(codes[~is_null], minlength=len(words)))
    index = np.zeros(len(words) + 1, np.int32)
    index[used] = np.arange(len(used))
    return pa.DictionaryArray.from_arrays(
        pa.array(index[np.where(is_null, len(words), codes)], pa.int32(), mask=is_null),
        pa.array([words[code] for code in used.tolist()], pa.string()),
    )


def without_rank(schema: pa.Schema) -> pa.Schema:
    """The columns that rows hold where the communicator tells the rank."""
    return schema.remove(schema.get_field_index("rank"))


def number(text: bytes | None, most: int = MOST_32) -> int:
    """A number of the log; ``NONE`` where there is none, or none that a column can hold."""
    if text is None or len(text) > 20:
        return NONE
    try:
        value = int(text)
    except ValueError:
        return NONE
    return value if -most <= value <= most else NONE


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def integers(column: pa.Array) -> Int64:
    """A column of whole numbers with ``NONE`` for null."""
    return np.asarray(column.cast(pa.int64()).fill_null(NONE).to_numpy(), np.int64)


def table_of(arrays: dict[str, pa.Array], schema: pa.Schema, name: str) -> pa.Table:
    """The table, held to its schema."""
    ordered = [arrays[column] for column in schema.names]
    return conform(pa.Table.from_arrays(ordered, names=schema.names), schema, name)
