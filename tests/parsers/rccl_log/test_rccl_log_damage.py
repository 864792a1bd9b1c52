"""Logs that are cut, damaged, endless or none at all."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_samples import joined, log_of, read_text, said

from commscope.parsers.opening import Source
from commscope.parsers.rccl_log import LogReader
from commscope.parsers.rccl_log.lines import MAX_LINE_BYTES, Lines

pytestmark = pytest.mark.long

WHOLE = joined(log_of())
OTHER = log_of("nodeB", pid=77, rank=1)


@given(st.integers(0, len(WHOLE)))
def test_cut_anywhere_gives_the_whole_lines_before(end: int) -> None:
    lines = WHOLE[:end].rpartition(b"\n")[0]
    cut = read_text(WHOLE[:end])
    assert said(cut) == said(read_text(lines + b"\n" if lines else b""))
    assert cut.files[0].unended_bytes == end - WHOLE.rfind(b"\n", 0, end) - 1


@given(st.lists(st.integers(0, len(WHOLE)), max_size=5), st.integers(1, 100))
def test_zero_bytes_change_nothing(places: list[int], count: int) -> None:
    text = bytearray(WHOLE)
    for place in sorted(places, reverse=True):
        text[place:place] = bytes(count)
    assert said(read_text(bytes(text))) == said(read_text(WHOLE))


@given(st.data())
def test_two_processes_that_write_by_turns_give_the_union(data: st.DataObject) -> None:
    left, right = list(log_of()), list(OTHER)
    turns = data.draw(st.permutations([True] * len(left) + [False] * len(right)))
    mixed = [(left if turn else right).pop(0) for turn in turns]
    one, two, both = (said(read_text(joined(x))) for x in (log_of(), OTHER, mixed))
    assert both == {name: one[name] + two[name] for name in both}


@given(st.binary(max_size=300), st.integers(0, len(WHOLE)))
def test_bytes_that_are_no_text_are_survived(noise: bytes, place: int) -> None:
    logs = read_text(WHOLE[:place] + noise + WHOLE[place:])
    assert logs.files[0].counts.lines >= WHOLE.count(b"\n")


@given(st.lists(st.sampled_from(WHOLE.split()), max_size=60), st.integers(1, 9))
def test_words_of_a_log_in_any_order_are_survived(words: list[bytes], every: int) -> None:
    text = b"".join(w + (b"\n" if n % every == 0 else b" ") for n, w in enumerate(words, 1))
    counts = read_text(text).files[0].counts
    assert counts.records + counts.unused + counts.torn <= len(words)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count 1024", "count 9" + "9" * 30),
        ("rank 0", "rank -1"),
        ("nranks 2", "nranks 99999999999"),
        ("opCount 1f", "opCount zz"),
        ("opCount 1f", "opCount " + "f" * 40),
        ("total 3.18", "total 3.1.8"),
        ("/-1->", "/99999999999->"),
        ("6.000000", "6.0.0"),
        ("Channel 00/0", "Channel 99999999999/0"),
        ("[2026", "[2026-01-02 \x1b]8;;x"),
    ],
)
def test_numbers_that_no_column_holds_are_survived(old: str, new: str) -> None:
    changed = WHOLE.replace(old.encode(), new.encode())
    assert changed != WHOLE
    assert read_text(changed).tables["VERSIONS"].num_rows == 2


def test_line_without_an_end_takes_bounded_memory() -> None:
    block = b"x" * (1 << 16)
    most = 0
    lines = Lines(block for _ in range(200))
    for _, texts in lines:
        most = max(most, *map(len, texts))
    assert MAX_LINE_BYTES < most <= MAX_LINE_BYTES + len(block)
    assert lines.count == 0


def test_records_inside_an_endless_line_are_found() -> None:
    records = b" ".join(line.encode() for line in log_of() if "via P2P" in line)
    filler = b"." * (MAX_LINE_BYTES + 1) + b" "
    logs = read_text(filler + records + b"\n" + WHOLE)
    assert logs.tables["CHANNELS"].num_rows == 3


def test_empty_file_gives_empty_tables() -> None:
    logs = read_text(b"")
    assert all(not table.num_rows for table in logs.tables.values())


def test_compressed_log_that_is_cut_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(WHOLE * 200)[:-100])
    reader = LogReader()
    file = reader.read(Source(path, label="log.gz"), lambda *_: None)
    assert file.cut
    assert reader.finish().tables["CALLS"].num_rows > 0


@pytest.mark.parametrize("record", ["NCCL_X set by environment to 1", "Using network Socket"])
def test_many_blanks_are_passed_over_once(record: str) -> None:
    """Looked at again from each of them, they would take minutes."""
    line = f"nodeA:10:10 [0] NCCL INFO {record}{' ' * (MAX_LINE_BYTES - 100)}\x01"
    assert read_text(joined([line] * 8)).files[0].counts.lines == 8
