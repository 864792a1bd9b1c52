"""A folder of the user's own with what was kept for the next time.

An entry is written under another name and then renamed, so none is ever half written, whoever else
reads or writes; the last one wins. One that is damaged all the same is removed. Nothing here ever
fails: without room, or without the right to write, all is made anew.
"""

from __future__ import annotations

import logging
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from commscope.engine.cache_frame import CorruptEntry, key_in
from commscope.engine.cache_key import CacheKey

if TYPE_CHECKING:
    import pyarrow as pa

Kept = TypeVar("Kept")

LIMIT_BYTES = 5 * 10**9
#: Of less, all is made as fast as it is looked up.
LEAST_BYTES = 8 << 20

_SUFFIX = ".kept"
_UNFINISHED = ".part"
#: No entry takes as long to write: what is older was left by a process that was killed.
_LEFT_OVER_S = 3600

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """What is kept of one source, or of all that a report rests on."""

    source: str  #: path of the file, or of the first of several
    made_by: str  #: a parser, or ``report``
    bytes: int
    used_ns: int  #: when it was last read or written


@dataclass(frozen=True, slots=True)
class CacheStore:
    """Entries by their keys, the least recently used removed beyond the limit."""

    folder: Path
    limit_bytes: int = LIMIT_BYTES

    def find(self, key: CacheKey, decode: Callable[[bytes, CacheKey], Kept | None]) -> Kept | None:
        """What is kept under the key; null where nothing is."""
        path = self._path(key)
        try:
            if not self._is_own():
                return None
            found = decode(path.read_bytes(), key)
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.debug("%s: not looked up in the cache: %s", key.files[0].label, error)
            return None
        except CorruptEntry as error:
            _drop(path, error)
            return None
        if found is not None:
            with suppress(OSError):
                os.utime(path)
        return found

    def keep(self, key: CacheKey, pieces: Sequence[bytes | pa.Buffer]) -> None:
        """Keeps an entry, if there is room and it may."""
        try:
            self._store(key, pieces)
        except OSError as error:
            _log.debug("%s: not kept in the cache: %s", key.files[0].label, error)

    def entries(self) -> list[CacheEntry]:
        """All entries, the last used first; damaged ones are removed."""
        found = []
        for path, status in self._files():
            with suppress(OSError):
                key = self._key_in(path)
                if key is not None:
                    source = key.files[0].path
                    size, used_ns = status.st_size, status.st_mtime_ns
                    found.append(CacheEntry(source, key.made_by, size, used_ns))
        return sorted(found, key=lambda entry: -entry.used_ns)

    def clear(self) -> int:
        """Removes all entries, and what unfinished ones left; returns how many entries."""
        files = list(self._files())
        for path in [*(path for path, _ in files), *self._unfinished()]:
            with suppress(OSError):
                path.unlink()
        return len(files)

    @property
    def size_bytes(self) -> int:
        """The size of all entries."""
        return sum(status.st_size for _, status in self._files())

    def _store(self, key: CacheKey, pieces: Sequence[bytes | pa.Buffer]) -> None:
        if sum(map(len, pieces)) > self.limit_bytes:
            return
        self._make_folder()
        path = self._path(key)
        unfinished = self.folder / f"{path.stem}-{secrets.token_hex(8)}{_UNFINISHED}"
        try:
            _write(unfinished, pieces)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        self._trim()

    def _trim(self) -> None:
        """Removes the least recently used beyond the limit, and what killed processes left."""
        files = sorted(self._files(), key=lambda file: file[1].st_mtime_ns)
        surplus = sum(status.st_size for _, status in files) - self.limit_bytes
        for path, status in files:
            if surplus <= 0:
                break
            path.unlink(missing_ok=True)
            surplus -= status.st_size
        for path in self._unfinished():
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - _LEFT_OVER_S:
                    path.unlink()

    def _path(self, key: CacheKey) -> Path:
        return self.folder / f"{key.name()}{_SUFFIX}"

    def _key_in(self, path: Path) -> CacheKey | None:
        try:
            with path.open("rb") as file:
                return key_in(file)
        except CorruptEntry as error:
            _drop(path, error)
            return None

    def _make_folder(self) -> None:
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if not self._is_own():
            raise PermissionError(f"{self.folder} is not a folder of this user")
        self.folder.chmod(0o700)

    def _is_own(self) -> bool:
        """Whether no other user can have put anything there."""
        try:
            status = self.folder.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self._named(_SUFFIX):
            with suppress(OSError):  # another process may have removed it
                yield path, path.stat()

    def _unfinished(self) -> list[Path]:
        return self._named(_UNFINISHED)

    def _named(self, suffix: str) -> list[Path]:
        return sorted(self.folder.glob(f"*{suffix}")) if self._is_own() else []


def _write(path: Path, pieces: Sequence[bytes | pa.Buffer]) -> None:
    new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(new, "wb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(new)


def _drop(path: Path, error: CorruptEntry) -> None:
    _log.debug("%s: removed from the cache: %s", path.name, error)
    path.unlink(missing_ok=True)
