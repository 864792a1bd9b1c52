"""Logs that processes write on the node itself: kept small while they grow, gathered at the end.

A library that logs each call writes gigabytes an hour, and may not fill the disk of the job. Of a
log that has grown too long the begin is kept, which tells how everything was set up, and the end.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

MOST_BYTES = 256 << 20
BEGIN_BYTES = 32 << 20
_BEGIN = ".begin."
_CHUNK_BYTES = 4 << 20

#: Asked between pieces of work: whether it is time to stop.
Over = Callable[[], bool]


class TimeIsOver(OSError):
    """There was no time left to copy a file."""

    def __init__(self) -> None:
        super().__init__(errno.ETIMEDOUT, "no time was left")


def shorten(folder: Path, most_bytes: int = MOST_BYTES, begin_bytes: int = BEGIN_BYTES) -> None:
    """Empties the logs that take too much room, which their writers go on writing.

    What they began with is kept beside them. A log that cannot be emptied stays as it is.
    """
    for path in _files(folder):
        with contextlib.suppress(OSError):
            if path.stat().st_blocks * 512 > most_bytes:
                _empty(path, begin_bytes)


def _empty(path: Path, begin_bytes: int) -> None:
    begin = path.with_name(_BEGIN + path.name)
    if not begin.exists():
        with path.open("rb") as source:
            begin.write_bytes(source.read(begin_bytes))
    os.truncate(path, 0)


def gather(folder: Path, target: Path, over: Over) -> None:
    """Moves the logs of a folder; raises OSError for the first that cannot be moved."""
    for path in _files(folder):
        _copy(path, target / path.name, over)
        path.unlink()
        with contextlib.suppress(FileNotFoundError):
            path.with_name(_BEGIN + path.name).unlink()


def gather_users(
    folder: Path, names: re.Pattern[str], since_ns: int, target: Path, over: Over
) -> None:
    """Copies logs of the user's that were written since a time; raises as ``gather``."""
    for path in _files(folder):
        if names.fullmatch(path.name) and path.stat().st_mtime_ns >= since_ns:
            _copy(path, target / path.name, over)


def has_files(folder: Path) -> bool:
    """Whether there is any log in a folder."""
    return next(_files(folder), None) is not None


def remove_folder(folder: Path) -> None:
    """Removes a folder with all that is left in it, as far as it can be removed."""
    shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(it.name for it in entries if it.is_file(follow_symlinks=False))
    except OSError:
        return
    yield from (folder / name for name in names if not name.startswith("."))


def _copy(path: Path, target: Path, over: Over) -> None:
    """Copies a log, and its begin where it was emptied, under a hidden name until it is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with new.open("wb") as output:
            begin = path.with_name(_BEGIN + path.name)
            if begin.exists():
                _append(begin, output.fileno(), over)
                os.write(output.fileno(), b"\n")
            _append(path, output.fileno(), over)
        os.replace(new, target)
    finally:
        with contextlib.suppress(OSError):
            new.unlink()


def _append(path: Path, output: int, over: Over) -> None:
    """Appends a file from where it holds data: one that was emptied begins with a hole."""
    with path.open("rb", buffering=0) as source:
        with contextlib.suppress(OSError):
            source.seek(os.lseek(source.fileno(), 0, os.SEEK_DATA))
        while True:
            data = source.read(_CHUNK_BYTES)
            if not data:
                return
            if over():
                raise TimeIsOver
            _write_all(output, data)


def _write_all(output: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(output, view) :]
