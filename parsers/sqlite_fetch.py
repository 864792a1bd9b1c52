"""Runs a query and gives its columns as NumPy arrays, without an object for each value.

SQLite itself writes the numbers of some thousand rows of a column into one text, which Arrow then
parses: a quarter of the time that rows take as Python objects, and other threads run meanwhile.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64
from commscope.parsers.kineto.rows import Columns, Words, integers

#: SQLite's and NumPy's cost of a batch is then small, and the rows' memory bounded.
_BATCH_ROWS = 1 << 14
_COMMA = ord(",")
#: Columns that hold text; all others are numbers.
TEXTS = frozenset({"name", "category", "message"})


@dataclass(frozen=True, slots=True)
class Query:
    """A query: SQL of each column, by its meaning, and of what follows them.

    ``key`` is a whole number that tells the rows apart and by which they lie in order, where there
    is one: then all columns are numbers, and nothing follows the tables.
    """

    columns: Mapping[str, str]
    tables: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """The columns of a query, with texts as codes of words of its own."""

    columns: Columns = field(default_factory=Columns)
    own: Words = field(default_factory=Words)

    def __len__(self) -> int:
        return len(self.columns)

    def has(self, name: str) -> bool:
        """Whether there is a column of this name."""
        return name in self.columns.batches

    def numbers(self, name: str) -> Int64:
        """A column of numbers, ``NONE`` for null; all null where there is none."""
        if self.has(name):
            return self.columns.column(name)
        return np.full(len(self), NONE, np.int64)

    def texts(self, name: str, words: Words) -> Int64:
        """A column of texts as codes of these words, ``NONE`` for null."""
        codes = self.columns.column(name)
        moved = np.append(words.encode(list(self.own)), NONE)
        return np.asarray(moved[np.where(codes == NONE, -1, codes)])


def fetch(connection: sqlite3.Connection, query: Query) -> Fetched:
    """The columns of a query."""
    found = Fetched(Columns({name: [] for name in query.columns}))
    if query.key is None:
        _fetch_rows(connection, query, found)
    else:
        _fetch_numbers(connection, query, query.key, found.columns)
    return found


def _fetch_numbers(connection: sqlite3.Connection, query: Query, key: str, found: Columns) -> None:
    names = [f"c{number}" for number in range(len(query.columns))]
    inner = ", ".join(f"{sql} AS {name}" for name, sql in zip(names, query.columns.values()))
    # The cast makes a number of whatever a damaged file holds.
    whole = (f"group_concat(CAST(coalesce({name}, {NONE}) AS INTEGER))" for name in names)
    outer = ", ".join(f"CAST({text} AS BLOB)" for text in whole)
    sql = (
        f"SELECT max(k), {outer} FROM (SELECT {key} AS k, {inner} FROM {query.tables} "
        f"WHERE {key} > ? ORDER BY {key} LIMIT {_BATCH_ROWS})"
    )
    last = NONE
    while True:
        before, (last, *texts) = last, connection.execute(sql, (last,)).fetchone()
        if last is None:
            return
        if last <= before:
            raise sqlite3.DatabaseError("rows of a table are out of order")
        found.append(**{name: _numbers(text) for name, text in zip(query.columns, texts)})


def _numbers(text: bytes) -> Int64:
    """Whole numbers with commas between, all of which fit 64 bits."""
    commas = np.flatnonzero(np.frombuffer(text, np.uint8) == _COMMA)
    ends = np.append(commas, len(text)) - np.arange(len(commas) + 1)
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    digits = text.translate(None, b",")
    words = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(digits))
    return np.asarray(words.cast(pa.int64()).to_numpy(), np.int64)


def _fetch_rows(connection: sqlite3.Connection, query: Query, found: Fetched) -> None:
    cursor = connection.execute(f"SELECT {', '.join(query.columns.values())} FROM {query.tables}")
    while rows := cursor.fetchmany(_BATCH_ROWS):
        columns = zip(query.columns, zip(*rows))
        batch = {name: _column(name, values, found.own) for name, values in columns}
        found.columns.append(**batch)


def _column(name: str, values: Sequence[Any], words: Words) -> Int64:
    return _texts(values, words) if name in TEXTS else integers(values)


def _texts(values: Sequence[Any], words: Words) -> Int64:
    codes = words.encode(["" if value is None else value for value in values])
    missing = np.fromiter((value is None for value in values), np.bool_, len(values))
    return np.where(missing, NONE, codes)


def named(ids: Int64, texts: Mapping[int, str], words: Words, missing: str) -> Int64:
    """Codes of the words with these ids; one without a text is called by what it is."""
    distinct, inverse = np.unique(ids, return_inverse=True)
    known = [texts.get(key) or _unnamed(missing, key) for key in distinct.tolist()]
    return np.asarray(words.encode(known)[inverse.reshape(-1)])


def _unnamed(missing: str, key: int) -> str:
    return missing if key == NONE else f"{missing} {key}"


def mapped(ids: Int64, numbers: Mapping[int, int], missing: int) -> Int64:
    """The number of each id, ``missing`` where there is none."""
    distinct, inverse = np.unique(ids, return_inverse=True)
    found = [numbers.get(key, missing) for key in distinct.tolist()]
    return np.asarray(np.array(found, np.int64)[inverse.reshape(-1)])
