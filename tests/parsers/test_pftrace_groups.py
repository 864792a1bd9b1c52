"""Packets read in groups of one shape, against the same read one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import Any

import numpy as np
from format_writers.pftrace import Sequence
from hypothesis import given, settings
from hypothesis import strategies as st

from commscope.columns import NONE
from commscope.parsers.pftrace import groups
from commscope.parsers.pftrace.events import EventReader, Events
from commscope.parsers.pftrace.filling import Filling
from commscope.parsers.pftrace.groups import Grouper
from commscope.parsers.pftrace.packets import Packets
from commscope.parsers.pftrace.scan import Scanned, scan
from commscope.parsers.pftrace.schema import message_class
from commscope.parsers.pftrace.state import State
from commscope.parsers.pftrace.walk import walk
from commscope.parsers.words import Words

_Trace = message_class("Trace")
_NEVER = 1 << 40
_WORDS = ("corr_id", "begin_ns", "agent", "grid_size", "stream_ID", "of no use", "end_ns")
_numbers = st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1))
_values = st.fixed_dictionaries(
    {},
    optional={
        "uint_value": _numbers,
        "int_value": st.integers(-(2**63), 2**63 - 1),
        "string_value": st.sampled_from([b"", b"GPU-1", b"(4,2,1)", b"7" * 200, b"\xff"]),
        "string_value_iid": st.integers(0, 3),
        "double_value": st.just(1.5),
    },
)
_names = st.one_of(st.integers(1, 9), st.sampled_from([b"corr_id", b"agent", b"x" * 70]))
_notes = st.lists(st.tuples(_names, _values), max_size=5)
_events = st.fixed_dictionaries(
    {"notes": _notes, "kind": st.integers(0, 3)},
    optional={"track": _numbers, "name_iid": st.integers(0, 5), "name": st.just(b"gemm" * 50)},
)
_packets = st.fixed_dictionaries(
    {"sequence": st.integers(1, 2), "repeat": st.integers(1, 4)},
    optional={"timestamp": _numbers, "clock": st.sampled_from([6, 64]), "event": _events},
)


def _write(packet: Any, told: dict[str, Any]) -> None:
    packet.trusted_packet_sequence_id = told["sequence"]
    if "timestamp" in told:
        packet.timestamp = told["timestamp"] % 2**60
    if "clock" in told:
        packet.timestamp_clock_id = told["clock"]
    if "event" not in told:
        return
    event, wanted = packet.track_event, told["event"]
    event.type = wanted["kind"]
    if "track" in wanted:
        event.track_uuid = wanted["track"]
    for key in ("name_iid", "name"):
        if key in wanted:
            setattr(event, key, wanted[key])
    for name, values in wanted["notes"]:
        note = event.debug_annotations.add(**values)
        setattr(note, "name" if isinstance(name, bytes) else "name_iid", name)


def _trace(told: list[dict[str, Any]]) -> bytes:
    trace = _Trace()
    for number in (1, 2):
        Sequence(trace, number=number).reset(1000 * number)
        interned = trace.packet.add(trusted_packet_sequence_id=number).interned_data
        for iid, word in enumerate(_WORDS, number):  # each sequence by numbers of its own
            interned.debug_annotation_names.add(iid=iid, name=word.encode())
            interned.event_names.add(iid=iid, name=b"name %d" % (iid * number))
            interned.debug_annotation_string_values.add(iid=iid, str=b"GPU-%d" % iid)
    for one in told:
        for _ in range(one["repeat"]):
            _write(trace.packet.add(), one)
    return bytes(trace.SerializeToString())


def _read(data: bytes, few: int) -> tuple[list[Scanned], list[Events], Words]:
    words, grouper = Words(), Grouper(few)
    reader = EventReader(State(words), words)
    blocks = [data[at : at + 4000] for at in range(0, len(data), 4000)]
    scanned = [scan(block, grouper) for block in Packets(blocks)]
    return scanned, [reader.read(block) for block in scanned], words


def _columns(events: Events, words: Words) -> dict[str, list[Any]]:
    """The columns, words as texts: they get their numbers as they are met."""
    texts = {number: word for word, number in words.items()}
    coded = ("category", "name", "agent", "source", "target")
    columns = {field.name: getattr(events, field.name).tolist() for field in fields(events)}
    return columns | {name: [texts.get(code) for code in columns[name]] for name in coded}


def _assert_same(data: bytes) -> None:
    _, found, words = _read(data, few=1)
    _, expected, other_words = _read(data, few=_NEVER)
    for ours, theirs in zip(found, expected, strict=True):
        assert _columns(ours, words) == _columns(theirs, other_words)


@settings(max_examples=60)
@given(st.lists(_packets, max_size=30))
def test_events_are_the_same_as_if_read_one_by_one(told):
    _assert_same(_trace(told))


def test_packets_of_one_shape_are_read_in_one_group():
    notes = [(1, {"uint_value": 5}), (3, {"string_value": b"GPU-0"})]
    told = [
        {"sequence": 1, "repeat": 1, "timestamp": at, "event": {"notes": notes, "kind": 1}}
        for at in (1, 200, 3_000_000, 2**55)
    ]
    scanned, _, _ = _read(_trace(told), few=4)
    [group] = [group for block in scanned for group, _ in block.groups]
    assert len(group.packets) == 4


def test_only_the_shapes_of_most_packets_are_looked_for(monkeypatch):
    monkeypatch.setattr(groups, "MOST_SHAPES", 3)
    tried = Counter[str]()

    def take(self: Any, shape: Any, of: Any = groups._Sorting.take) -> int:
        tried["shapes"] += 1
        return int(of(self, shape))

    monkeypatch.setattr(groups._Sorting, "take", take)
    told = [
        {"sequence": 1, "repeat": 4 + shape % 2, "event": {"notes": [], "kind": 1, "name": b"n"},
         **({"clock": 6} if shape % 2 else {}), "timestamp": 1 << 7 * (shape // 2)}
        for shape in range(4)
    ]  # fmt: skip
    notes = [{"notes": [(1, {"uint_value": 1})] * many, "kind": 1} for many in range(1, 30)]
    told += [{"sequence": 1, "repeat": 2, "event": event} for event in notes]
    data = _trace(told * 9)
    scanned, _, _ = _read(data, few=2)
    assert len(scanned) > 3
    assert tried["shapes"] <= 6 * len(scanned)
    assert sum(len(block.groups) for block in scanned) >= 2 * len(scanned)
    _assert_same(data)


def test_texts_by_number_are_read_where_numbers_are_wanted():
    """Only the words that occur are looked at."""

    class Unlisted(Words):
        def __iter__(self) -> Any:
            raise AssertionError

    words = Unlisted()
    state = State(words)
    state.texts.add(0, {1: words["17"], 2: words["unused"], 3: words["no number"]})
    filling = Filling(state, words, np.zeros(4, np.int64))
    filling.put_ids("correlation", np.arange(3), np.array([1, 3, 9]))
    filling.put_ids("correlation", np.empty(0, np.int64), np.empty(0, np.int64))
    assert filling.columns["correlation"].tolist() == [17, NONE, NONE, NONE]


@settings(max_examples=60)
@given(st.lists(_packets, min_size=1, max_size=4), st.binary(min_size=1, max_size=9), st.data())
def test_damage_is_the_same_as_if_read_one_by_one(told, damage, data):
    trace = bytearray(_trace([{**one, "repeat": 9} for one in told]))
    for _ in range(3):
        at = data.draw(st.integers(0, len(trace) - len(damage)))
        trace[at : at + len(damage)] = damage
    _assert_same(bytes(trace))


def test_events_are_in_the_order_of_the_file_whatever_else_packets_hold():
    trace = _Trace()
    for kind in (1, 2, 1, 2):
        packet = trace.packet.add(timestamp=5)
        packet.track_event.type = kind
        if kind == 1:
            packet.trusted_packet_sequence_id = 3
    for few in (1, _NEVER):
        _, [events], _ = _read(trace.SerializeToString(), few)
        assert events.kind.tolist() == [1, 2, 1, 2]


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=9), st.integers(1, 99), st.binary(max_size=9)
)
def test_ends_are_found_however_long_the_packets_are(sizes, times, behind):
    trace, ends = b"", []
    for number, size in enumerate(sizes * times):
        trace += bytes([10, size]) if size < 128 else bytes([10, size % 128 + 128, size // 128])
        trace += b"\n" * size if number % 3 else bytes(size)
        ends.append(len(trace))
    found = walk(trace + b"\x0b" + behind)
    whole = [
        end for start, end in zip([0, *ends], ends) if start + 2 < len(trace) + 1 + len(behind)
    ]
    assert found.ends.tolist() == whole
    assert found.is_damaged
    starts = [end - size for end, size in zip(ends, sizes * times)]
    assert found.starts.tolist() == starts[: len(whole)]
