"""The logical trace as Kineto, the format of reference, is what all other formats must read as."""

from __future__ import annotations

from pathlib import Path

import pytest
from format_writers.kineto import COPIES, write_kineto
from grouped_files import read_folder
from logical_rows import EVENT_COLUMNS, HOST_COLUMNS, expected_events, expected_host, rows_of
from logical_trace import three_steps

import commscope
from commscope.generator.rocprofv3.csv_files import write_csv
from commscope.generator.rocprofv3.json_document import write_json
from commscope.parsers.host_kinds import runtime_kind
from commscope.parsers.rocprof_names import copy_name

TRACE = three_steps()
_KINDS = {call.name: runtime_kind(call.name) for call in TRACE.calls}
_DIRECTIONS = {name: copy_name(direction) for direction, name in COPIES.items()}
#: Parts of a report that all formats must agree on; the others name files and formats.
_SAME = ("steps", "ranks", "gaps", "collectives", "families", "launch")


def kineto(folder: Path) -> Path:
    folder.mkdir()
    write_kineto(folder / "rank0.json", TRACE)
    return folder


def test_every_row_is_read_back(tmp_path: Path) -> None:
    [reading] = read_folder(kineto(tmp_path / "kineto"))
    rows = rows_of(reading.events, EVENT_COLUMNS)
    named = [row | {"name": _DIRECTIONS.get(str(row["name"]), row["name"])} for row in rows]
    assert named == expected_events(TRACE)
    assert rows_of(reading.host, HOST_COLUMNS) == expected_host(TRACE, _KINDS)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_rocprofv3_gives_the_same_report(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "nodeA"
    if form == "csv":
        write_csv(folder, TRACE)
    else:
        folder.mkdir()
        write_json(folder / "100_results.json", TRACE)
    expected, found = (
        commscope.analyze(commscope.load([path])) for path in (kineto(tmp_path / "k"), folder)
    )
    for name in _SAME:
        assert table_of(found, name) == table_of(expected, name), name


def table_of(report: commscope.Report, name: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = getattr(report, name).arrow.to_pylist()
    return [{key: row[key] for key in row if key not in ("file", "pid", "source")} for row in rows]
