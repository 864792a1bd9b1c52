"""SQLite databases of traces: opened so that nothing is written, damage told in one line.

SQLite needs a file of its own: what comes packed, from an archive or a pipe is unpacked into the
temporary folder first.
"""

from __future__ import annotations

import fcntl
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import IO

from commscope.errors import CommscopeError, CorruptTrace
from commscope.parsers.base import Progress
from commscope.parsers.opening import Source, is_packed, open_blocks, unreadable

MAGIC = b"SQLite format 3\0"
#: Where SQLite's writers lock a file: see https://www.sqlite.org/fileformat2.html#the_lock_byte_page
_LOCK_FIRST, _LOCK_BYTES = 0x40000002, 510
_HEADER_BYTES = 100
#: Steps of SQLite's machine in all queries of a connection, of which some ten million take a
#: second. Reading all rows of a trace takes few for each of its bytes.
FREE_STEPS, STEPS_A_BYTE = 200_000_000, 40
_STEPS_AT_ONCE = 100_000
#: What SQLite says of a query that the handler ended.
_STOPPED = "interrupted"
_AGAIN = "copy it again, or record again"
#: Files that a writer leaves when it does not end well, and how those begin that hold changes.
_LEFT_OVER = {"-wal": b"\x37\x7f\x06", "-journal": b"\xd9\xd5\x05\xf9"}


@dataclass(frozen=True, slots=True)
class _Stored:
    sha256: str | None
    bytes: int


@dataclass(frozen=True, slots=True)
class Database:
    """An open database, and its file as stored: to ask for that waits until it was read."""

    connection: sqlite3.Connection
    second: sqlite3.Connection  #: for another thread
    stored: Future[_Stored]

    @property
    def sha256(self) -> str | None:
        """The hash of the file."""
        return self.stored.result().sha256

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.stored.result().bytes


@contextmanager
def open_database(source: Source, progress: Progress) -> Iterator[Database]:
    """The source as a database that can only be read.

    Raises CorruptTrace where it is cut, damaged, or somebody still writes it; so do errors of
    SQLite inside the context. Raises UsageError where the system does not let us read it.
    """
    with _as_file(source, progress) as (path, stored):
        _require_whole(path, source.label)
        try:
            with closing(connect(path)) as first, closing(connect(path)) as second:
                yield Database(first, second, stored)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise CorruptTrace(f"{source.label}: {_why(error)}; {_AGAIN}") from error


def _why(error: Exception) -> str:
    """Why a database cannot be read on."""
    if str(error) == _STOPPED:
        return "its views take more steps than reading a database of its size does"
    # Where SQLite's own message quotes damaged text, that cannot be decoded.
    reason = error if isinstance(error, sqlite3.Error) else "its names are damaged"
    return f"the database cannot be read ({reason})"


def connect(path: Path) -> sqlite3.Connection:
    """The database in a file, only to be read, without a look at all of it.

    Its queries raise sqlite3.OperationalError where they take more steps than rows of so many bytes
    can need: a view may hold a query without an end.
    """
    # Immutable: SQLite then takes no locks and makes no files beside this one.
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.text_factory = _text
    most = FREE_STEPS + STEPS_A_BYTE * path.stat().st_size
    # It goes on as long as the handler gives 0.
    left = repeat(0, most // _STEPS_AT_ONCE)
    connection.set_progress_handler(lambda: next(left, 1), _STEPS_AT_ONCE)
    return connection


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")


@contextmanager
def _as_file(source: Source, progress: Progress) -> Iterator[tuple[Path, Future[_Stored]]]:
    """Where the database lies, unpacked, and what was stored."""
    if source.path is not None and _is_plain(source, source.path):
        _refuse_unfinished(source.path, source.label)
        # The hash of a large file takes as long as a third of its rows: both are taken at once.
        with ThreadPoolExecutor(1, "commscope-hash") as thread:
            drained = thread.submit(copy_context().run, _drained, source, progress, None)
            yield source.path, drained
        return
    try:
        with tempfile.NamedTemporaryFile(prefix="commscope-", suffix=".db") as unpacked:
            stored: Future[_Stored] = Future()
            stored.set_result(_drained(source, progress, unpacked))
            unpacked.flush()
            yield Path(unpacked.name), stored
    except OSError as error:
        reason = f"{source.label}: cannot be unpacked ({error.strerror})"
        raise CommscopeError(f"{reason}; name a folder with room in TMPDIR") from error


def _is_plain(source: Source, path: Path) -> bool:
    if source.extent is not None:
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode) and not is_packed(path)
    except OSError as error:
        raise unreadable(source.label, error) from error


def _drained(source: Source, progress: Progress, into: IO[bytes] | None) -> _Stored:
    """Reads the source to its end, for its hash, and into a file where it is not one."""
    with open_blocks(source) as blocks:
        for block in blocks:
            if into is not None:
                into.write(block)
            progress(blocks.bytes_read, source.size)
    if blocks.cut:
        raise CorruptTrace(f"{source.label}: {blocks.cut}; copy it again")
    return _Stored(blocks.sha256, blocks.bytes_read)


def _refuse_unfinished(path: Path, label: str) -> None:
    """Raises CorruptTrace where a writer is at work, or did not end well."""
    if _is_locked(path, label):
        raise CorruptTrace(f"{label}: another program is writing it; wait until that has ended")
    for suffix, magic in _LEFT_OVER.items():
        beside = path.with_name(path.name + suffix)
        if _begins_with(beside, magic):
            reason = f"its writer did not finish: changes are left in {beside.name}"
            advice = "let SQLite apply them (sqlite3 FILE 'pragma integrity_check')"
            raise CorruptTrace(f"{label}: {reason}; {advice}, or record again")


def _begins_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:  # as a rule there is no such file
        return False


def _is_locked(path: Path, label: str) -> bool:
    try:
        with path.open("rb") as file:
            return not _can_share(file.fileno())
    except OSError as error:
        raise unreadable(label, error) from error


def _can_share(file: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, _LOCK_BYTES, _LOCK_FIRST)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # some network file systems know no locks
        return True
    return True


def _require_whole(path: Path, label: str) -> None:
    """Raises CorruptTrace where the file does not hold as many pages as its header says."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    size = path.stat().st_size
    if len(header) < _HEADER_BYTES or not header.startswith(MAGIC):
        raise CorruptTrace(f"{label}: ends within the header of its database; {_AGAIN}")
    page = int.from_bytes(header[16:18], "big")
    # The number of pages counts only where the last writer knew of it.
    known = header[24:28] == header[92:96]
    pages = int.from_bytes(header[28:32], "big") if known else 0
    wanted = pages * (page if page > 1 else 1 << 16)
    if size < wanted:
        raise CorruptTrace(f"{label}: is cut: {size:,} of {wanted:,} bytes are there; {_AGAIN}")
