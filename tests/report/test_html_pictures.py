"""Pictures of the HTML report: bars, the map of ranks and steps, ticks, and the size of it all."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import commscope
from commscope import sample_traces
from commscope.generator import Job, Straggler, scenarios, simulate, write_traces
from commscope.report.html import render
from commscope.report.html.axis import name_ticks, time_ticks
from commscope.report.html.heat import heat
from commscope.report.html.png import LEVELS, level_picture
from commscope.report.html.step_bars import MOST_BARS, bars, shown_steps
from commscope.report.html.step_picture import step_picture
from commscope.report.model import ReportTable

_PARTS = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")


@pytest.fixture(scope="module")
def eight(tmp_path_factory) -> commscope.Report:
    """Eight ranks, rank 5 late by 3 ms in each of four steps."""
    folder = tmp_path_factory.mktemp("eight")
    job = Job(ranks=8, steps=4, jitter_ns=100_000, stragglers=(Straggler(5, 3_000_000),))
    write_traces(simulate(scenarios.ddp(job)), folder)
    return commscope.analyze(commscope.load(folder))


def long_run(report: commscope.Report, steps: int) -> commscope.Report:
    """The report as if the run had so many steps, each of other lengths."""
    random = np.random.default_rng(7)
    is_second = np.asarray(report.steps.arrow["step"]) == 1
    rows = np.tile(np.flatnonzero(is_second), steps)
    columns = {name: random.integers(1, 10**7, len(rows)) for name in _PARTS}
    columns["window_ns"] = sum(columns.values())
    columns["step"] = np.repeat(np.arange(steps), is_second.sum())
    table = report.steps.arrow.take(pa.array(rows))
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return replace(report, steps=ReportTable(table))


def test_eight_ranks_and_500_steps_fit_200_kb(eight):
    text = render(long_run(eight, 500))
    assert len(text.encode()) <= 200_000
    assert "500 steps: each bar is the longest of 2 in a row." in text


def test_bars_are_as_high_as_their_steps(eight):
    report = long_run(eight, 1001)
    shown = shown_steps(report)
    drawn = bars(report, shown)
    assert drawn.count == len(shown) == 334 <= MOST_BARS
    longest = max(column.window_ns for column in shown)
    heights = np.zeros(len(shown))
    for _, path in drawn.paths:
        for x, height in re.findall(r"M(\d+) \d+h9v(\d+)", path):
            heights[int(x) // 10] += int(height)
    expected = [1000 * column.window_ns / longest for column in shown]
    assert np.abs(heights - expected).max() <= 2
    assert [column.step // 3 for column in shown] == list(range(334))


def test_bars_without_parts_are_drawn_as_withheld(eight):
    steps = eight.steps.arrow
    place = steps.column_names.index("exposed_comm_ns")
    hidden = steps.set_column(place, "exposed_comm_ns", pa.nulls(len(steps), pa.int64()))
    report = replace(eight, steps=ReportTable(hidden))
    shown = shown_steps(report)
    assert [name for name, _ in bars(report, shown).paths] == ["withheld"]
    assert heat(shown) is None


def decoded(uri: str) -> list[list[int]]:
    """The levels of an indexed PNG of four bits a point."""
    data = base64.b64decode(uri.partition(",")[2])
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) == (4, 3)
    start = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[start - 4 : start])
    packed = zlib.decompress(data[start + 4 : start + 4 + length])
    row = 1 + (width + 1) // 2
    lines = [packed[y * row + 1 : (y + 1) * row] for y in range(height)]
    return [[n for byte in line for n in (byte >> 4, byte & 15)][:width] for line in lines]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_levels_come_back_from_the_picture(width):
    rows = [[(x * 7 + y) % (LEVELS + 1) for x in range(width)] for y in range(3)]
    assert decoded(level_picture(rows)) == rows


def test_the_map_shows_shares_by_rank(eight):
    shown = shown_steps(long_run(eight, 40))
    found = heat(shown)
    levels = decoded(found.picture)
    shares = {
        (row["rank"], place): row["exposed_comm_ns"] / row["window_ns"]
        for place, column in enumerate(shown)
        for row in column.rows
    }
    top = float(found.top.removesuffix(" %")) / 100
    assert max(shares.values()) <= top <= max(shares.values()) + 0.05
    for (rank, place), share in shares.items():
        assert levels[rank][place] == 1 + round(14 * share / top)


def test_few_steps_have_their_numbers_in_the_map(eight):
    found = heat(shown_steps(eight))
    assert found.picture == ""
    assert [len(row) for row in found.spots] == [4] * 8
    assert found.spots[5][1].level < found.spots[0][1].level


@pytest.mark.parametrize("length", [0, 1, 7, 999, 10**6, 25_945_638, 10**12])
def test_ticks_are_few_and_within(length):
    ticks = time_ticks(length)
    assert 1 <= len(ticks) <= 6
    assert ticks[0].label == "0"
    assert all(0 <= tick.place <= 100 for tick in ticks)


def test_names_of_ticks_are_spread():
    assert [tick.label for tick in name_ticks([str(n) for n in range(35)])] == [
        "0", "4", "8", "12", "16", "20", "24", "28", "32"
    ]  # fmt: skip


def test_the_worst_step_shows_the_straggler():
    report = commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))
    drawn = step_picture(report.worst_step)
    assert drawn.last_says == "rank 1 arrives 21.1 ms after the first"
    first, late = drawn.waiting
    assert late.x == late.end == pytest.approx(first.end, abs=0.2)
    assert first.x < first.end
    assert "rank 0: 27.2 ms exposed" in drawn.describes
