"""Damaged files: what can be read is read, and what was mended or lost is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import TraceBuilder, read_bytes, torch2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commscope.errors import CommscopeError
from commscope.parsers.base import Health, Reading

COUNT = 40
#: Whole, so that all is read carefully; and in pieces, so that sound ones take the fast way.
BLOCKS = (1 << 19, 900)
TS_19_DIGITS = b"1700000000000020.123"

Damage = Callable[[bytes], bytes]


def kernels(count: int = COUNT) -> TraceBuilder:
    """As many kernels, k20 at 20 us."""
    builder = TraceBuilder()
    for number in range(count):
        builder.kernel(f"k{number}", number, 0.5)
    return builder


SOUND = torch2(kernels().document())
NAME = b'"k20"'
ARGS = b'"correlation": 21'
TS = b'"ts": 20,'
DUR = b'"ts": 20, "dur": 0.5'
BETWEEN = b'"ph": "X", "cat": "kernel", "name": "k20"'


def swap(old: bytes, new: bytes) -> Damage:
    assert SOUND.count(old) == 1
    return lambda text: text.replace(old, new)


def cut_at(mark: bytes, tail: bytes = b"") -> Damage:
    assert SOUND.count(mark) == 1
    return lambda text: text[: text.index(mark) + len(mark)] + tail


def array_of(text: bytes) -> bytes:
    return json.dumps(json.loads(text)["traceEvents"]).encode()


# Each damage with the kernels that are left, and how many events were mended and lost.
DAMAGES: dict[str, tuple[Damage, int, int, int]] = {
    "trailing comma in the array": (lambda t: t.replace(b"\n  ],", b",\n  ],"), 40, 0, 0),
    "trailing comma in args": (swap(ARGS, ARGS + b","), 40, 1, 0),
    "NaN": (swap(ARGS, ARGS + b', "x": NaN'), 40, 1, 0),
    "Infinity": (swap(ARGS, ARGS + b', "x": -Infinity'), 40, 1, 0),
    "inf": (swap(ARGS, ARGS + b', "x": inf'), 40, 1, 0),
    "-nan": (swap(ARGS, ARGS + b', "x": -nan, "y": nan(ind)'), 40, 1, 0),
    "duration is NaN": (swap(DUR, b'"ts": 20, "dur": NaN'), 40, 1, 0),
    "not UTF-8": (swap(NAME, b'"k\xff\xfe20"'), 40, 1, 0),
    "raw control character": (swap(NAME, b'"k\x01\x1b20"'), 40, 1, 0),
    "raw zero": (swap(NAME, b'"k\x0020"'), 40, 1, 0),
    "bad escape": (swap(NAME, rb'"C:\k20\q"'), 40, 1, 0),
    "quotes in a name": (swap(NAME, b'"k "quoted" 20"'), 40, 1, 0),
    "newline and quotes in a name": (swap(NAME, b'"k "q",\n   "x" 20"'), 40, 1, 0),
    "braces and quotes in a name": (swap(NAME, b'"k "},\n  {" 20"'), 40, 0, 1),
    "empty value": (swap(TS, TS + b' "tts": ,'), 40, 1, 0),
    "empty value at the end": (swap(ARGS, ARGS + b', "x": '), 40, 1, 0),
    "missing comma in the array": (
        lambda t: t.replace(b"},\n  {\n    " + BETWEEN, b"}\n  {\n    " + BETWEEN), 40, 0, 0,
    ),
    "array of numbers inside": (
        lambda t: t.replace(b"{\n    " + BETWEEN, b"12, [3, 4], {\n    " + BETWEEN), 40, 0, 2,
    ),
    "missing quote": (swap(NAME, b'"k20'), 39, 0, 1),
    "missing colon": (swap(TS, b'"ts" 20,'), 39, 0, 1),
    "object torn": (swap(DUR, b'"ts": 20'), 40, 0, 0),
    "nested objects torn": (
        swap(ARGS, ARGS + b', "l": [{"a": 1}, {"b": 2}], "x" 3, "y": [1, 2]'), 39, 0, 1,
    ),
    "nested objects mended": (
        swap(ARGS, ARGS + b', "l": [{"ts": 1}, {"ph": "X"}], "x": inf'), 40, 1, 0,
    ),
    "lone surrogate": (swap(NAME, rb'"k\ud80020"'), 40, 0, 0),
    "time as string": (swap(TS, b'"ts": "20",'), 40, 0, 0),
    "time with an exponent": (swap(TS, b'"ts": 2.0e1,'), 40, 0, 0),
    "time of 19 digits": (swap(TS, b'"ts": ' + TS_19_DIGITS + b","), 40, 0, 0),
    "uint64": (swap(ARGS, ARGS + b', "External id": 18446744073709551614'), 40, 0, 0),
    "beyond 64 bits": (swap(ARGS, ARGS + b', "stream": 123456789012345678901234567890'), 40, 0, 0),
    "a number of 5000 digits": (swap(ARGS, ARGS + b', "stream": 1' + b"0" * 5000), 40, 0, 0),
    "duplicate keys": (swap(TS, TS + b' "ts": 20,'), 40, 0, 0),
    "name is null": (swap(NAME, b"null"), 40, 0, 0),
    "name is a number": (swap(NAME, b"20"), 40, 0, 0),
    "name is a list": (swap(NAME, b'["k20"]'), 40, 0, 0),
    "name of separators": (swap(NAME, rb'"k},{ },\n  {\n    \"ph\": \"X\"[]]}"'), 40, 0, 0),
    "nested events": (
        swap(ARGS, ARGS + b', "l": [{"a": 1}, {"ph": "X", "cat": "kernel"}, {"ph": 1}]'), 40, 0, 0,
    ),
    "stream is an object": (swap(ARGS, ARGS + b', "stream": {"a": [1]}'), 40, 0, 0),
    "CRLF": (lambda t: t.replace(b"\n", b"\r\n"), 40, 0, 0),
    "BOM": (lambda t: b"\xef\xbb\xbf" + t, 40, 0, 0),
    "one line": (lambda t: t.replace(b"\n", b""), 40, 0, 0),
    "root array": (array_of, 40, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_of_one_event(damage: str, block_bytes: int, tmp_path: Path) -> None:
    apply, kept, mended, lost = DAMAGES[damage]
    text = apply(SOUND)

    reading = read_bytes(text, tmp_path, block_bytes)

    health = reading.health
    assert text != SOUND
    assert reading.events.num_rows == kept
    assert (health.events_repaired, health.events_lost, health.cut) == (mended, lost, None)
    assert health.events_read == kept
    assert (health.bytes_lost > 0) == (lost > 0)


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("args", [b"null", b"[1, {}]", b"7", b'"text"', b"{}"])
def test_odd_arguments_keep_the_event(args: bytes, block_bytes: int, tmp_path: Path) -> None:
    old = b'"args": {\n      "device": 0, "stream": 0, "correlation": 21\n    }'
    text = swap(old, b'"args": ' + args)(SOUND)

    reading = read_bytes(text, tmp_path, block_bytes)

    row = reading.events.slice(20, 1).to_pylist()[0]
    assert (row["name"], row["stream"], row["correlation"]) == ("k20", None, None)
    assert reading.health == Health(events_read=COUNT)


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_missing_keys_keep_the_event(block_bytes: int, tmp_path: Path) -> None:
    events = [{"ph": "X", "cat": "kernel"}, {"ph": "X"}, {"name": "k"}, {}, *kernels(3).events]

    reading = read_bytes(json.dumps(events).encode(), tmp_path, block_bytes)

    assert reading.events.num_rows == 4
    assert reading.events.column("flags").to_pylist() == [2, 0, 0, 0]
    assert reading.health.events_read == 7


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize(
    ("damage", "kept", "lost"),
    [
        (cut_at(BETWEEN), 20, 1),
        (cut_at(b'"k20'), 20, 1),
        (cut_at(BETWEEN, bytes(300)), 20, 1),
        (cut_at(b'"correlation": 20\n    }\n  }', bytes(300)), 20, 0),
        (cut_at(b'"correlation": 40\n    }\n  }'), 40, 0),
        (cut_at(b"\n  ],"), 40, 0),
        (lambda text: array_of(text)[:-1], 40, 0),
    ],
)
def test_cut_file(damage: Damage, kept: int, lost: int, block_bytes: int, tmp_path: Path) -> None:
    text = damage(SOUND)

    reading = read_bytes(text, tmp_path, block_bytes)

    health = reading.health
    assert reading.events.num_rows == kept
    assert (health.events_read, health.events_lost) == (kept, lost)
    assert health.cut == "the file ends before the trace does"
    assert health.last_good_ns == (kept - 1) * 1000
    assert health.bytes_lost >= 300 * text.endswith(bytes(300))


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_values_survive_their_mending(block_bytes: int, tmp_path: Path) -> None:
    text = swap(NAME, b'"k "a" \\q 20"')(SOUND)
    text = text.replace(TS, b'"ts": ' + TS_19_DIGITS + b",").replace(ARGS, ARGS + b", ")

    row = read_bytes(text, tmp_path, block_bytes).events.slice(20, 1).to_pylist()[0]

    assert row["name"] == 'k "a" \\q 20'
    assert row["start_ns"] == 1_700_000_000_000_020_123
    assert (row["dur_ns"], row["correlation"]) == (500, 21)


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize(
    "surplus", [SOUND, b"garbage", b"]]}}", b'{"a": 1}', bytes(40), array_of(SOUND)]
)
@pytest.mark.parametrize("first", [SOUND.strip(), array_of(SOUND)])
def test_what_follows_is_counted(
    first: bytes, surplus: bytes, block_bytes: int, tmp_path: Path
) -> None:
    reading = read_bytes(first + surplus, tmp_path, block_bytes)

    size = len(surplus.strip())
    assert reading.events.num_rows == COUNT
    assert reading.health.bytes_lost == size
    assert reading.health.notes == (f"{size:,} bytes that follow the trace were not read",)
    assert reading.health.cut is None


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_another_document_in_the_middle(block_bytes: int, tmp_path: Path) -> None:
    reading = read_bytes(cut_at(BETWEEN)(SOUND) + SOUND, tmp_path, block_bytes)

    assert reading.events.num_rows == 20
    assert reading.health.cut == "another document begins before the trace ends"
    assert reading.health.bytes_lost > len(SOUND)


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("like", ["id", "ph"])
def test_arrays_behind_the_events_are_not_events(
    like: str, block_bytes: int, tmp_path: Path
) -> None:
    document = kernels().document()
    document["others"] = [{like: "X", "cat": "kernel", "name": "no event"} for _ in range(90)]
    document["deviceProperties"] = [{like: str(n), "id": n, "name": f"gpu {n}"} for n in range(90)]
    events = {"traceEvents": document.pop("traceEvents")}

    for separators in ((", ", ": "), (",", ":")):
        text = json.dumps({**events, **document}, separators=separators).encode()
        reading = read_bytes(text, tmp_path, block_bytes)

        assert reading.events.num_rows == COUNT
        assert reading.health == Health(events_read=COUNT)
        assert len(reading.facts.gpu_names) == 90


@pytest.mark.parametrize("depth", [900, 5_000, 200_000])
@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_deep_nesting_loses_at_most_one_event(depth: int, block_bytes: int, tmp_path: Path) -> None:
    deep = b"[" * depth + b"]" * depth
    in_args = swap(ARGS, ARGS + b', "deep": ' + deep)(SOUND)
    in_header = SOUND.replace(b'"schemaVersion": 1', b'"deep": ' + deep)

    assert read_bytes(in_args, tmp_path, block_bytes).events.num_rows >= COUNT - 1
    assert read_bytes(in_header, tmp_path, block_bytes).events.num_rows == COUNT


def outcome(text: bytes, folder: Path, block_bytes: int) -> Reading | None:
    try:
        return read_bytes(text, folder, block_bytes)
    except CommscopeError:
        return None


MIXED = torch2(
    kernels(12).operator("aten::mm", 3).launch(4).collective("all_reduce", 30).flow(5).document()
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(MIXED) - 1), st.binary(max_size=3)), max_size=4),
    st.sampled_from([150, 900, 1 << 19]),
)
def test_random_damage_never_raises_anything_else(
    tmp_path: Path, flips: list[tuple[int, bytes]], block_bytes: int
) -> None:
    text = bytearray(MIXED)
    for at, new in flips:
        text[at : at + 1] = new

    reading = outcome(bytes(text), tmp_path, block_bytes)

    if reading is not None:
        health = reading.health
        assert reading.events.num_rows <= health.events_read
        assert min(health.events_lost, health.bytes_lost) >= 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60), st.sampled_from([b"", b"[", b'{"traceEvents": [', b'[{"ph":"X"},']))
def test_random_bytes_never_raise_anything_else(tmp_path: Path, tail: bytes, head: bytes) -> None:
    outcome(head + tail, tmp_path, 16)
