"""What tells whether a source is still the one that was read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

import commscope
import commscope.parsers
from commscope._version import __version__

if TYPE_CHECKING:
    from commscope.parsers.base import Parser
    from commscope.parsers.opening import Source

_END_BYTES = 64 << 10
#: A database with one of these beside it holds more, or less, than its own file says.
_BESIDE = ("-wal", "-journal")


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as it was; ``ends`` is the hash of its first and last 64 KiB."""

    path: str
    label: str
    size: int
    mtime_ns: int
    ends: str


@dataclass(frozen=True, slots=True)
class CacheKey:
    """What is kept: of which files, made by what, as which options say. Equal keys, equal entries.

    The labels belong to it, as readings and their notes name the files by them.
    """

    made_by: str  #: a parser, or ``report``
    code: str
    files: tuple[FileStamp, ...]
    options: str = ""

    def name(self) -> str:
        """The same for all states of the files, so that a new one takes the old one's place."""
        same = [self.made_by, self.options, *([file.path, file.label] for file in self.files)]
        return blake2b(json.dumps(same).encode(), digest_size=20).hexdigest()


def key_of(source: Source, parser: Parser, least_bytes: int) -> CacheKey | None:
    """The key of a source; null where it is not worth, or not safe, to keep what is read of it.

    Kept are plain files of ``least_bytes`` together that did not change since they were found.
    Parsers of plug-ins may change without a trace, so what they read is not kept. Raises OSError
    where a file cannot be read.
    """
    files = (source, *source.companions)
    is_ours = type(parser).__module__.startswith(f"{commscope.parsers.__name__}.")
    if not is_ours or any(file.member or file.extent for file in files):
        return None
    stamps = stamps_of(files, least_bytes)
    return None if stamps is None else CacheKey(parser.name, code(), stamps)


def stamps_of(files: Sequence[Source], least_bytes: int) -> tuple[FileStamp, ...] | None:
    """The stamps of plain files of ``least_bytes`` together; null, and OSError, as ``key_of``."""
    if sum(file.size or 0 for file in files) < least_bytes:
        return None
    stamps = [stamp for file in files if (stamp := _stamp(file)) is not None]
    return tuple(stamps) if len(stamps) == len(files) else None


def _stamp(source: Source) -> FileStamp | None:
    if source.path is None:
        return None
    path = os.path.abspath(source.path)
    status = os.stat(path)
    is_as_found = (status.st_size, status.st_mtime_ns) == (source.size, source.modified)
    if not S_ISREG(status.st_mode) or not is_as_found or _has_beside(path):
        return None
    return FileStamp(path, source.label, status.st_size, status.st_mtime_ns, _ends(path))


def _has_beside(path: str) -> bool:
    return any(os.path.exists(path + suffix) for suffix in _BESIDE)


def _ends(path: str) -> str:
    found = blake2b(digest_size=20)
    with open(path, "rb") as file:
        found.update(file.read(_END_BYTES))
        file.seek(max(file.seek(0, os.SEEK_END) - _END_BYTES, 0))
        found.update(file.read(_END_BYTES))
    return found.hexdigest()


@lru_cache(maxsize=1)
def code() -> str:
    """The version of the program.

    A checkout changes without its version: so its modules' sizes and times go in too.
    """
    roots = [Path(root) for module in (commscope, commscope.parsers) for root in module.__path__]
    modules = sorted(path for root in roots for path in root.rglob("*.py"))
    times = [(path.name, (s := path.stat()).st_size, s.st_mtime_ns) for path in modules]
    return blake2b(repr((__version__, times)).encode(), digest_size=20).hexdigest()
