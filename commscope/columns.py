"""Columns of Arrow tables as NumPy arrays, exact in integers."""

from __future__ import annotations

from collections.abc import Callable
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


def at(values: npt.NDArray[_Number], place: Int64, missing: int) -> npt.NDArray[_Number]:
    """The values at these places; ``missing`` where the place is -1, for none."""
    return np.append(values, values.dtype.type(missing))[place]


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
