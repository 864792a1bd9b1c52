"""Csv files that are damaged, cut, or written in other ways: nothing is lost in silence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from grouped_files import read_folder
from hypothesis import given
from hypothesis import strategies as st
from logical_rows import EVENT_COLUMNS, rows_of
from logical_trace import three_steps
from one_file import source_of

import commscope
from commscope.errors import CommscopeError, CorruptTrace, FormatError, NoDeviceEvents
from commscope.generator.rocprofv3.csv_files import write_csv
from commscope.parsers.base import Reading
from commscope.parsers.opening import open_session
from commscope.parsers.rocprofv3_csv import RocprofV3CsvParser, table

pytestmark = pytest.mark.long

TRACE = three_steps()
PARSER = RocprofV3CsvParser()
_NAMES = ("kernel_trace", "memory_copy_trace", "hip_api_trace", "agent_info")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the logical trace, by what they hold."""
    folder = write_csv(tmp_path_factory.mktemp("whole"), TRACE)
    return {name: (folder / f"100_{name}.csv").read_bytes() for name in _NAMES}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


def read(folder: Path, text: bytes, name: str = "kernel_trace") -> Reading:
    path = folder / f"100_{name}.csv"
    path.write_bytes(text)
    with open_session():
        [reading] = PARSER.read(source_of(path), lambda done, total: None)
    return reading


def rows(reading: Reading) -> list[dict[str, object]]:
    return rows_of(reading.events, EVENT_COLUMNS)


def lines_of(text: bytes) -> list[bytes]:
    return text.splitlines(keepends=True)


@pytest.mark.parametrize("name", ["kernel_trace", "hip_api_trace", "memory_copy_trace"])
def test_cut_at_every_byte(texts: dict[str, bytes], place: Path, name: str) -> None:
    text = texts[name]
    whole = read(place, text, name)
    header = len(lines_of(text)[0])
    for end in range(header - 1, len(text) + 1):
        reading = read(place, text[:end], name)
        count = text[:end].count(b"\n") - 1 if end >= header else 0
        kept = reading.events.num_rows + reading.host.num_rows
        partly = end > header and text[end - 1 : end] != b"\n"
        # A row that lacks only digits of its last number cannot be told from a whole one.
        assert kept in (count, count + partly)
        if kept == count + partly and partly:
            assert "has no end" in reading.health.notes[0]
        elif partly:
            assert (reading.health.events_lost, reading.health.lacks_events) == (1, True)
            assert reading.health.cut == "the file ends within a line"
        if kept and not partly:
            mine, others = (
                rows_of(r.events, ("name", "start_ns", "dur_ns")) for r in (reading, whole)
            )
            assert all(row in others for row in mine)


def test_cut_within_the_header(texts: dict[str, bytes], place: Path) -> None:
    header = lines_of(texts["kernel_trace"])[0]
    for end in range(1, header.index(b"End_Timestamp") + len(b"End_Timestamp") - 1):
        with pytest.raises(CorruptTrace, match=r"\A100_kernel_trace\.csv: .+\Z"):
            read(place, header[:end])


@given(st.data())
def test_random_bytes_never_lose_a_row_unseen(
    texts: dict[str, bytes], place: Path, data: st.DataObject
) -> None:
    lines = lines_of(texts["kernel_trace"])
    number = data.draw(st.integers(1, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[number]) - 2))
    junk = data.draw(st.binary(max_size=4).filter(lambda junk: b"\n" not in junk))
    lines[number] = lines[number][:at] + junk + lines[number][at + 1 :]
    reading = read(place, b"".join(lines))
    assert reading.events.num_rows + reading.health.events_lost == len(lines) - 1
    assert reading.events.num_rows >= len(lines) - 2
    others = {row["start_ns"] for row in rows(reading)}
    assert len(others & {d.start_ns for d in TRACE.dispatches}) >= len(lines) - 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"KERNEL_DISPATCH", b"KERNEL\0DISPATCH\0"),
        (b"1000000020000", b"x"),
        (b"1000000020000", b""),
        (b"1000000020000", b"99999999999999999999"),
        (b'"KERNEL_DISPATCH",', b""),
        (b'"KERNEL_DISPATCH",', b'"KERNEL_DISPATCH,'),
        (b'"KERNEL_DISPATCH",', b'"KERNEL_DISPATCH",1,'),
    ],
)
def test_a_damaged_row_costs_no_other(
    texts: dict[str, bytes], place: Path, old: bytes, new: bytes
) -> None:
    text = texts["kernel_trace"]
    damaged = text.replace(old, new, 1)
    assert damaged != text
    reading = read(place, damaged)
    lost = reading.health.events_lost
    assert lost <= 1
    assert rows(reading)[-8:] == rows(read(place, text))[-8:]
    assert reading.events.num_rows + lost == 9


def test_invalid_text_in_a_name_is_mended(texts: dict[str, bytes], place: Path) -> None:
    reading = read(place, texts["kernel_trace"].replace(b"Cijk", b"Cij\xff", 1))
    assert (reading.events.num_rows, reading.health.events_lost) == (9, 0)
    assert "Cij\ufffd_" in reading.events.column("name")[0].as_py()


def test_nul_bytes_behind_the_rows(texts: dict[str, bytes], place: Path) -> None:
    reading = read(place, texts["kernel_trace"] + b"\0" * 500)
    assert reading.events.num_rows == 9
    assert (reading.health.events_lost, reading.health.bytes_lost) == (1, 500)
    assert reading.health.lacks_events
    assert reading.health.last_good_ns == TRACE.dispatches[-1].start_ns


def _all_quoted(text: bytes) -> bytes:
    lines = text.decode().splitlines()
    numbers = [",".join(f'"{v}"' if v.isdigit() else v for v in line.split(",")) for line in lines]
    return ("\n".join(numbers) + "\n").encode()


@pytest.mark.parametrize(
    "rewrite",
    [
        _all_quoted,
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b"\n\n"),
        lambda text: text.replace(b"Agent_Id", b"Agent_Id") + b"\n",
        gzip.compress,
    ],
    ids=["quoted", "crlf", "bom", "blank lines", "blank end", "gzip"],
)
def test_other_ways_of_writing_are_the_same(
    texts: dict[str, bytes], place: Path, rewrite: object
) -> None:
    text = texts["kernel_trace"]
    assert callable(rewrite)
    reading = read(place, rewrite(text))
    assert rows(reading) == rows(read(place, text))
    assert not reading.health.is_damaged


@pytest.mark.parametrize("name", ["f(int, float)", 'say ""hi"", twice', "x" * 5000, "a;b\tc"])
def test_names_of_any_kind(texts: dict[str, bytes], place: Path, name: str) -> None:
    gemm = TRACE.dispatches[0].name
    reading = read(place, texts["kernel_trace"].replace(gemm.encode(), name.encode()))
    assert reading.events.column("name")[0].as_py() == name.replace('""', '"')


@pytest.mark.parametrize("block_bytes", [1, 64, 1000])
def test_blocks_of_any_length(
    texts: dict[str, bytes], place: Path, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rows(read(place, texts["kernel_trace"]))
    monkeypatch.setattr(table, "_BLOCK_BYTES", block_bytes)
    assert rows(read(place, texts["kernel_trace"])) == expected


@pytest.mark.parametrize("column", ["Start_Timestamp", "End_Timestamp"])
def test_a_missing_column_is_named(texts: dict[str, bytes], place: Path, column: str) -> None:
    text = texts["kernel_trace"].replace(column.encode(), b"Other", 1)
    with pytest.raises(CorruptTrace, match=rf"100_kernel_trace\.csv: .* lacks the column {column}"):
        read(place, text)


def test_without_sizes_and_ids_these_are_null(texts: dict[str, bytes], place: Path) -> None:
    text = texts["kernel_trace"]
    for column in (b"Grid_Size_X", b"Correlation_Id", b"Queue_Id", b"Stream_Id"):
        text = text.replace(column, b"Other", 1)
    events = read(place, text).events
    for column in ("workgroups", "correlation", "queue", "stream"):
        assert events.column(column).null_count == 9


def test_a_header_alone_is_no_activity(texts: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "a_kernel_trace.csv").write_bytes(lines_of(texts["kernel_trace"])[0])
    with pytest.raises(NoDeviceEvents, match="a_kernel_trace"):
        commscope.load([tmp_path / "a_kernel_trace.csv"])


@pytest.mark.parametrize("text", [b"", b"\n", b"a,b\n1,2\n", b'"Kind","Agent_Id"\n'])
def test_what_is_none_of_them_is_not_taken(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "100_kernel_trace.csv"
    path.write_bytes(text)
    with pytest.raises(FormatError):
        commscope.load([path])


def test_a_file_of_sums_alone_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "100_kernel_stats.csv"
    path.write_text(
        '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"\n'
        '"k",1,2,2.0,100.0,2,2,0.0\n'
    )
    with pytest.raises(CommscopeError, match="sums of calls or kernels, no timeline"):
        commscope.load([path])


def test_a_damaged_companion_is_left_out_and_said(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "nodeA", TRACE)
    calls = folder / "100_hip_api_trace.csv"
    calls.write_bytes(calls.read_bytes().replace(b"End_Timestamp", b"Ende", 1))
    [reading] = read_folder(folder)
    assert reading.events.num_rows == 12
    assert any("100_hip_api_trace.csv" in note for note in reading.health.notes)
    trace = commscope.load([folder])
    assert any("lacks the column End_Timestamp" in note.says for note in trace.notes)


def test_damaged_activities_are_not_said_to_be_none(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "nodeA", TRACE)
    (folder / "100_memory_copy_trace.csv").unlink()
    kernels = folder / "100_kernel_trace.csv"
    kernels.write_bytes(kernels.read_bytes().replace(b"End_Timestamp", b"Ende", 1))
    with pytest.raises(CorruptTrace, match=r"100_kernel_trace\.csv: .* End_Timestamp"):
        commscope.load([folder])


def test_every_file_of_a_process_is_among_the_inputs(tmp_path: Path) -> None:
    trace = commscope.load([write_csv(tmp_path / "nodeA", TRACE)])
    names = ["kernel_trace", "hip_api_trace", "marker_api_trace", "memory_copy_trace", "agent_info"]
    assert [file.file for file in trace.files] == [f"100_{name}.csv" for name in names]
    assert all(file.sha256 and file.rank == 0 for file in trace.files)
    assert [file.events for file in trace.files] == [9, 13, 3, 3, 10]
