"""Saved runs that are damaged, incomplete, or made to harm: one clear line each."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import planted
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_files import saved

from commscope import api
from commscope.errors import CommscopeError, CorruptTrace, FormatError
from commscope.parsers.saved import tables
from commscope.parsers.saved.documents import TableStamp
from commscope.parsers.saved.tables import parquet_of, stamp_of, table_in
from commscope.schema import PARSED_EVENTS

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return saved(planted.read(tmp_path / "files"), tmp_path / "run")


def changed(file: Path, change: Change) -> None:
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))


def refused(run: Path, kind: type[CommscopeError] = CorruptTrace) -> str:
    with pytest.raises(kind) as error:
        api.read(run)
    text = str(error.value)
    assert "\n" not in text
    assert text.isprintable()
    return text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(schema="commscope.reading/9"), "not commscope.reading/1"),
        (lambda d: d["tables"].pop("events"), "table of events is missing"),
        (lambda d: d["tables"]["host"].update(rows=7), "rows, not 7"),
        (lambda d: d["reading"]["facts"].update(gpus=[1]), "no saved run can be read from it"),
        (lambda d: d["reading"].pop("health"), "no saved run can be read from it"),
    ],
)
def test_documents(change: Change, says: str, run: Path) -> None:
    for number in (0, 1):
        changed(run / f"{number:04d}.reading.json", change)
    assert says in refused(run)


def test_what_is_missing_is_named(run: Path) -> None:
    for number in (0, 1):
        (run / f"{number:04d}.reading.json").unlink()
    assert "0000.reading.json is missing" in refused(run)


def test_one_of_several_that_is_damaged_is_left_out(run: Path) -> None:
    file = run / "0000.events.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    (note,) = [note for note in api.read(run).notes if note.topic == "damage"]
    assert "0000.events.parquet: it is not as it was written" in note.says


@pytest.mark.parametrize("name", ["run.json", "logs.json"])
def test_manifests(name: str, run: Path) -> None:
    text = (run / name).read_text()
    (run / name).write_text(text[: len(text) // 2])
    assert f"{name}: no saved run can be read from it" in refused(run)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ranks": {"-1": "a"}}, "a rank that cannot be"),
        ({"capture": "some"}, "capture some"),
        ({"steps": "x"}, "--steps x"),
        ({"patterns": {"gems": []}}, "unknown class or family 'gems'"),
    ],
)
def test_options(options: dict[str, Any], says: str, run: Path) -> None:
    changed(run / "run.json", lambda d: d["options"].update(options))
    with pytest.raises(CorruptTrace, match=r"what a saved run was read with") as error:
        api.load(run)
    assert says in str(error.value)


def test_logs_without_a_table(run: Path) -> None:
    (run / "logs.warnings.parquet").unlink()
    assert "logs.warnings.parquet: is missing" in refused(run)


@pytest.mark.parametrize("place", [-1, 99])
def test_rows_that_are_not_there(place: int, run: Path) -> None:
    for number in (0, 1):
        _write_collectives(run, f"{number:04d}", place)
    assert "a collective is of none" in refused(run)


def _write_collectives(run: Path, name: str, place: int) -> None:
    """Collectives that are all of one event."""
    file = run / f"{name}.collectives.parquet"
    table = pq.read_table(file)
    assert table.num_rows
    events = pa.array(np.full(table.num_rows, place))
    data = parquet_of(table.set_column(0, table.schema.field(0), events))
    file.write_bytes(data)
    stamp = {"rows": table.num_rows, "sha256": sha256(data).hexdigest()}
    changed(run / f"{name}.reading.json", lambda d: d["tables"].update(collectives=stamp))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["tables"]["FACTS"].append({"name": 3}),
        lambda d: d["tables"]["FACTS"].append({"value": "x"}),
        lambda d: d["tables"]["LINKS"].append({"src": 5}),
        lambda d: d.update(tables=[]),
        lambda d: d.update(host=["x"]),
    ],
)
def test_topology(change: Change, run: Path) -> None:
    whole = api.read(run).topology
    assert whole is not None
    assert whole.facts
    changed(run / "topology.0000.json", change)
    found = api.read(run)
    assert found.topology is None or not found.topology.facts


def test_another_schema() -> None:
    table = pa.table({"rank": [1]})
    data = parquet_of(table)
    with pytest.raises(CorruptTrace, match="columns are"):
        table_in(data, PARSED_EVENTS, stamp_of(table, data), "x")


def test_columns_of_other_versions() -> None:
    table = PARSED_EVENTS.empty_table()
    older = table.drop_columns(["workgroups"]).append_column("new", pa.nulls(0, pa.int8()))
    data = parquet_of(older)
    assert table_in(data, PARSED_EVENTS, stamp_of(older, data), "x").equals(table)
    lacks = table.drop_columns(["start_ns"])
    data = parquet_of(lacks)
    with pytest.raises(CorruptTrace, match="columns are"):
        table_in(data, PARSED_EVENTS, stamp_of(lacks, data), "x")


def test_too_much_in_too_little() -> None:
    table = pa.table({"rank": np.zeros(9_000_000, np.int8)})
    data = parquet_of(table)
    with pytest.raises(FormatError, match="9,000,000 rows"):
        table_in(data, PARSED_EVENTS, stamp_of(table, data), "x")


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"rank": [1, 2]})
    data = parquet_of(table)
    monkeypatch.setattr(tables, "MOST_ROWS", 1)
    with pytest.raises(FormatError, match="2 rows"):
        table_in(data, PARSED_EVENTS, stamp_of(table, data), "x")


_DATA = parquet_of(PARSED_EVENTS.empty_table())


@settings(max_examples=40)
@given(st.integers(4, len(_DATA) - 1), st.binary(min_size=1, max_size=8))
def test_any_other_bytes(at: int, noise: bytes) -> None:
    data = _DATA[:at] + noise + _DATA[at + len(noise) :]
    stamp = TableStamp(0, sha256(data).hexdigest())
    try:
        table = table_in(data, PARSED_EVENTS, stamp, "x")
    except FormatError as error:
        said = str(error)
    else:
        said = f"x: {table.num_rows} rows"
    assert said.startswith("x: ")
    assert "\n" not in said
