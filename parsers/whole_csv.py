"""Columns of a table in CSV that is in memory, with rows that are torn left out and counted."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

Float64 = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
#: A row must fit into a block.
_BLOCK_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Columns:
    """The wanted columns of a file, as bytes, and how many rows could not be read."""

    fields: dict[str, pa.ChunkedArray]
    torn: int

    def numbers(self, name: str) -> Float64:
        """A column as numbers; NaN where it holds none."""
        return _numbers(self.fields[name])

    def lengths(self, begin: str, end: str) -> Float64:
        """Ends less begins, exact where both are whole; NaN unless an end follows its begin."""
        begins, ends = (_whole_or_real(self.fields[name]) for name in (begin, end))
        with np.errstate(invalid="ignore", over="ignore"):
            length = (ends - begins).astype(np.float64)
            return np.where((length > 0) & np.isfinite(length), length, np.nan)


def header(head: bytes) -> list[str]:
    """The names of the columns; none where the first line is no row of a table."""
    line = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].rstrip(b"\r")
    try:
        names = next(csv.reader([line.decode("utf-8", "replace")]), [])
    except csv.Error:
        return []
    return [name.strip() for name in names]


def read_columns(data: bytes, wanted: Iterable[str]) -> Columns:
    """The columns with these names that the file has; of several with one name the first.

    A last line without an end may be cut in a number: it counts as torn.
    """
    names = header(data)
    place = {name: str(number) for number, name in reversed(list(enumerate(names)))}
    chosen = {name: place[name] for name in wanted if name in place}
    begin, end = data.find(b"\n") + 1, data.rfind(b"\n") + 1
    torn = [0 if end == len(data) else 1]
    nothing = {name: pa.chunked_array([], pa.binary()) for name in chosen}
    if begin == end or not chosen:
        return Columns(nothing, torn[0])

    def skip(_row: Any) -> str:
        torn[0] += 1
        return "skip"

    body = pa.py_buffer(memoryview(data)[begin:end])
    table = _parsed(body, len(names), list(chosen.values()), skip)
    if table is None:
        return Columns(nothing, torn[0] + 1)
    return Columns({name: table.column(number) for name, number in chosen.items()}, torn[0])


def _parsed(body: pa.Buffer, width: int, columns: list[str], skip: Any) -> pa.Table | None:
    """The table; null where not even its quotes can be told."""
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(body),
            arrow_csv.ReadOptions(
                column_names=[str(number) for number in range(width)], block_size=_BLOCK_BYTES
            ),
            arrow_csv.ParseOptions(invalid_row_handler=skip),
            arrow_csv.ConvertOptions(
                include_columns=columns, column_types=dict.fromkeys(columns, pa.binary())
            ),
        )
    except pa.ArrowInvalid:
        return None


def coded(column: pa.ChunkedArray) -> tuple[Codes, list[str]]:
    """A column as codes of its distinct words, and these."""
    found = pa.concat_arrays(column.chunks or [pa.array([], pa.binary())]).dictionary_encode()
    return np.asarray(found.indices.to_numpy(), np.int64), words_of(found.dictionary)


def words_of(values: pa.Array) -> list[str]:
    """Bytes as text; what is no UTF-8 becomes U+FFFD."""
    return [value.decode("utf-8", "replace") for value in values.to_pylist()]


def _whole_or_real(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    try:
        return np.asarray(column.cast(pa.string()).cast(pa.int64()).to_numpy())
    except pa.ArrowInvalid:
        return _numbers(column)


def _numbers(column: pa.ChunkedArray) -> Float64:
    filled = pc.if_else(pc.equal(column, b""), pa.scalar(None, pa.binary()), column)
    try:
        values = filled.cast(pa.string()).cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        values = np.array([_number(word) for word in words_of(column)], np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _number(word: str | None) -> float:
    """The number that a word is; NaN where it is none."""
    try:
        return float(word) if word and "_" not in word else math.nan
    except ValueError:
        return math.nan
