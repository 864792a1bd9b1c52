"""Perfetto traces with compressed packets: what is inside is read, bombs are not."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from format_writers.pftrace import write_rocprofv3
from logical_trace import three_steps
from one_file import read_one

from commscope.parsers.pftrace import compressed
from commscope.parsers.pftrace.schema import message_class

_Trace = message_class("Trace")


def _zstd(data: bytes) -> bytes:
    made = pa.BufferOutputStream()
    with pa.CompressedOutputStream(made, "zstd") as stream:
        stream.write(data)
    return bytes(made.getvalue())


_FIELDS = {"compressed_packets": zlib.compress, "zstd_compressed_packets": _zstd}
both = pytest.mark.parametrize("field", _FIELDS)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: Any) -> Path:
    return write_rocprofv3(tmp_path_factory.mktemp("plain") / "a.pftrace", three_steps())


def _packed(path: Path, plain: Path, field: str, *, each: int = 10) -> Path:
    """The trace with all but its first packets compressed, a few at a time."""
    packets = list(_Trace.FromString(plain.read_bytes()).packet)
    trace = _Trace(packet=packets[:5])
    for at in range(5, len(packets), each):
        inside = _Trace(packet=packets[at : at + each]).SerializeToString()
        setattr(trace.packet.add(), field, _FIELDS[field](inside))
    path.write_bytes(trace.SerializeToString())
    return path


def _with_one_more(path: Path, plain: Path, field: str, stored: bytes) -> Any:
    trace = _Trace.FromString(plain.read_bytes())
    setattr(trace.packet.add(), field, stored)
    path.write_bytes(trace.SerializeToString())
    return read_one(path)


@both
@pytest.mark.parametrize("each", [1, 10, 1000])
def test_compressed_packets_are_read_as_if_they_were_not(tmp_path, plain, field, each):
    expected = read_one(plain)
    found = read_one(_packed(tmp_path / "b.pftrace", plain, field, each=each))
    assert found.events.to_pylist() == expected.events.to_pylist()
    assert found.host.to_pylist() == expected.host.to_pylist()
    assert found.health == expected.health


@both
def test_damage_inside_is_told_and_the_rest_is_read(tmp_path, plain, field):
    pack = _FIELDS[field]
    for stored in (b"x\x9c", pack(b"no packets" * 9), pack(bytes(range(256)) * 9)[:90]):
        reading = _with_one_more(tmp_path / "b.pftrace", plain, field, stored)
        assert reading.events.num_rows == 12
        assert reading.health.notes == ("1 compressed packet is not read: damaged",)
        assert reading.health.lacks_events
        assert reading.health.bytes_lost


@both
def test_a_bomb_is_not_unpacked(tmp_path, plain, field, monkeypatch):
    monkeypatch.setattr(compressed, "MOST_BYTES", 1 << 20)
    packet = _Trace()
    packet.packet.add().timestamp = 1
    bomb = _FIELDS[field](packet.SerializeToString() * (1 << 20))
    assert len(bomb) < 1 << 16
    reading = _with_one_more(tmp_path / "b.pftrace", plain, field, bomb)
    assert reading.events.num_rows == 12
    told = "1 compressed packet is not read: larger than any profiler makes them"
    assert reading.health.notes == (told,)
    assert reading.health.bytes_lost >= len(bomb)


@pytest.mark.parametrize("stored", [zlib.compress(b""), b"damaged"])
def test_many_packets_with_nothing_inside_take_as_many_steps(tmp_path, plain, monkeypatch, stored):
    """However many there are: what is kept of a block is not measured again for each."""
    calls, count = Counter[str](), 2000

    def measured(what: Any) -> int:
        calls["len"] += 1
        return len(what)

    monkeypatch.setattr(compressed, "len", measured, raising=False)
    trace = _Trace.FromString(plain.read_bytes())
    for _ in range(count):
        trace.packet.add().compressed_packets = stored
    path = tmp_path / "b.pftrace"
    path.write_bytes(trace.SerializeToString())
    assert read_one(path).events.num_rows == 12
    assert count <= calls["len"] < 20 * count


def test_packets_compressed_twice_are_not_read(tmp_path, plain):
    inner = _Trace()
    inner.packet.add().compressed_packets = zlib.compress(plain.read_bytes())
    stored = zlib.compress(inner.SerializeToString())
    reading = _with_one_more(tmp_path / "b.pftrace", plain, "compressed_packets", stored)
    assert reading.events.num_rows == 12
    assert reading.health.notes == ("1 compressed packet is not read: inside of others",)
    assert reading.health.events_lost == 1
