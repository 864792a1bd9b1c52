"""Columns as pieces of JSON text, all rows at once."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.columns import Bool, Int64

#: Text of so many rows is in memory at once.
BLOCK_ROWS = 1 << 16


def joined(*pieces: pa.Array | str) -> pa.Array:
    """The pieces of each row, one after the other; null where one of them is."""
    return pc.binary_join_element_wise(*pieces, "")


def member(key: str, values: pa.Array) -> pa.Array:
    """A member of an object behind a comma; nothing where the value is null."""
    return pc.fill_null(joined(f', "{key}": ', values), "")


def after_comma(members: pa.Array) -> pa.Array:
    """Members without the comma before the first."""
    return pc.utf8_slice_codeunits(members, 2)


def numbers(table: pa.Table, name: str) -> pa.Array:
    """A column of whole numbers as text."""
    return _one(table.column(name).cast(pa.string()))


def quoted(table: pa.Table, name: str, shown: Callable[[str], str]) -> pa.Array:
    """A column of words as JSON strings, each word written once."""
    words = _one(table.column(name).unify_dictionaries())
    texts = [json.dumps(shown(word)) for word in words.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(words.indices)


def microseconds(ns: Int64, hole: Bool) -> pa.Array:
    """Nanoseconds from 0 on as decimal microseconds, exact; null in holes."""
    whole, rest = np.divmod(ns, 1000)
    decimals = pc.utf8_lpad(pa.array(rest).cast(pa.string()), 3, "0")
    return joined(pa.array(whole, mask=hole).cast(pa.string()), ".", decimals)


def number_lists(table: pa.Table, name: str) -> pa.Array:
    """A column of lists of whole numbers as JSON arrays."""
    lists = _one(table.column(name)).cast(pa.list_(pa.string()))
    return joined("[", pc.binary_join(lists, ", "), "]")


def _one(column: pa.ChunkedArray) -> pa.Array:
    """The column in one piece."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        return whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    return whole
