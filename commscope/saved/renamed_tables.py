"""Tables with the words of some columns renamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from commscope.columns import Int64, codes, with_column

Rename = Callable[[str], "str | None"]


def text_columns(schema: pa.Schema) -> tuple[list[str], list[str]]:
    """The columns that hold words, and those that hold lists of words."""
    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    lists = [
        field.name
        for field in schema
        if pa.types.is_list(field.type) and pa.types.is_dictionary(field.type.value_type)
    ]
    return words, lists


def renamed(table: pa.Table, columns: Mapping[str, Rename]) -> pa.Table:
    """The table with the words of these columns renamed; words that no row has are gone."""
    for name, rename in columns.items():
        rows, words = codes(table, name)
        used = np.unique(rows[rows >= 0])
        table = _with(table, name, rows, used, [rename(words[code]) for code in used.tolist()])
    return table


def paired(table: pa.Table, key: str, value: str, rename: Callable[[str, str], str]) -> pa.Table:
    """The table with the words of one column renamed as those of another say."""
    keys, key_words = codes(table, key)
    rows, words = codes(table, value)
    pairs, place = np.unique(np.stack((keys, rows)), axis=1, return_inverse=True)
    new = [
        rename(key_words[of], words[code]) if of >= 0 and code >= 0 else None
        for of, code in pairs.T.tolist()
    ]
    return _with(table, value, place.reshape(-1), np.arange(len(new)), new)


def renamed_lists(table: pa.Table, column: str, rename: Rename) -> pa.Table:
    """The table with the words in the lists of a column renamed."""
    lists = [
        None if words is None else [word if word is None else rename(word) for word in words]
        for words in table.column(column).to_pylist()
    ]
    return with_column(table, column, pa.array(lists, table.schema.field(column).type))


def _with(
    table: pa.Table, column: str, rows: Int64, used: Int64, words: list[str | None]
) -> pa.Table:
    """The table with other words in a column: of the codes used, in their order."""
    distinct = pa.array(words, pa.string()).dictionary_encode()
    place = np.full(int(rows.max(initial=-1)) + 2, -1, np.int64)
    place[used] = distinct.indices.fill_null(-1).to_numpy()
    indices = place[rows]  # -1 takes the last, which is none
    coded = pa.array(indices, pa.int32(), mask=indices < 0)
    return with_column(table, column, pa.DictionaryArray.from_arrays(coded, distinct.dictionary))
