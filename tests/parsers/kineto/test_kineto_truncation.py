"""A trace cut anywhere gives what precedes the cut, or one clear error; the cut is always said."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from builders import LAYOUTS, TraceBuilder, read_bytes
from support import case

from commscope.errors import CorruptTrace
from commscope.parsers.base import Reading

pytestmark = pytest.mark.long

SMALL = TraceBuilder().kernel("a", 1).operator("op", 2).kernel("b }, {", 3).document()


def read(text: bytes, folder: Path, block_bytes: int = 1 << 19) -> Reading | None:
    try:
        return read_bytes(text, folder, block_bytes)
    except CorruptTrace:
        return None


def rows(reading: Reading | None) -> int:
    return reading.health.events_read if reading else 0


@pytest.mark.parametrize("block_bytes", [100, 1 << 19])
@pytest.mark.parametrize("layout", ["torch2", "minified", "root_array"])
def test_every_byte_of_a_small_trace(layout: str, block_bytes: int, tmp_path: Path) -> None:
    text = LAYOUTS[layout](SMALL).rstrip()

    readings = [read(text[:size], tmp_path, block_bytes) for size in range(len(text) + 1)]

    found = list(map(rows, readings))
    assert found == sorted(found)
    assert found[-1] == 3
    assert readings[-1].health.cut is None
    assert all(r.health.cut for r in readings[:-1] if r)
    assert {r.events.num_rows for r in readings if r} == {1, 2}


def test_every_1000th_byte_of_a_real_trace(tmp_path: Path) -> None:
    text = gzip.decompress(case("h200/busbw/rank0.json.gz").read_bytes()).rstrip()

    found = []
    for size in range(0, len(text), 1000):
        reading = read(text[:size], tmp_path, 1 << 16)
        found.append(rows(reading))
        assert reading is None or reading.health.cut == "the file ends before the trace does"

    whole = read(text, tmp_path)
    assert whole is not None
    assert found == sorted(found)
    assert found[-1] <= rows(whole)
    assert whole.health.cut is None


def test_cut_in_the_compressed_file(tmp_path: Path) -> None:
    text = LAYOUTS["torch2"](SMALL)
    packed = gzip.compress(text)

    for size in range(len(packed)):
        reading = read(packed[:size], tmp_path)
        assert reading is None or reading.health.cut == "the gzip data is cut: its end is missing"
