"""JSON documents of rocprofv3 that are damaged or cut: what is whole is read, the rest counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logical_rows import EVENT_COLUMNS, HOST_COLUMNS, rows_of
from logical_trace import three_steps
from one_file import source_of

from commscope.errors import CorruptTrace
from commscope.generator.rocprofv3.json_document import process_of, write_json
from commscope.parsers.base import Reading
from commscope.parsers.opening import open_session
from commscope.parsers.rocprofv3_json import RocprofV3JsonParser, sections

TRACE = three_steps()
PARSER = RocprofV3JsonParser()
_ROWS = 12 + 13 + 3


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_json(tmp_path_factory.mktemp("whole") / "a.json", TRACE).read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "100_results.json"


def read(path: Path, text: bytes) -> Reading:
    path.write_bytes(text)
    with open_session():
        [reading] = PARSER.read(source_of(path), lambda done, total: None)
    return reading


def rows(reading: Reading) -> list[dict[str, object]]:
    return [*rows_of(reading.events, EVENT_COLUMNS), *rows_of(reading.host, HOST_COLUMNS)]


def _has_whole_record(text: bytes) -> bool:
    """Whether the first dispatch is whole."""
    _, _, records = text.partition(b'"buffer_records":{"kernel_dispatch":[')
    return records.find(b'"stream_id":{"handle":1}}') >= 0


@given(st.data())
def test_cut_anywhere(text: bytes, place: Path, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(text) - 1))
    whole = rows(read(place, text))
    if not _has_whole_record(text[:end]):
        with pytest.raises(CorruptTrace, match=r"\A100_results\.json: "):
            read(place, text[:end])
        return
    reading = read(place, text[:end])
    assert reading.health.lacks_events
    assert reading.health.cut == "the file ends before the document does"
    times = {(row["kind"], row["start_ns"], row["dur_ns"]) for row in whole}
    mine = {(row["kind"], row["start_ns"], row["dur_ns"]) for row in rows(reading)}
    assert mine <= times
    assert reading.health.events_lost <= 1


@given(st.data())
def test_damage_within_a_record_costs_only_that(
    text: bytes, place: Path, data: st.DataObject
) -> None:
    begin = text.rindex(b'"kernel_dispatch":[') + len(b'"kernel_dispatch":[')
    end = text.rindex(b'"hip_api":[')
    at = data.draw(st.integers(begin, end - 3))
    junk = data.draw(st.sampled_from([b"\0", b"\xff", b"x", b'"', b"}", b"{", b",", b"]"]))
    reading = read(place, text[:at] + junk + text[at + 1 :])
    kernels = rows_of(reading.events, ("kind", "name", "start_ns"))
    assert len(kernels) + reading.health.events_lost >= 12 - 1
    assert len(kernels) >= 12 - 2
    assert reading.host.num_rows == 13 + 3


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1000])
def test_blocks_of_any_length(text: bytes, block_bytes: int) -> None:
    blocks = [text[at : at + block_bytes] for at in range(0, len(text), block_bytes)]
    found, whole = sections.Sections(blocks), sections.Sections([text])
    joined: dict[str, bytes] = {}
    for piece in found:
        joined[piece.section] = joined.get(piece.section, b"") + b"," * bool(
            piece.section in joined
        ) + piece.text  # fmt: skip
    assert found.complete
    expected: dict[str, bytes] = {}
    for piece in whole:
        expected[piece.section] = expected.get(piece.section, b"") + b"," * bool(
            piece.section in expected
        ) + piece.text  # fmt: skip
    assert joined == expected


def test_whole_documents_end(text: bytes, place: Path) -> None:
    assert read(place, text).health.cut is None
    assert read(place, text + b"\n\n").health.cut is None
    assert read(place, text[:-1]).health.cut is not None
    assert read(place, text[:-1] + b" \0").health.cut is not None


def test_a_document_without_records_is_whole(place: Path) -> None:
    document = process_of(TRACE)
    document["buffer_records"] = {"kernel_dispatch": [], "hip_api": []}
    reading = read(place, json.dumps({"rocprofiler-sdk-tool": [document]}).encode())
    assert (reading.events.num_rows, reading.health.cut) == (0, None)


def test_sections_that_are_not_known_are_passed_over(text: bytes, place: Path) -> None:
    process = process_of(TRACE)
    process["buffer_records"]["new_api"] = [{"size": 1, "kind": 99, "x": [[1], {"a": "]}"}]}]
    process["later"] = {"kernel_dispatch": []}
    reading = read(place, json.dumps({"rocprofiler-sdk-tool": [process]}).encode())
    assert rows(reading) == rows(read(place, text))


def test_names_that_look_like_the_document(place: Path) -> None:
    name = '"}],"kernel_dispatch":[{"size":1},{"size":2}]}]}'
    document = process_of(TRACE)
    document["kernel_symbols"][0]["formatted_kernel_name"] = name
    text = json.dumps({"rocprofiler-sdk-tool": [document]}).encode()
    reading = read(place, text)
    assert name in reading.events.column("name").to_pylist()
    assert reading.events.num_rows == 12
    assert reading.health.events_read == _ROWS


def test_what_has_no_name_has_its_number(place: Path) -> None:
    document = process_of(TRACE)
    document["kernel_symbols"], document["agents"] = [], []
    document["strings"] = {}
    reading = read(place, json.dumps({"rocprofiler-sdk-tool": [document]}).encode())
    assert "kernel 7" in reading.events.column("name").to_pylist()
    assert set(reading.events.column("device").to_pylist()) == {-1}


def test_values_of_another_kind_are_no_ids(place: Path) -> None:
    document = process_of(TRACE)
    document["metadata"]["pid"] = True
    document["agents"][2]["id"]["handle"] = True
    document["strings"]["marker_api"][0]["key"] = [1]
    reading = read(place, json.dumps({"rocprofiler-sdk-tool": [document]}).encode())
    assert reading.facts.pid is None
    assert reading.health.events_read == _ROWS
