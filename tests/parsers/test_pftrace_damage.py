"""Perfetto traces that are cut, damaged or incomplete: the rest is read, the loss is told."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from format_writers.pftrace import Sequence, write_events, write_rocprofv3
from logical_trace import three_steps
from one_file import read_file, read_one, source_of, survives

from commscope.errors import FormatError, UnknownFormat
from commscope.parsers.pftrace import PftraceParser
from commscope.parsers.pftrace.schema import message_class

TRACE = three_steps()
BEGIN, END = 1, 2
T = 10**15


def _read(path: Path, data: bytes) -> Any:
    path.write_bytes(data)
    [reading] = PftraceParser().read(source_of(path), lambda done, total: None)
    return reading


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    return write_rocprofv3(tmp_path_factory.mktemp("whole") / "a.pftrace", TRACE).read_bytes()


def test_cut_at_any_byte_what_comes_before_is_read(tmp_path, whole):
    path = tmp_path / "a.pftrace"
    before = 0
    for size in [*range(0, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:size])
        readings = survives(path, PftraceParser())
        assert readings or size < 200
        if not readings:
            continue
        [reading] = readings
        rows = reading.events.num_rows + reading.host.num_rows
        assert rows >= before
        before = rows
        if reading.health.cut:
            assert reading.health.lacks_events
    assert before == 12 + 16 - 1  # the last slice has lost its end


@pytest.mark.parametrize("seed", range(60))
def test_damage_anywhere_gives_a_reading_or_one_line(tmp_path, whole, seed):
    dice = random.Random(seed)
    data = bytearray(whole)
    for _ in range(dice.choice([1, 10, 100])):
        at = dice.randrange(len(data))
        data[at : at + 4] = bytes(4) if dice.random() < 0.5 else dice.randbytes(4)
    path = tmp_path / "a.pftrace"
    path.write_bytes(data)
    for reading in survives(path):
        assert reading.events.num_rows <= 12


@pytest.mark.parametrize("data", [b"", bytes(5000), b"\x0a", b"\x0a\xff\xff\xff\xff\xff\x01" * 9])
def test_what_is_no_trace_is_told_in_one_line(tmp_path, data):
    with pytest.raises(FormatError) as caught:
        _read(tmp_path / "a.pftrace", data)
    assert "\n" not in str(caught.value)


def test_random_bytes_behind_a_trace_are_lost_and_counted(tmp_path, whole):
    reading = _read(tmp_path / "a.pftrace", whole + b"\xff" * 1000)
    assert reading.events.num_rows == 12
    assert reading.health.bytes_lost == 1000
    assert "is no packet" in reading.health.cut


def test_slices_without_an_end_are_left_out_and_counted(tmp_path):
    path = write_events(
        tmp_path / "a.pftrace",
        [(BEGIN, 9, T), (END, 9, T + 5), (BEGIN, 9, T + 10), (BEGIN, 8, T + 11), (END, 8, T + 20)],
    )
    reading = read_one(path)
    assert reading.events.column("dur_ns").to_pylist() == [5, 9]
    assert reading.health.events_lost == 1
    assert reading.health.notes == ("1 slice has no end and is left out",)


def test_ends_without_a_begin_are_left_out_and_counted(tmp_path):
    path = write_events(
        tmp_path / "a.pftrace", [(END, 9, T), (END, 9, T + 1), (BEGIN, 9, T + 10), (END, 9, T + 12)]
    )
    reading = read_one(path)
    assert reading.events.column("start_ns").to_pylist() == [T + 10]
    assert reading.health.events_lost == 2
    assert reading.health.notes == ("2 ends of slices have no begin and are left out",)


def test_slices_inside_others_end_before_them(tmp_path):
    path = write_events(
        tmp_path / "a.pftrace",
        [(BEGIN, 9, T), (BEGIN, 9, T + 1), (END, 9, T + 3), (BEGIN, 9, T + 4), (END, 9, T + 9),
         (END, 9, T + 20)],
    )  # fmt: skip
    events = read_one(path).events
    rows = zip(events.column("start_ns").to_pylist(), events.column("dur_ns").to_pylist())
    assert sorted(rows) == [(T, 20), (T + 1, 2), (T + 4, 5)]


def test_texts_are_told_anew_after_a_reset(tmp_path):
    trace = message_class("Trace")()
    sequence = Sequence(trace)
    for at, name in ((T, "first"), (T + 10**6, "second")):
        sequence.reset(at)
        sequence.slice(9, "kernel_dispatch", name, at + 5, at + 9)
    path = tmp_path / "a.pftrace"
    path.write_bytes(trace.SerializeToString())
    events = read_one(path).events
    assert events.column("name").to_pylist() == ["first", "second"]
    assert events.column("start_ns").to_pylist() == [T + 5, T + 10**6 + 5]


def test_sequences_have_texts_and_clocks_of_their_own(tmp_path):
    trace = message_class("Trace")()
    first, second = Sequence(trace, number=1), Sequence(trace, number=2)
    first.reset(T)
    second.reset(T + 1000)
    for at in (10, 20):
        first.slice(8, "kernel_dispatch", f"a{at}", T + at, T + at + 5)
        second.slice(9, "kernel_dispatch", f"b{at}", T + 1000 + at, T + 1000 + at + 7)
    path = tmp_path / "a.pftrace"
    path.write_bytes(trace.SerializeToString())
    events = read_one(path).events
    rows = dict(zip(events.column("name").to_pylist(), events.column("start_ns").to_pylist()))
    assert rows == {"a10": T + 10, "b10": T + 1010, "a20": T + 20, "b20": T + 1020}


def test_what_the_recording_threw_away_is_told(tmp_path, whole):
    trace = message_class("Trace").FromString(whole)
    stats = trace.packet.add().trace_stats.buffer_stats.add()
    stats.chunks_discarded = 12
    reading = _read(tmp_path / "a.pftrace", trace.SerializeToString())
    assert "12 pieces of it were thrown away" in reading.health.notes[0]


def test_other_binary_files_are_not_taken_for_one(tmp_path):
    for name, data in (("a.bin", b"\x0a" + b"\x7f" * 50), ("b.txt", b"\n\nrocprof text\n" * 9)):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(UnknownFormat):
            read_file(path)
