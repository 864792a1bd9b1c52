"""Columns of Arrow tables as NumPy arrays, exact in integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
_Number = TypeVar("_Number", bound=np.generic)

#: Stands for null in int64 arrays: no time stamp, id or count of a trace takes this value.
NONE = int(np.iinfo(np.int64).min)


def int64(table: pa.Table, name: str) -> Int64:
    """The column as int64, with ``NONE`` for null (a float array would lose nanoseconds)."""
    column = table.column(name)
    if column.null_count:
        column = column.cast(pa.int64()).fill_null(NONE)
    return np.asarray(column.to_numpy(), dtype=np.int64)


def codes(table: pa.Table, name: str) -> tuple[Int64, list[str]]:
    """A dictionary column as (codes, words): ``words[codes[i]]`` is row i, -1 is null."""
    column = table.column(name).unify_dictionaries()
    if not column.num_chunks:
        return np.empty(0, np.int64), []
    indices = [chunk.indices.cast(pa.int64()).fill_null(-1) for chunk in column.chunks]
    rows = pa.chunked_array(indices, pa.int64()).to_numpy()
    return np.asarray(rows, dtype=np.int64), column.chunk(0).dictionary.to_pylist()


def nullable(values: Int64) -> pa.Array:
    """An int64 array as Arrow, ``NONE`` becoming null."""
    return pa.array(values, pa.int64(), mask=values == NONE)


def with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """The table with one column's values replaced."""
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(index), values)


def at(values: npt.NDArray[_Number], place: Int64, missing: int) -> npt.NDArray[_Number]:
    """The values at these places; ``missing`` where the place is -1, for none."""
    return np.append(values, values.dtype.type(missing))[place]


def distinct_of(values: Int64) -> tuple[Int64, Int64]:
    """The distinct values in order, and the place of each value among them."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if low == high:
        return values[:1], np.zeros(len(values), np.int64)
    if high - low >= len(values):
        distinct, place = np.unique(values, return_inverse=True)
        return distinct, place.reshape(-1)
    # Ids and codes lie close together: a table of them takes a fraction of the time of sorting.
    is_there = np.zeros(high - low + 1, np.bool_)
    is_there[values - low] = True
    return np.flatnonzero(is_there) + low, (np.cumsum(is_there) - 1)[values - low]


def order_of(*keys: Int64) -> Int64:
    """The order by the first key, then the second and so on; fast where the first tells it."""
    order = np.argsort(keys[0], kind="stable")
    ordered = keys[0][order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort(keys[::-1])
    return order


def order_of_codes(values: Int64) -> Int64:
    """A stable order of numbers that are not negative; of small ones in linear time."""
    is_small = not len(values) or values.max() <= np.iinfo(np.uint16).max
    return np.argsort(values.astype(np.uint16) if is_small else values, kind="stable")


def parts(values: Int64) -> Iterator[tuple[int, Int64]]:
    """Each value, in order, with the rows that have it."""
    if len(values) and (values == values[0]).all():
        yield int(values[0]), np.arange(len(values))
        return
    order = np.argsort(values, kind="stable")
    for rows in runs(values[order]):
        yield int(values[order[rows[0]]]), order[rows]


def runs(values: Int64) -> list[Int64]:
    """The rows of each run of equal values, in order."""
    if not len(values):
        return []
    return np.split(np.arange(len(values)), np.flatnonzero(np.diff(values)) + 1)


def flagged(events: pa.Table, flag: int) -> Bool:
    """Which events have any of these bits of ``commscope.schema.Flag``."""
    return np.asarray((np.asarray(events.column("flags").to_numpy()) & flag) != 0)


def where_word(table: pa.Table, name: str, wanted: Callable[[str], object]) -> Bool:
    """Which rows of a dictionary column have a word that is wanted; null never is."""
    rows, words = codes(table, name)
    return at(np.array([bool(wanted(word)) for word in words], np.bool_), rows, missing=False)


def where_equal(table: pa.Table, name: str, word: str) -> Bool:
    """Which rows of a dictionary column have this word."""
    return where_word(table, name, word.__eq__)


def as_text(table: pa.Table) -> pa.Table:
    """The table with its words as plain text, by which Arrow can group."""
    plain = [
        field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(plain))


def arrow_stream(table: pa.Table) -> pa.Buffer:
    """The table as an Arrow stream, compressed, with its dictionaries, chunks and metadata.

    Measured on tables of 350,000 rows it is read as fast as Parquet and a third smaller.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
        sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table)
    return sink.getvalue()
