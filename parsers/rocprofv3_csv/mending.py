"""Row by row through a piece of a table that is damaged."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

_TOP = 1 << 63
_NUMBER = re.compile(r"\s*-?[0-9]{1,19}\s*")


@dataclass(frozen=True, slots=True)
class Mended:
    """What could be read of a damaged piece."""

    rows: pa.Table
    lost: int  #: rows that could not be read
    bytes_lost: int


def mend(text: bytes, names: Sequence[str], types: Mapping[str, pa.DataType]) -> Mended:
    """The rows that have as many values as the header; what is no number is null."""
    good: list[list[str]] = []
    lost = bytes_lost = 0
    for line in text.split(b"\n"):
        if not line.strip(b"\r "):
            continue
        values = _values(line)
        if values is not None and len(values) == len(names):
            good.append(values)
        else:
            lost, bytes_lost = lost + 1, bytes_lost + len(line) + 1
    columns = dict(zip(names, zip(*good))) if good else {}
    arrays = [_array(columns.get(name, ()), kind) for name, kind in types.items()]
    return Mended(pa.table(arrays, names=list(types)), lost, bytes_lost)


def _values(line: bytes) -> list[str] | None:
    try:
        return next(csv.reader([line.decode("utf-8", "replace").rstrip("\r")]), None)
    except csv.Error:
        return None


def _array(values: Iterable[str], kind: pa.DataType) -> pa.Array:
    if pa.types.is_integer(kind):
        return pa.array(_integers(values), kind)
    return pa.array(values, pa.string()).dictionary_encode().cast(kind)


def _integers(values: Iterable[str]) -> Iterator[int | None]:
    for text in values:
        number = int(text) if _NUMBER.fullmatch(text) else _TOP
        yield number if -_TOP <= number < _TOP else None
