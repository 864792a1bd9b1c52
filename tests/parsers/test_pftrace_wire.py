"""The scanner of messages against the protobuf library, and what it does with damage."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commscope.parsers.pftrace.packets import Packets
from commscope.parsers.pftrace.schema import message_class
from commscope.parsers.pftrace.wire import FIXED64, LENGTH, VARINT, Fields, Wire

_Trace = message_class("Trace")
_annotations = st.fixed_dictionaries(
    {},
    optional={
        "name_iid": st.integers(0, 2**64 - 1),
        "uint_value": st.integers(0, 2**64 - 1),
        "int_value": st.integers(-(2**63), 2**63 - 1),
        "double_value": st.floats(allow_nan=False),
        "string_value": st.binary(max_size=300),
        "string_value_iid": st.integers(0, 300),
    },
)


def _spans(*parts: bytes) -> tuple[Wire, Any, Any]:
    ends = np.cumsum([len(part) for part in parts])
    return Wire(b"".join(parts)), ends - [len(part) for part in parts], ends


def _by_message(fields: Fields, message: int) -> list[tuple[int, int, int, int]]:
    mine = fields.where(np.flatnonzero(fields.message == message))
    columns = (mine.number, mine.wire, mine.starts, mine.ends)
    return list(zip(*(column.tolist() for column in columns)))


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50))
def test_numbers_are_those_that_were_written(values):
    parts = []
    for value in values:
        note = message_class("DebugAnnotation")(uint_value=value)
        parts.append(note.SerializeToString()[1:])  # without its tag
    wire, starts, _ = _spans(*parts)
    read = [value % 2**64 for value in wire.varints(starts).tolist()]
    assert read == values


@given(st.lists(_annotations, min_size=1, max_size=20))
def test_fields_are_those_that_the_library_reads(written):
    messages = [message_class("DebugAnnotation")(**values) for values in written]
    wire, starts, ends = _spans(*(message.SerializeToString() for message in messages))
    fields, damaged = wire.fields(starts, ends)
    assert not damaged.any()
    for row, message in enumerate(messages):
        found = _by_message(fields, row)
        for (number, kind, start, end), (field, value) in zip(found, message.ListFields()):
            assert number == field.number
            data = wire.data[start:end]
            if kind == LENGTH:
                assert data == value
            elif kind == VARINT:
                [read] = wire.varints(np.array([start])).tolist()
                assert read % 2**64 == value % 2**64
            else:
                assert kind == FIXED64
                assert np.frombuffer(data, "<f8")[0] == value
        assert len(found) == len(message.ListFields())


@given(st.binary(max_size=200))
def test_any_bytes_are_read_within_their_bounds(data):
    wire, starts, ends = _spans(data, b"\x08\x01")
    fields, damaged = wire.fields(starts, ends)
    assert not damaged[1]
    assert _by_message(fields, 1) == [(1, VARINT, len(data) + 1, len(data) + 2)]
    mine = _by_message(fields, 0)
    assert all(0 <= start <= end <= len(data) for _, _, start, end in mine)


@given(st.lists(st.integers(0, 40_000), max_size=9), st.integers(40, 50_000))
def test_packets_are_whole_in_blocks_of_any_size(sizes, block_bytes):
    trace = _Trace()
    for size in sizes:
        trace.packet.add().compressed_packets = bytes(size)
    data = trace.SerializeToString()
    packets = Packets(data[at : at + block_bytes] for at in range(0, len(data), block_bytes))
    found = [
        block.data[start:end]
        for block in packets
        for start, end in zip(block.starts.tolist(), block.ends.tolist())
    ]
    assert found == [packet.SerializeToString() for packet in trace.packet]
    assert packets.cut is None


def test_a_message_of_too_many_fields_is_damaged():
    wire, starts, ends = _spans(b"\x08\x01" * 5_000)
    _, damaged = wire.fields(starts, ends)
    assert damaged.tolist() == [True]
