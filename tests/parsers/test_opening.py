"""Opening: every compression, whole, cut, damaged and empty; pipes; the reader's thread."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commscope.errors import CommscopeError, UsageError
from commscope.parsers import opening
from commscope.parsers.opening import Extent, Source, open_blocks, open_session, read_head, unpacked


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "zstd": zstd,
}
PACK = {codec: cache(pack) for codec, pack in PACK.items()}
PACKED = [codec for codec in PACK if codec != "plain"]

#: Does not compress well, so that damage in the middle hits data; ends in no zero byte.
TEXT = b"".join(
    b'{"ts":%d,"name":"%s"},\n' % (i, hashlib.md5(b"%d" % i).hexdigest().encode())
    for i in range(20_000)
)


def read(source: Source, block_bytes: int = 1 << 16) -> SimpleNamespace:
    with open_blocks(source, block_bytes=block_bytes) as blocks:
        listed = list(blocks)
    return SimpleNamespace(
        data=b"".join(listed),
        sizes=[len(block) for block in listed],
        cut=blocks.cut,
        sha256=blocks.sha256,
        bytes_read=blocks.bytes_read,
    )


def store(folder: Path, data: bytes) -> Source:
    path = folder / "trace"
    path.write_bytes(data)
    return Source(path, label="trace", size=len(data))


@pytest.mark.parametrize("codec", PACK)
def test_whole_file_is_given_in_full_and_hashed_as_stored(tmp_path: Path, codec: str) -> None:
    packed = PACK[codec](TEXT)
    result = read(store(tmp_path, packed))
    assert result.data == TEXT
    assert result.cut is None
    assert result.sha256 == hashlib.sha256(packed).hexdigest()
    assert result.bytes_read == len(packed)
    assert set(result.sizes[:-1]) == {1 << 16}


@pytest.mark.parametrize("codec", ["gzip", "bz2", "xz", "zstd"])
def test_streams_one_after_the_other_are_one(tmp_path: Path, codec: str) -> None:
    pieces = [TEXT[:100_000], b"", TEXT[100_000:]]
    result = read(store(tmp_path, b"".join(map(PACK[codec], pieces))))
    assert result.data == TEXT
    assert result.cut is None


def decodable(codec: str, stored: bytes) -> bytes:
    """What a decoder of another make gets from a stream that is cut."""
    if codec == "gzip":
        return zlib.decompressobj(31).decompress(stored)
    if codec == "bz2":
        return bz2.BZ2Decompressor().decompress(stored)
    if codec == "zstd":
        return TEXT[: zstd_whole_blocks(stored) << 17]
    return lzma.LZMADecompressor().decompress(stored)


def zstd_whole_blocks(stored: bytes) -> int:
    """How many blocks of one frame, 128 KiB of text each, are there to their last byte."""
    content_size_bytes = (0, 2, 4, 8)[stored[4] >> 6]
    at = 5 + (0 if stored[4] & 0x20 else 1) + content_size_bytes
    count = -1
    while at <= len(stored):
        at += 3 + (int.from_bytes(stored[at : at + 3], "little") >> 3)
        count += 1
    return count


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
def test_cut_file_gives_what_can_be_decoded(tmp_path: Path, codec: str, share: float) -> None:
    packed = PACK[codec](TEXT)
    stored = packed[: int(len(packed) * share)]
    result = read(store(tmp_path, stored))
    assert result.data == decodable(codec, stored)
    assert "is cut" in result.cut
    assert result.sha256 == hashlib.sha256(stored).hexdigest()


@pytest.mark.parametrize("codec", PACKED)
def test_cut_at_every_one_of_the_first_and_last_bytes(tmp_path: Path, codec: str) -> None:
    text = TEXT[:200]
    packed = PACK[codec](text)
    for size in range(6, len(packed)):
        result = read(store(tmp_path, packed[:size]))
        assert text.startswith(result.data)
        assert result.cut is not None


@pytest.mark.parametrize("codec", ["gzip", "xz", "zstd", "bz2"])
def test_damage_in_the_middle_ends_the_data(tmp_path: Path, codec: str) -> None:
    before, after = TEXT[:400_000], TEXT[400_000:]
    packed = bytearray(PACK[codec](before) + PACK[codec](after))
    # Without a checksum, zstd takes most damage for data; not that of a frame's head.
    middle = len(PACK[codec](before)) + (2 if codec == "zstd" else 200)
    packed[middle : middle + 40] = bytes(40)
    result = read(store(tmp_path, bytes(packed)))
    assert result.cut is not None
    assert "damaged" in result.cut
    assert result.sha256 == hashlib.sha256(packed).hexdigest()
    assert len(result.data) >= 200_000
    assert TEXT.startswith(result.data[:200_000])


def test_damaged_gzip_gives_every_byte_before_the_damage(tmp_path: Path) -> None:
    text = TEXT[:50_000]
    stored = zlib_stored_block(text)
    result = read(store(tmp_path, stored + b"\x07 no block begins so"))
    assert result.data == text
    assert "damaged" in result.cut


def zlib_stored_block(data: bytes) -> bytes:
    """A gzip head and one uncompressed block that is not the last one."""
    size = len(data)
    head = gzip.compress(b"", mtime=0)[:10]
    return head + b"\0" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + data


@pytest.mark.parametrize("codec", ["gzip", "bz2", "xz"])
def test_what_follows_is_said_and_padding_is_not(tmp_path: Path, codec: str) -> None:
    packed = PACK[codec](TEXT)
    followed = read(store(tmp_path, packed + b"something else"))
    padded = read(store(tmp_path, packed + bytes(512)))
    assert followed.data == padded.data == TEXT
    assert "follow" in followed.cut
    assert padded.cut is None


def test_nothing_in_an_empty_file(tmp_path: Path) -> None:
    source = store(tmp_path, b"")
    result = read(source)
    assert (result.data, result.cut) == (b"", None)
    assert result.sha256 == hashlib.sha256(b"").hexdigest()
    assert read_head(source) == b""


@pytest.mark.parametrize("codec", PACKED)
def test_nothing_in_an_empty_stream(tmp_path: Path, codec: str) -> None:
    result = read(store(tmp_path, PACK[codec](b"")))
    assert (result.data, result.cut) == (b"", None)


def test_compressed_twice(tmp_path: Path) -> None:
    source = store(tmp_path, zstd(gzip.compress(TEXT)))
    assert read(source).data == TEXT
    assert read_head(source, 10) == TEXT[:10]


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    content=st.binary(max_size=3_000),
    repeats=st.integers(1, 40),
    block_bytes=st.integers(1, 100_000),
    codec=st.sampled_from(sorted(PACK)),
)
def test_blocks_joined_are_the_content(
    tmp_path: Path, content: bytes, repeats: int, block_bytes: int, codec: str
) -> None:
    if opening.codec_of(content):
        content = b"{" + content
    text = content * repeats
    source = store(tmp_path, PACK[codec](text))
    result = read(source, block_bytes)
    assert result.data == text
    assert all(size == block_bytes for size in result.sizes[:-1])
    assert read_head(source, block_bytes) == text[:block_bytes]


def test_large_blocks_join_across_reads(tmp_path: Path) -> None:
    text = TEXT * 12
    result = read(store(tmp_path, gzip.compress(text, 1)), block_bytes=5 << 20)
    assert result.data == text
    assert result.sizes[0] == 5 << 20


@pytest.mark.parametrize("codec", PACK)
@pytest.mark.parametrize("size", [0, 1, 3, 5, 1000, 1 << 20])
def test_head_is_the_beginning(tmp_path: Path, codec: str, size: int) -> None:
    text = TEXT[:300_000]
    assert read_head(store(tmp_path, PACK[codec](text)), size) == text[:size]


def test_head_reads_no_more_than_needed(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.write(b"[")
        file.truncate(1 << 40)
    assert read_head(Source(path), 100) == b"[" + bytes(99)


def test_leaving_early_ends_the_thread(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 36)
    before = threading.enumerate()
    with open_blocks(Source(path)) as blocks:
        for _ in blocks:
            break
        assert len(threading.enumerate()) == len(before) + 1
    assert threading.enumerate() == before
    assert blocks.sha256 is None


def test_an_error_of_the_consumer_ends_the_thread(tmp_path: Path) -> None:
    before = threading.enumerate()
    with pytest.raises(KeyError), open_blocks(store(tmp_path, TEXT), block_bytes=10):
        raise KeyError
    assert threading.enumerate() == before


def test_no_file_is_left_open(tmp_path: Path) -> None:
    source = store(tmp_path, gzip.compress(TEXT))
    before = os.listdir("/proc/self/fd")
    read(source)
    read_head(source)
    assert os.listdir("/proc/self/fd") == before


def test_memory_stays_bounded_by_blocks(tmp_path: Path) -> None:
    bomb = gzip.compress(gzip.compress(bytes(64 << 20)))
    with open_blocks(store(tmp_path, bomb), block_bytes=1 << 20) as blocks:
        sizes = [len(block) for block in blocks]
    assert sizes == [1 << 20] * 64


@pytest.mark.parametrize("missing", ["gone", "folder"])
def test_what_cannot_be_read_is_one_line(tmp_path: Path, missing: str) -> None:
    (tmp_path / "folder").mkdir()
    source = Source(tmp_path / missing, label=missing)
    with pytest.raises(UsageError, match=rf"^{missing}: cannot be read \(.*\); check"):
        read(source)
    with pytest.raises(UsageError, match=rf"^{missing}: cannot be read \(.*\); check"):
        read_head(source)


def test_error_while_reading_reaches_the_consumer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = store(tmp_path, bytes(9 << 20))
    real = os.pread

    def fail_late(file: int, n: int, offset: int) -> bytes:
        if offset >= 8 << 20:
            raise OSError(5, "Input/output error")
        return real(file, n, offset)

    monkeypatch.setattr(os, "pread", fail_late)
    given = []
    with pytest.raises(UsageError, match="Input/output error"), open_blocks(source) as blocks:
        given.extend(map(len, blocks))
    assert sum(given) == 8 << 20


def test_part_of_an_archive(tmp_path: Path) -> None:
    path = store(tmp_path, b"before" + TEXT + b"after").path
    member = Source(path, "m", "a/m", extent=Extent(6, len(TEXT)))
    result = read(member)
    assert result.data == TEXT
    assert result.sha256 == hashlib.sha256(TEXT).hexdigest()
    assert result.bytes_read == len(TEXT)


def test_part_beyond_the_end_is_cut(tmp_path: Path) -> None:
    path = store(tmp_path, TEXT).path
    result = read(Source(path, "m", "a/m", extent=Extent(100, len(TEXT))))
    assert result.data == TEXT[100:]
    assert result.cut == "the archive ends 100 bytes before this member does"


def test_no_room_to_unpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = store(tmp_path, gzip.compress(TEXT))

    def full(file: int, data: memoryview) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(CommscopeError, match=r"trace: cannot be unpacked \(No space.*TMPDIR"):
        unpacked(source.path, None)


def fake_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> Source:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return Source(None, label="stdin")


@pytest.mark.parametrize("codec", PACK)
def test_standard_input_gives_head_and_then_all(
    monkeypatch: pytest.MonkeyPatch, codec: str
) -> None:
    packed = PACK[codec](TEXT)
    source = fake_stdin(monkeypatch, packed)
    assert read_head(source, 100) == TEXT[:100]
    assert read_head(source, 5000) == TEXT[:5000]
    result = read(source)
    assert result.data == TEXT
    assert result.sha256 == hashlib.sha256(packed).hexdigest()
    assert result.bytes_read == len(packed)


def test_standard_input_can_be_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    source = fake_stdin(monkeypatch, TEXT)
    read(source)
    with pytest.raises(UsageError, match="stdin: can be read once only"):
        read(source)


def test_real_standard_input() -> None:
    program = (
        "from commscope.parsers.opening import Source, open_blocks, read_head\n"
        "head = read_head(Source(None), 10)\n"
        "with open_blocks(Source(None)) as blocks:\n"
        "    size = sum(map(len, blocks))\n"
        "print(head.decode(), size, blocks.sha256)"
    )
    packed = gzip.compress(TEXT)
    done = subprocess.run(
        [sys.executable, "-c", program], input=packed, capture_output=True, check=True
    )
    digest = hashlib.sha256(packed).hexdigest()
    assert done.stdout.decode() == f"{TEXT[:10].decode()} {len(TEXT)} {digest}\n"


def test_named_pipe_gives_head_and_then_all(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    source = Source(path, label="pipe")
    assert read_head(source, 10) == TEXT[:10]
    assert read(source).data == TEXT
    writer.join()
    with pytest.raises(UsageError, match="pipe: can be read once only"):
        read_head(source)


def test_leaving_a_silent_pipe_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    before = threading.enumerate()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", 0) as writer:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        writer.write(b"{" * 10)
        with open_blocks(Source(None), block_bytes=10):
            pass
    assert threading.enumerate() == before


def open_files() -> set[str]:
    """What the descriptors of this process lead to."""
    links = Path("/proc/self/fd").iterdir()
    return {os.readlink(link) for link in links if link.is_symlink()}


def test_session_closes_what_it_unpacked(tmp_path: Path) -> None:
    source = store(tmp_path, gzip.compress(TEXT))
    before = open_files()
    with open_session():
        first = unpacked(source.path, 1)
        assert unpacked(source.path, 1) is first
        assert os.fstat(first.file).st_size == len(TEXT)
        assert len(open_files()) == len(before) + 1
        del first
    assert open_files() == before


def test_session_ends_by_an_error_too(tmp_path: Path) -> None:
    source = store(tmp_path, gzip.compress(TEXT))
    before = open_files()
    missing = Source(tmp_path / "missing")
    with pytest.raises(UsageError), open_session():
        _ = unpacked(source.path, 1), read_head(missing)
    assert open_files() == before


def test_next_session_reads_standard_input_again(monkeypatch: pytest.MonkeyPatch) -> None:
    source = fake_stdin(monkeypatch, TEXT)
    with open_session():
        assert read_head(source, 10) == TEXT[:10]
        assert read(source).data == TEXT
    sys.stdin.buffer.seek(0)
    with open_session():
        assert read(source).data == TEXT


def test_next_session_reads_a_named_pipe_again(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    source = Source(path, label="pipe")
    for text in (TEXT, TEXT[:100]):
        writer = threading.Thread(target=path.write_bytes, args=(text,))
        writer.start()
        with open_session():
            assert read_head(source, 10) == TEXT[:10]
            assert read(source).data == text
        writer.join()


def test_session_closes_a_pipe_that_was_only_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"short",))
    writer.start()
    with open_session():
        read_head(Source(path, label="pipe"), 10)
        assert str(path) in open_files()
    writer.join()
    assert str(path) not in open_files()
