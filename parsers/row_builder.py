"""Rows of small tables, gathered as Python values and checked once they become columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from commscope.parsers.integers import whole_number
from commscope.schema import TEXT, conform

#: Rows are kept as Python values up to this many.
_MOST_ROWS = 1 << 14


class RowBuilder:
    """A table that grows row by row.

    What a column cannot hold becomes null: numbers that are too large or no numbers, text that is
    no text.
    """

    def __init__(self, schema: pa.Schema, name: str) -> None:
        self._schema, self._name = schema, name
        self._rows: list[dict[str, Any]] = []
        self._parts: list[pa.Table] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, **values: Any) -> None:
        """Adds a row; columns that are not named are null."""
        self._rows.append(values)
        self._count += 1
        if len(self._rows) >= _MOST_ROWS:
            self._pack()

    def table(self) -> pa.Table:
        """The rows, held to the schema."""
        self._pack()
        whole = pa.concat_tables(self._parts) if self._parts else self._schema.empty_table()
        return conform(whole.unify_dictionaries().combine_chunks(), self._schema, self._name)

    def _pack(self) -> None:
        if not self._rows:
            return
        arrays = [self._packed(field) for field in self._schema]
        self._parts.append(pa.Table.from_arrays(arrays, names=self._schema.names))
        self._rows.clear()

    def _packed(self, field: pa.Field) -> pa.Array:
        """A column of the rows; text is kept once, however often rows hold it."""
        values = [row.get(field.name) for row in self._rows]
        if field.type == TEXT:
            return _array(values, pa.string()).dictionary_encode()
        return _array(values, field.type)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """The values as they are where all are of the kind, else each for itself."""
    if set(map(type, values)) <= _types_of(kind):
        try:
            array = pa.array(values, kind)
        except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
            array = None
        if array is not None:
            return _finite_only(array) if pa.types.is_floating(kind) else array
    fit = _fit_for(kind)
    return pa.array([None if value is None else fit(value) for value in values], kind)


def _types_of(kind: pa.DataType) -> set[type]:
    nothing = type(None)
    if pa.types.is_boolean(kind):
        return {nothing, bool}
    if pa.types.is_integer(kind):
        return {nothing, int}
    if pa.types.is_floating(kind):
        return {nothing, int, float}
    return {nothing, str} if pa.types.is_string(kind) else {nothing}


def _finite_only(array: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_finite(array), array, pa.scalar(None, array.type))


def _fit_for(kind: pa.DataType) -> Callable[[Any], Any]:
    if pa.types.is_boolean(kind):
        return lambda value: value if isinstance(value, bool) else None
    if pa.types.is_integer(kind):
        return _whole(kind.bit_width)
    if pa.types.is_floating(kind):
        return _finite
    if pa.types.is_list(kind):
        fit = _fit_for(kind.value_type)
        return lambda values: [fit(value) for value in values]
    return valid_text


def _whole(bits: int) -> Callable[[Any], int | None]:
    most = 2 ** (bits - 1) - 1

    def fit(value: Any) -> int | None:
        number = whole_number(value)
        return number if number is not None and -most <= number <= most else None

    return fit


def _finite(value: Any) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def valid_text(value: Any) -> str | None:
    """Valid Unicode: a lone surrogate becomes a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
