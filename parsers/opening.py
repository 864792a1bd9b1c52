"""Open a source, whatever it is packed in, as blocks of decompressed bytes.

Bytes flow through layers: the stored bytes (a file, a part of an archive, a pipe), the archive's
own packing, the hash, then one decoder for each compression that the first bytes show.
"""

from __future__ import annotations

import os
import select
import stat
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

from commscope.errors import CommscopeError, UsageError
from commscope.parsers.layers import CODECS, MAGIC_BYTES, Hashed, Layer, Peeked, codec_of, gather

#: Large enough to keep the reader's thread busy, small enough to hold several.
BLOCK_BYTES = 4 << 20
_CHUNKS_AHEAD = 4
_DRAINED_BYTES = 256 << 10
_MOST_COMPRESSIONS = 3
_POLL_MS = 50
_MOST_UNPACKED = 8


@dataclass(frozen=True, slots=True)
class Extent:
    """Where the bytes of an archive's member lie in the archive."""

    offset: int  #: first byte of the member as stored
    size: int  #: length as stored
    method: str | None = None  #: codec of ``CODECS`` that the archive packed it with
    crc: int | None = None  #: CRC-32 of the member, where the archive tells it
    unpacked: bool = False  #: the offset counts in the archive once that is decompressed


@dataclass(frozen=True, slots=True)
class Source:
    """A file, a member of an archive or standard input: something to read a trace from."""

    path: Path | None  #: null is standard input
    member: str | None = None  #: name inside the archive at ``path``
    label: str = "-"  #: name relative to what was given: never absolute, unique in a run
    size: int | None = None  #: bytes as stored, so compressed
    modified: int | None = None  #: time of the last change, ns
    named: bool = True  #: the user named it, rather than a folder, archive or pattern with it
    extent: Extent | None = None  #: where the member lies in its archive
    companions: tuple[Source, ...] = ()  #: further files of its group, read with it


class _File:
    """Bytes of a file from an offset on; the file's own position is not used."""

    def __init__(self, file: int, source: Source) -> None:
        self.cut: str | None = None
        self.taken = 0
        self.stopped = threading.Event()
        self._file, self._label = file, source.label
        self._offset = source.extent.offset if source.extent else 0
        self._size = source.extent.size if source.extent else None

    def read(self, n: int, /) -> bytes:
        if self._size is not None:
            n = min(n, self._size - self.taken)
        try:
            data = os.pread(self._file, n, self._offset + self.taken)
        except OSError as error:
            raise unreadable(self._label, error) from error
        if n and not data and self._size is not None:
            self.cut = f"the archive ends {self._size - self.taken} bytes before this member does"
        self.taken += len(data)
        return data

    def close(self) -> None:
        os.close(self._file)


class _Pipe:
    """A stream that can be read once only; its head is kept until it is read in earnest."""

    def __init__(self, label: str, stream: BinaryIO) -> None:
        self.head, self.spent = bytearray(), False
        self._label, self._stream = label, stream
        try:
            self._file: int | None = stream.fileno()
        except (OSError, ValueError):
            self._file = None

    def pull(self, n: int, stopped: threading.Event) -> bytes:
        """The next n bytes at most; none at the end, or once it is stopped."""
        try:
            if not self._is_ready(stopped):
                return b""
            return os.read(self._file, n) if self._file is not None else self._stream.read(n)
        except (OSError, ValueError) as error:
            raise unreadable(self._label, error) from error

    def _is_ready(self, stopped: threading.Event) -> bool:
        if self._file is None:
            return True
        poll = select.poll()
        poll.register(self._file, select.POLLIN)
        while not stopped.is_set():
            if poll.poll(_POLL_MS):
                return True
        return False

    def close(self) -> None:
        self._stream.close()


class _Piped:
    """A pipe from its first byte on; what a rehearsal reads is kept for the next."""

    def __init__(self, pipe: _Pipe, source: Source, rehearsal: bool) -> None:
        if pipe.spent:
            raise UsageError(f"{source.label}: can be read once only; save it to a file first")
        pipe.spent = not rehearsal
        self.cut: str | None = None
        self.taken = 0
        self.stopped = threading.Event()
        self._pipe, self._rehearsal = pipe, rehearsal
        self._is_stdin = source.path is None

    def read(self, n: int, /) -> bytes:
        data = bytes(self._pipe.head[self.taken : self.taken + n])
        if not data:
            data = self._pipe.pull(n, self.stopped)
            if self._rehearsal:
                self._pipe.head += data
        self.taken += len(data)
        return data

    def close(self) -> None:
        if not self._rehearsal and not self._is_stdin:
            self._pipe.close()


def unreadable(label: str, error: Exception) -> UsageError:
    """The error for a file that the system does not let us read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UsageError(f"{label}: cannot be read ({reason}); check the name and the permissions")


def _pipe_of(source: Source) -> _Pipe:
    """The session's one pipe of this path: its head must outlive whoever looks at it."""
    pipes = _session.get().pipes
    if source.path is None and sys.stdin is None:
        raise UsageError(f"{source.label}: standard input is closed; name a file")
    key = sys.stdin.buffer if source.path is None else source.path
    if key not in pipes:
        stream = key.open("rb") if isinstance(key, Path) else key
        pipes[key] = _Pipe(source.label, stream)
    return pipes[key]


def _stored(source: Source, rehearsal: bool) -> _File | _Piped:
    """The bytes of the source as they are stored."""
    try:
        if source.path is None or stat.S_ISFIFO(source.path.stat().st_mode):
            return _Piped(_pipe_of(source), source, rehearsal)
        if source.extent and source.extent.unpacked:
            return _File(os.dup(unpacked(source.path, source.modified).file), source)
        return _File(os.open(source.path, os.O_RDONLY), source)
    except OSError as error:
        raise unreadable(source.label, error) from error


class _Pipeline:
    """All layers of a source, the stored bytes at the bottom."""

    def __init__(self, stored: _File | _Piped, extent: Extent | None, n: int) -> None:
        self.stored = stored
        self.layers: list[Layer] = [stored]
        if extent and extent.method:
            self.layers.append(CODECS[extent.method](stored))
        self.hashed = Hashed(self.layers[-1], extent.crc if extent else None)
        self.layers.append(self.hashed)
        for _ in range(_MOST_COMPRESSIONS):
            peeked = Peeked(self.layers[-1], n)
            self.layers.append(peeked)
            codec = codec_of(peeked.head)
            if not codec:
                break
            self.layers.append(CODECS[codec](peeked))

    def read(self, n: int) -> bytes:
        """Decoded bytes: n of them, fewer only at the end."""
        return gather(self.layers[-1], n, n)

    @property
    def cut(self) -> str | None:
        """The reason closest to the stored bytes, of which the others are consequences."""
        return next((layer.cut for layer in self.layers if layer.cut), None)


@contextmanager
def _pipeline(source: Source, n: int, *, rehearsal: bool) -> Iterator[_Pipeline]:
    with closing(_stored(source, rehearsal)) as stored:
        yield _Pipeline(stored, source.extent, n)


class Blocks:
    """Blocks of decompressed bytes, read ahead by a thread of their own."""

    def __init__(self, pipeline: _Pipeline, block_bytes: int, thread: Executor) -> None:
        self.sha256: str | None = None  #: of the bytes as stored, once all blocks were given
        self.cut: str | None = None  #: why the data ends early, once all blocks were given
        self._pipeline, self._block_bytes = pipeline, block_bytes
        self._chunk_bytes = _chunk_bytes(block_bytes)
        self._queue: SimpleQueue[bytes] = SimpleQueue()
        self._slots = threading.Semaphore(_CHUNKS_AHEAD)
        self._stopped = threading.Event()
        self._reading = thread.submit(self._read_ahead)

    @property
    def bytes_read(self) -> int:
        """Bytes read so far as they are stored, so compressed."""
        return self._pipeline.stored.taken

    def __iter__(self) -> Iterator[bytes]:
        """The blocks in order; raises UsageError where the source cannot be read on."""
        while chunk := self._queue.get():
            self._slots.release()
            for at in range(0, len(chunk), self._block_bytes):
                yield chunk[at : at + self._block_bytes]
        self._queue.put(b"")
        self._reading.result()

    def stop(self) -> None:
        """Let the thread end soon, whatever it does."""
        self._stopped.set()
        self._pipeline.stored.stopped.set()
        self._slots.release()

    def _read_ahead(self) -> None:
        try:
            while self._has_room() and (chunk := self._pipeline.read(self._chunk_bytes)):
                self._queue.put(chunk)
            while not self._stopped.is_set() and self._pipeline.hashed.read(_DRAINED_BYTES):
                pass
            if not self._stopped.is_set():
                self.sha256, self.cut = self._pipeline.hashed.sha256(), self._pipeline.cut
        finally:
            self._queue.put(b"")

    def _has_room(self) -> bool:
        self._slots.acquire()
        return not self._stopped.is_set()


def _chunk_bytes(block_bytes: int) -> int:
    """How much to read at once: many small blocks, as the threads hinder each other in between."""
    return block_bytes * max(1, BLOCK_BYTES // block_bytes)


@contextmanager
def open_blocks(source: Source, *, block_bytes: int = BLOCK_BYTES) -> Iterator[Blocks]:
    """The source's decompressed bytes in blocks of ``block_bytes``, only the last one shorter.

    Leaving the context early ends the thread that reads. Raises UsageError where the source
    cannot be read.
    """
    with (
        _pipeline(source, _chunk_bytes(block_bytes), rehearsal=False) as pipeline,
        ThreadPoolExecutor(1, "commscope-reader") as thread,
    ):
        blocks = Blocks(pipeline, block_bytes, thread)
        try:
            yield blocks
        finally:
            blocks.stop()


def read_head(source: Source, size: int = 64 << 10) -> bytes:
    """The first decompressed bytes, without reading much more than those.

    Raises UsageError where the source cannot be read.
    """
    with _pipeline(source, size, rehearsal=True) as pipeline:
        return pipeline.read(size)


def is_packed(path: Path) -> bool:
    """Whether the file's first bytes show a compression; raises UsageError if unreadable."""
    with closing(_stored(Source(path, label=path.name), rehearsal=True)) as stored:
        return codec_of(gather(stored, MAGIC_BYTES, MAGIC_BYTES)) is not None


class Unpacked:
    """A compressed archive, decompressed into a file without a name."""

    def __init__(self, source: Source) -> None:
        unnamed = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        weakref.finalize(self, unnamed.close)
        self.file = unnamed.fileno()
        with open_blocks(source) as blocks:
            for block in blocks:
                self._write(memoryview(block))
        self.cut = blocks.cut

    def _write(self, data: memoryview) -> None:
        while data:
            data = data[os.write(self.file, data) :]


def unpacked(path: Path, modified: int | None) -> Unpacked:
    """The archive at the path, decompressed once for all its members.

    Raises UsageError where it cannot be read, CommscopeError where the temporary folder is full.
    """
    return _session.get().unpacked(path, modified)


def _unpack(path: Path, modified: int | None) -> Unpacked:  # noqa: ARG001
    try:
        return Unpacked(Source(path, label=path.name))
    except OSError as error:
        reason = f"{path.name}: cannot be unpacked ({error.strerror})"
        raise CommscopeError(f"{reason}; name a folder with room in TMPDIR") from error


class _Session:
    """What is opened once for all who read it: pipes, and compressed archives."""

    def __init__(self) -> None:
        self.pipes: dict[BinaryIO | Path, _Pipe] = {}
        self.unpacked = lru_cache(maxsize=_MOST_UNPACKED)(_unpack)

    def close(self) -> None:
        """Closes them all but standard input, which is not ours."""
        for key, pipe in self.pipes.items():
            if isinstance(key, Path):
                pipe.close()
        self.pipes.clear()
        self.unpacked.cache_clear()


#: The one by default lasts as long as the process.
_session = ContextVar("_session", default=_Session())  # noqa: B039


@contextmanager
def open_session() -> Iterator[None]:
    """Pipes and unpacked archives that are opened inside the context are closed at its end.

    Inside, a pipe can be looked at and then read once; a later session opens it anew.
    """
    with closing(_Session()) as session:
        token = _session.set(session)
        try:
            yield
        finally:
            _session.reset(token)
