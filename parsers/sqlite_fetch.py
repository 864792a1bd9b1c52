"""Runs a query and gives its columns as NumPy arrays, without an object for each value.

SQLite itself writes the numbers of some thousand rows of a column into one text, which Arrow then
parses: a quarter of the time that rows take as Python objects, and other threads run meanwhile.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64, distinct_of
from commscope.parsers.batches import Columns
from commscope.parsers.integers import integers
from commscope.parsers.words import Words

#: SQLite's and NumPy's cost of a batch is then small, and the rows' memory bounded.
_BATCH_ROWS = 1 << 14
#: Parts of a query with a key, so that no thread waits long for another one's.
_PARTS = 8
_COMMA = ord(",")
_TOP = 2**63 - 1
#: SQL of a column that a table does not have.
_NULL = "NULL"
#: Columns that hold text; all others are numbers.
TEXTS = frozenset({"name", "category", "message", "value"})


@dataclass(frozen=True, slots=True)
class Query:
    """A query: SQL of each column, by its meaning, and of where the rows are.

    ``key`` is a whole number that tells the rows apart and by which they lie in order, where there
    is one: the query can then be split, and numbers alone are fetched fast.
    """

    columns: Mapping[str, str]
    tables: str
    where: str = "1"
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
        """A column of texts as codes of these words, ``NONE`` for null, as ``numbers`` has it."""
        codes = self.numbers(name)
        moved = np.append(words.encode(self.own.spelled), NONE)
        return np.asarray(moved[np.where(codes == NONE, -1, codes)])


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a query with keys above ``after`` up to ``last``; all where it has no key."""

    query: Query
    after: int = NONE
    last: int = _TOP

    @property
    def columns(self) -> Sequence[str]:
        """Meanings of its columns: what the table does not have is not worth the time."""
        return [name for name, sql in self.query.columns.items() if sql != _NULL]

    @property
    def source(self) -> str:
        """SQL of where its rows are."""
        query = self.query
        keys = f"{query.key} > ? AND {query.key} <= ?" if query.key else "? < ?"
        return f"FROM {query.tables} WHERE {keys} AND {query.where}"


def fetch(connection: sqlite3.Connection, query: Query) -> Fetched:
    """The columns of a query."""
    return _fetch_part(connection, _Part(query))


def fetch_all(
    connections: Sequence[sqlite3.Connection], queries: Sequence[Query | None]
) -> list[Fetched]:
    """The columns of each query, nothing for one that is null; with a thread a connection."""
    idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
    for connection in connections:
        idle.put(connection)

    def run(part: _Part) -> Fetched:
        connection = idle.get()
        try:
            return _fetch_part(connection, part)
        finally:
            idle.put(connection)

    parts = [list(_parts(connections[0], query)) if query else [] for query in queries]
    with ThreadPoolExecutor(len(connections), "commscope-sqlite") as threads:
        running = [[threads.submit(run, part) for part in of_query] for of_query in parts]
        return [_joined([one.result() for one in of_query]) for of_query in running]


def _parts(connection: sqlite3.Connection, query: Query) -> Iterator[_Part]:
    if query.key is None:
        yield _Part(query)
        return
    sql = f"SELECT {query.key} FROM {query.tables} ORDER BY {query.key}"
    ends = [connection.execute(f"{sql} {order} LIMIT 1").fetchone() for order in ("ASC", "DESC")]
    if None in ends:
        return
    (low,), (high,) = ends
    if not isinstance(low, int) or not isinstance(high, int):
        raise sqlite3.DatabaseError("rows of a table have no number")
    step = (high - low) // _PARTS + 1
    for after in range(max(low - 1, NONE), high, step):
        yield _Part(query, after, min(after + step, high))


def _joined(parts: Sequence[Fetched]) -> Fetched:
    """The rows of all parts of a query."""
    if len(parts) < 2:
        return parts[0] if parts else Fetched()
    words = Words()
    columns = Columns()
    for part in parts:
        names = part.columns.batches
        columns.append(
            **{
                name: part.texts(name, words) if name in TEXTS else part.columns.column(name)
                for name in names
            }
        )
    return Fetched(columns, words)


def _fetch_part(connection: sqlite3.Connection, part: _Part) -> Fetched:
    found = Fetched(Columns({name: [] for name in part.columns}))
    if part.query.key is None or TEXTS.intersection(part.columns):
        _fetch_rows(connection, part, found)
    else:
        _fetch_numbers(connection, part, found.columns)
    return found


def _fetch_numbers(connection: sqlite3.Connection, part: _Part, found: Columns) -> None:
    names = [f"c{number}" for number in range(len(found.batches))]
    columns = (part.query.columns[name] for name in found.batches)
    inner = ", ".join(f"{sql} AS {name}" for name, sql in zip(names, columns))
    # The cast makes a number of whatever a damaged file holds.
    outer = ", ".join(f"group_concat(CAST(coalesce({name}, {NONE}) AS INTEGER))" for name in names)
    key = part.query.key
    sql = (
        f"SELECT max(k), {outer} FROM (SELECT {key} AS k, {inner} {part.source} "
        f"ORDER BY {key} LIMIT {_BATCH_ROWS})"
    )
    last = part.after
    while True:
        before, (last, *texts) = last, connection.execute(sql, (last, part.last)).fetchone()
        if last is None:
            return
        if last <= before:
            raise sqlite3.DatabaseError("rows of a table are out of order")
        found.append(**{name: _numbers(text.encode()) for name, text in zip(found.batches, texts)})


def _numbers(text: bytes) -> Int64:
    """Whole numbers with commas between, all of which fit 64 bits."""
    commas = np.flatnonzero(np.frombuffer(text, np.uint8) == _COMMA)
    ends = np.append(commas, len(text)) - np.arange(len(commas) + 1)
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    digits = text.translate(None, b",")
    words = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(digits))
    return np.asarray(words.cast(pa.int64()).to_numpy(), np.int64)


def _fetch_rows(connection: sqlite3.Connection, part: _Part, found: Fetched) -> None:
    names = part.columns
    columns = ", ".join(part.query.columns[name] for name in names)
    cursor = connection.execute(f"SELECT {columns} {part.source}", (part.after, part.last))
    while rows := cursor.fetchmany(_BATCH_ROWS):
        batch = zip(names, zip(*rows))
        found.columns.append(**{name: _column(name, of, found.own) for name, of in batch})


def _column(name: str, values: Sequence[Any], words: Words) -> Int64:
    return _texts(values, words) if name in TEXTS else integers(values)


def _texts(values: Sequence[Any], words: Words) -> Int64:
    codes = words.encode(["" if value is None else value for value in values])
    missing = np.fromiter((value is None for value in values), np.bool_, len(values))
    return np.where(missing, NONE, codes)


def named(ids: Int64, texts: Mapping[int, str], words: Words, missing: str) -> Int64:
    """Codes of the words with these ids; one without a text is called by what it is."""
    distinct, place = distinct_of(ids)
    known = [texts.get(key) or _unnamed(missing, key) for key in distinct.tolist()]
    return np.asarray(words.encode(known)[place])


def _unnamed(missing: str, key: int) -> str:
    return missing if key == NONE else f"{missing} {key}"


def mapped(ids: Int64, numbers: Mapping[int, int], missing: int) -> Int64:
    """The number of each id, ``missing`` where there is none."""
    distinct, place = distinct_of(ids)
    found = [numbers.get(key, missing) for key in distinct.tolist()]
    return np.asarray(np.array(found, np.int64)[place])
