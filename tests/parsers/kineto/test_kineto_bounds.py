"""Text of any length is read in bounded memory and time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import TraceBuilder, read_bytes, torch2

from commscope.errors import CorruptTrace
from commscope.parsers.kineto.chunks import MAX_EVENT_BYTES, MAX_HEADER_BYTES, Chunks

BLOCK = 1 << 20


class Endless:
    """Blocks of one byte without an end, that count how many were taken."""

    def __init__(self, first: bytes = b"", filler: bytes = b"x") -> None:
        self.taken = 0
        self._first, self._block = first, filler * BLOCK

    def __iter__(self) -> Iterator[bytes]:
        yield self._first
        while True:
            self.taken += 1
            yield self._block


@pytest.mark.parametrize("filler", [b"x", b" ", b"{", b'"', b"\0"])
def test_endless_line_without_events_is_given_up(filler: bytes) -> None:
    blocks = Endless(b'{"a":', filler)

    with pytest.raises(CorruptTrace, match='no "traceEvents" in the first'):
        next(iter(Chunks(iter(blocks), "endless")))

    assert blocks.taken <= MAX_HEADER_BYTES // BLOCK + 1


@pytest.mark.parametrize("filler", [b"x", b" ", b"[", b'"', b"}", b","])
def test_endless_event_is_handed_on(filler: bytes) -> None:
    blocks = Endless(b'[{"ph": "X"},', filler)
    chunks = Chunks(iter(blocks), "endless")

    chunk = next(iter(chunks))

    assert chunks.is_final
    assert MAX_EVENT_BYTES < len(chunk) <= MAX_EVENT_BYTES + 2 * BLOCK


def test_long_garbage_loses_only_itself(tmp_path: Path) -> None:
    events = [json.dumps(e) for e in TraceBuilder().kernel("a", 1).kernel("b", 2).events]
    garbage = "x" * (2 * MAX_EVENT_BYTES)

    reading = read_bytes(f"[{events[0]}, {garbage}}}, {events[1]}]".encode(), tmp_path)

    assert reading.events.column("name").to_pylist() == ["a", "b"]
    assert reading.health.events_lost >= 1
    assert reading.health.bytes_lost == len(garbage) + 1


def test_header_of_several_megabytes(tmp_path: Path) -> None:
    document = TraceBuilder(rank=1).kernel("a", 1).document()
    groups = [{"pg_name": str(n), "ranks": list(range(512))} for n in range(2000)]
    document["distributedInfo"]["pg_config"] = groups

    reading = read_bytes(torch2(document), tmp_path)

    assert reading.facts.rank == 1
    assert reading.events.num_rows == 1
    assert not reading.health.is_damaged


def test_trailer_of_several_megabytes(tmp_path: Path) -> None:
    document = {"traceEvents": TraceBuilder().kernel("a", 1).kernel("b", 2).events}
    document["deviceProperties"] = [{"id": n, "name": "gpu"} for n in range(100_000)]

    reading = read_bytes(json.dumps(document).encode(), tmp_path)

    assert len(reading.facts.gpu_names) == 100_000
    assert reading.events.num_rows == 2
    assert not reading.health.is_damaged


def test_wrong_cuts_are_joined_again() -> None:
    text = b'[{"a": 1}, {"b": [{"c": 1}, {"d": 2}]}, {"e": 3}]'
    chunks = Chunks(iter([text[:20], text[20:34], text[34:]]), "trace")
    seen = []
    for number, chunk in enumerate(chunks):
        seen.append(chunk)
        if number == 1:
            chunks.put_back(chunk)

    assert b"".join(seen[:1] + seen[2:]) == text[1:]


@pytest.mark.parametrize(
    "debris", [b"]", b"}]", b'{"ph": "X", "na', b'{"ph": nope},', b"[1}", b"{"]
)
def test_damage_at_every_event_hides_no_other(debris: bytes, tmp_path: Path) -> None:
    event = json.dumps(TraceBuilder().kernel("a", 1).events[0]).encode()
    text = b"[" + (debris + b"\n" + event + b",\n") * 400 + event + b"]"

    reading = read_bytes(text, tmp_path)

    assert reading.health.events_lost >= 400
    assert reading.events.num_rows >= 399
