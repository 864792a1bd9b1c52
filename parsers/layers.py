"""The layers that bytes pass through on their way out of a compressed file.

Each has ``read(n)`` and ``cut``. A stream that is cut or corrupt ends early and says so in
``cut``: it never raises. A cut loses nothing that can be decoded, nor does damage in gzip and zip.
Before a damaged spot in bz2, xz or zstd up to 1 MB may be lost, as those libraries drop what they
hold.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import re
import zlib
from collections.abc import Callable
from functools import partial
from typing import Protocol

import pyarrow as pa

_INFLATED_BYTES = 4 << 20
_STORED_BYTES = 256 << 10
#: As bz2 and xz drop the output of the call that meets damage, it is kept small.
_SLOW_BYTES = 64 << 10
_ZSTD_BYTES = 1 << 20
#: As many first bytes show what a stream is compressed with.
MAGIC_BYTES = 6


class Layer(Protocol):
    """Bytes from somewhere: at most ``n`` at a time, none at the end."""

    cut: str | None

    def read(self, n: int, /) -> bytes:
        """The next bytes, at most n."""
        ...


class Peeked:
    """A layer whose first bytes can be seen before they are read."""

    def __init__(self, layer: Layer, n: int) -> None:
        self.cut: str | None = None
        self._layer = layer
        self.head = gather(layer, MAGIC_BYTES, max(n, MAGIC_BYTES))

    def read(self, n: int, /) -> bytes:
        """The next bytes, at most n."""
        if not self.head:
            return self._layer.read(n)
        data, self.head = self.head[:n], self.head[n:]
        return data


class Hashed:
    """A layer that hashes what passes, and checks it where its checksum is known."""

    def __init__(self, layer: Layer, crc: int | None) -> None:
        self.cut: str | None = None
        self._layer, self._sha = layer, hashlib.sha256()
        self._expected, self._crc = crc, 0

    def read(self, n: int, /) -> bytes:
        """The next bytes, at most n."""
        data = self._layer.read(n)
        self._sha.update(data)
        if self._expected is not None:
            self._crc = zlib.crc32(data, self._crc)
            if not data and self._crc != self._expected:
                self.cut = "its checksum is wrong: some of its bytes are damaged"
        return data

    def sha256(self) -> str:
        """Of all that has passed, in hex."""
        return self._sha.hexdigest()


class _DamageError(Exception):
    """A decoder met damage; carries what it could still decode."""


class _Inflate:
    """zlib with the interface of bz2 and lzma, giving all that precedes damage."""

    def __init__(self, window: int) -> None:
        self._zlib = zlib.decompressobj(window)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    def decompress(self, data: bytes, n: int) -> bytes:
        data = self._zlib.unconsumed_tail + data
        before = self._zlib.copy()
        try:
            return self._zlib.decompress(data, n)
        except zlib.error as error:
            raise _DamageError(_inflate_bytewise(before, data)) from error


def _inflate_bytewise(decoder: zlib._Decompress, data: bytes) -> bytes:
    decoded = []
    try:
        for at in range(len(data)):
            decoded.append(decoder.decompress(data[at : at + 1]))  # noqa: PERF401
    except zlib.error:
        pass
    return b"".join(decoded)


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, n: int, /) -> bytes: ...


class _Decoded:
    """A layer decoded: any number of compressed streams, one after the other."""

    def __init__(self, codec: str, most: int, start: Callable[[], _Decoder], layer: Layer) -> None:
        self.cut: str | None = None
        self._codec, self._most, self._start, self._layer = codec, most, start, layer
        self._decoder, self._input, self._ended = start(), b"", False

    def read(self, n: int, /) -> bytes:
        data = b""
        while not data and not self._ended:
            if self._decoder.eof:
                self._next_stream()
            else:
                data = self._decode(min(n, self._most))
        return data

    def _decode(self, n: int) -> bytes:
        if self._decoder.needs_input and not self._input:
            self._input = self._layer.read(min(_STORED_BYTES, self._most))
            if not self._input:
                return self._end(f"the {self._codec} data is cut: its end is missing")
        data, self._input = self._input, b""
        try:
            return self._decoder.decompress(data, n)
        except (_DamageError, OSError, EOFError, lzma.LZMAError) as error:
            self._end(f"the {self._codec} data is damaged: what follows cannot be decoded")
            return error.args[0] if isinstance(error, _DamageError) else b""

    def _next_stream(self) -> None:
        rest = self._decoder.unused_data.lstrip(b"\0")
        while len(rest) < MAGIC_BYTES and (more := self._layer.read(_STORED_BYTES)):
            rest = (rest + more).lstrip(b"\0")
        if codec_of(rest) == self._codec:
            self._decoder, self._input = self._start(), rest
        else:
            self._end(f"bytes that follow the {self._codec} data were ignored" if rest else None)

    def _end(self, reason: str | None) -> bytes:
        self._ended, self.cut = True, reason
        return b""


class _Raw(io.RawIOBase):
    """A layer as the file object that Arrow wants."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1, /) -> bytes:
        return self._layer.read(n)


class _Zstd:
    """A layer decoded by Arrow's zstd, which needs no package of its own."""

    def __init__(self, layer: Layer) -> None:
        self.cut: str | None = None
        # The buffer lets Arrow work for long without the interpreter, which the consumer needs.
        stored = pa.BufferedInputStream(pa.PythonFile(_Raw(layer), mode="r"), _STORED_BYTES)
        self._stream = pa.CompressedInputStream(stored, "zstd")

    def read(self, n: int, /) -> bytes:
        if self.cut:
            return b""
        buffer = bytearray(min(n, _ZSTD_BYTES))
        try:
            return bytes(memoryview(buffer)[: self._stream.readinto(buffer)])
        except OSError as error:
            is_cut = "truncated" in str(error).lower()
            self.cut = _ZSTD_CUT if is_cut else _ZSTD_DAMAGED
            # Arrow does not say how much it wrote before the error; the rest is still zero.
            return bytes(buffer.rstrip(b"\0"))


_ZSTD_CUT = "the zstd data is cut: its end is missing"
_ZSTD_DAMAGED = "the zstd data is damaged: what follows cannot be decoded"

#: How to decode each compression.
CODECS: dict[str, Callable[[Layer], Layer]] = {
    "gzip": partial(_Decoded, "gzip", _INFLATED_BYTES, partial(_Inflate, 31)),
    "deflate": partial(_Decoded, "deflate", _INFLATED_BYTES, partial(_Inflate, -15)),
    "bz2": partial(_Decoded, "bz2", _SLOW_BYTES, bz2.BZ2Decompressor),
    "xz": partial(_Decoded, "xz", _SLOW_BYTES, lzma.LZMADecompressor),
    "zstd": _Zstd,
}

_MAGIC = re.compile(
    rb"(?P<gzip>\x1f\x8b\x08)|(?P<bz2>BZh[1-9])|(?P<xz>\xfd7zXZ\0|\x5d\0\0)"
    rb"|(?P<zstd>\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)",
    re.DOTALL,
)


def codec_of(head: bytes) -> str | None:
    """The compression that the first bytes show, or null."""
    found = _MAGIC.match(head)
    return found.lastgroup if found else None


def gather(layer: Layer, least: int, most: int) -> bytes:
    """At least ``least`` bytes of the layer, fewer only at its end, and never above ``most``."""
    first = layer.read(most)
    if not first or len(first) >= least:
        return first
    parts, size = [first], len(first)
    while size < least and (part := layer.read(most - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)
