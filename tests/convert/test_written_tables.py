"""Tables as files: types, units, harmless cells, whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from converted import rows
from small_run import trace as small_trace
from small_run import write_run

import commscope
from commscope import sample_traces
from commscope.convert import chosen_target, tables, write_trace
from commscope.convert.tables import tables_of
from commscope.errors import UsageError
from commscope.schema import TABLES
from commscope.trace import Trace


@pytest.fixture(scope="module")
def sample() -> Trace:
    return commscope.load(sample_traces.path("a2a"))


def _arrow(file: Path) -> pa.Table:
    with pa.OSFile(str(file)) as source:
        return pa.ipc.open_file(source).read_all()


READERS: dict[str, Callable[[Path], pa.Table]] = {"parquet": pq.read_table, "arrow": _arrow}


@pytest.mark.parametrize("style", READERS)
def test_types_units_and_rows_come_back(sample: Trace, style: str, tmp_path: Path) -> None:
    target = chosen_target(tmp_path / "out", style)
    write_trace(sample, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    wanted = tables_of(sample)
    for name, schema in TABLES.items():
        found = READERS[style](target.output / target.file_name(name))
        assert found.schema.equals(schema)
        for field, expected in zip(found.schema, schema):
            assert field.metadata[b"unit"] == expected.metadata[b"unit"]
            assert field.metadata[b"meaning"] == expected.metadata[b"meaning"]
        assert rows(found, name) == rows(wanted[name], name)


def _cells(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def test_csv_holds_every_row(sample: Trace, tmp_path: Path) -> None:
    write_trace(sample, chosen_target(tmp_path / "out", "csv"))
    for name, table in tables_of(sample).items():
        found = _cells(tmp_path / "out" / f"{name.lower()}.csv")
        assert len(found) == table.num_rows
        assert list(found[0]) == table.column_names
    events = _cells(tmp_path / "out" / "events.csv")
    starts = sample.events.column("start_ns").to_pylist()
    assert [int(row["start_ns"]) for row in events] == starts
    assert [row["name"] for row in events] == sample.events.column("name").to_pylist()
    members = _cells(tmp_path / "out" / "collectives.csv")[0]["members"]
    assert members == "0 1"


def test_csv_in_several_batches(
    sample: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trace(sample, chosen_target(tmp_path / "one", "csv"))
    monkeypatch.setattr(tables, "_BATCH_ROWS", 7)
    write_trace(sample, chosen_target(tmp_path / "many", "csv"))
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "many" / file.name).read_bytes()


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-2", "'-2"),
        ("@sum", "'@sum"),
        ("\t=1", "\ufffd=1"),
        (" =1", "' =1"),
        ("a\nb", "a\ufffdb"),
        ('a,"b"', 'a,"b"'),
        ("a=1", "a=1"),
    ],
)
def test_cells_are_harmless(name: str, cell: str, tmp_path: Path) -> None:
    file = tmp_path / "rank0.json"
    file.write_bytes(small_trace(name=name))
    write_trace(commscope.load(file), chosen_target(tmp_path / "out", "csv"))
    assert _cells(tmp_path / "out" / "events.csv")[0]["name"] == cell


def test_folder_that_is_there_keeps_its_other_files(sample: Trace, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "events.parquet").write_text("old")
    write_trace(sample, chosen_target(tmp_path, "parquet"))
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert pq.read_table(tmp_path / "events.parquet").num_rows == sample.events.num_rows
    assert len(list(tmp_path.iterdir())) == 1 + len(TABLES)


@pytest.mark.parametrize("name", ["out", "out.json", "out.json.gz"])
def test_what_fails_leaves_nothing(
    sample: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("commscope.convert.write.write_tables", full)
    monkeypatch.setattr("commscope.convert.write.write_chrome", full)
    with pytest.raises(UsageError, match=r"out.*: cannot be written \(No space left on device\)"):
        write_trace(sample, chosen_target(tmp_path / name, None))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "wanted", "style"),
    [
        ("out", None, "parquet"),
        ("out", "csv", "csv"),
        ("out.json", None, "chrome"),
        ("OUT.JSON.GZ", None, "chrome"),
        ("run.1", "arrow", "arrow"),
    ],
)
def test_format_by_name(name: str, wanted: str | None, style: str) -> None:
    assert chosen_target(Path(name), wanted).format == style


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("out.json", "csv"), ("out.parquet", None), ("out.csv", None), ("out", "chrome")],
)
def test_name_and_format_must_agree(name: str, wanted: str | None) -> None:
    with pytest.raises(UsageError, match=name):
        chosen_target(Path(name), wanted)


def test_written_files_of_a_run_are_named_by_table(tmp_path: Path) -> None:
    write_trace(commscope.load(write_run(tmp_path / "run")), chosen_target(tmp_path / "o", "arrow"))
    names = sorted(path.name for path in (tmp_path / "o").iterdir())
    assert names == sorted(f"{name.lower()}.arrow" for name in TABLES)
