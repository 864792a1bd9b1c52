"""Values that no profiler writes: no traceback, and nothing that breaks the tables."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logical_trace import three_steps
from one_file import read_file

import commscope
from commscope.errors import CommscopeError
from commscope.generator.rocprofv3.csv_files import write_csv
from commscope.generator.rocprofv3.json_document import process_of

pytestmark = pytest.mark.long

TRACE = three_steps()
_NUMBERS = st.sampled_from(
    [-1, 0, 1, 2**31, 2**53 + 1, 4 * 10**18, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30]
)
_TEXTS = st.sampled_from(["", "a\x1b[31mb", "\u202e", "x" * 70_000, '",', "\n", "\0", "\ud800"])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


def report_of(path: Path) -> str | None:
    """The report as text and JSON; null where the trace is refused."""
    try:
        report = commscope.analyze(commscope.load([path]))
    except CommscopeError:
        return None
    return report.to_text() + report.to_json()


def _rewritten(path: Path, row: int, column: str, value: object) -> None:
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    rows[row][rows[0].index(column)] = str(value).encode(errors="replace").decode()
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


_COLUMNS = {
    "kernel_trace": (
        *("Agent_Id", "Queue_Id", "Stream_Id", "Kernel_Name", "Correlation_Id", "Grid_Size_X"),
        *("Workgroup_Size_Y", "Start_Timestamp", "End_Timestamp"),
    ),
    "memory_copy_trace": ("Direction", "Source_Agent_Id", "Destination_Agent_Id", "Stream_Id"),
    "hip_api_trace": ("Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id"),
    "agent_info": ("Node_Id", "Logical_Node_Id", "Agent_Type", "Product_Name"),
}


@given(st.data())
def test_csv(place: Path, data: st.DataObject) -> None:
    folder = write_csv(place / "nodeA", TRACE)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(_COLUMNS)))
        column = data.draw(st.sampled_from(_COLUMNS[name]))
        row, value = data.draw(st.integers(1, 3)), data.draw(_NUMBERS | _TEXTS)
        _rewritten(folder / f"100_{name}.csv", row, column, value)
    text = report_of(folder)
    assert text is None or "\x1b" not in text


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document but the whole."""
    if not isinstance(value, (dict, list)):
        return []
    inner = list(value.items() if isinstance(value, dict) else enumerate(value))
    mine = [(*path, key) for key, _ in inner]
    return mine + [place for key, one in inner for place in _places(one, (*path, key))]


def _put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    """Puts a value at a place, if that is still there."""
    *holders, last = path
    for key in holders:
        if not isinstance(document, (dict, list)):
            return
        document = document[key]
    if isinstance(document, (dict, list)):
        document[last] = value


@given(st.data())
def test_json(place: Path, data: st.DataObject) -> None:
    process = process_of(TRACE)
    places = _places(process)
    odd = st.sampled_from([None, [], {}, True, 0.5])
    for _ in range(data.draw(st.integers(1, 3))):
        with suppress(LookupError, TypeError):  # it was replaced together with what held it
            _put(process, data.draw(st.sampled_from(places)), data.draw(_NUMBERS | _TEXTS | odd))
    file = place / "100_results.json"
    file.write_text(json.dumps({"rocprofiler-sdk-tool": [process]}))
    text = report_of(file)
    assert text is None or "\x1b" not in text


def test_lone_surrogates_become_question_marks(place: Path) -> None:
    process = process_of(TRACE)
    process["strings"]["marker_api"][0]["value"] = "step \ud800 0"
    process["agents"][2]["product_name"] = "MI\udfff"
    process["metadata"]["node"]["hostname"] = "node\ud800"
    file = place / "100_results.json"
    file.write_text(json.dumps({"rocprofiler-sdk-tool": [process]}))
    [reading] = read_file(file)
    assert "step ? 0" in reading.host.column("name").to_pylist()
    assert (reading.facts.gpus, reading.facts.host) == ({0: "MI?"}, "node?")
