"""Tables from Python values of whatever kind."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from commscope.errors import SchemaError
from commscope.parsers import row_builder
from commscope.parsers.row_builder import RowBuilder
from commscope.schema import TEXT, column

_SCHEMA = pa.schema(
    [
        column("whole", pa.int32(), "", nullable=True),
        column("real", pa.float64(), "", nullable=True),
        column("truth", pa.bool_(), "", nullable=True),
        column("text", TEXT, "", nullable=True),
        column("many", pa.list_(pa.int32()), "", nullable=True),
    ]
)
_GOOD = {"whole": 7, "real": 1.5, "truth": True, "text": "a", "many": [1, 2]}


def values(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    table = RowBuilder(_SCHEMA, "t")
    for row in rows:
        table.add(**row)
    found: list[dict[str, Any]] = table.table().to_pylist()
    return found


def test_values_that_fit_are_kept() -> None:
    assert values(_GOOD, {}) == [_GOOD, dict.fromkeys(_GOOD)]


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("whole", 2**31, None), ("whole", 2**70, None), ("whole", 1.0, None), ("whole", True, None),
        ("whole", "1", None), ("real", float("nan"), None), ("real", float("inf"), None),
        ("real", 10**400, None), ("real", 2**60, 2.0**60), ("real", True, None),
        ("real", "1", None), ("truth", 1, None),
        ("text", 5, None), ("text", "a\ud800b", "a?b"), ("text", b"x", None),
        ("many", [1, 2**40, "x"], [1, None, None]),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_become_null_and_no_others(name: str, value: Any, kept: Any) -> None:
    assert values(_GOOD, {**_GOOD, name: value}) == [_GOOD, {**_GOOD, name: kept}]


def test_many_rows_are_packed_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_builder, "_MOST_ROWS", 3)
    rows = [{**_GOOD, "whole": n, "text": f"t{n % 4}"} for n in range(10)]
    assert values(*rows) == rows


def test_a_null_where_there_must_be_a_value_is_a_fault_of_the_parser() -> None:
    table = RowBuilder(pa.schema([column("whole", pa.int32(), "")]), "t")
    table.add(whole="x")
    assert len(table) == 1
    with pytest.raises(SchemaError, match=r"t.whole: 1 rows are null"):
        table.table()
