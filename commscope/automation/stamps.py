"""The files of a run as they are now: what a report rests on, and how long they have been so."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from commscope.parsers.archives import is_hidden
from commscope.parsers.own_files import REPORTS


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file: its name within the run, and what changes when it is written to."""

    name: bytes
    size: int
    modified_ns: int
    changed_ns: int  #: by the clock of the file system; no program can set it back


@dataclass(frozen=True, slots=True)
class Stamps:
    """All files of a run but hidden ones and its report, in the order of their names."""

    files: tuple[Stamp, ...]

    @property
    def digest(self) -> str:
        """Equal for equal files, wherever the run lies."""
        told = hashlib.sha256()
        for file in self.files:
            told.update(file.name + f"\0{file.size} {file.modified_ns}\n".encode())
        return told.hexdigest()[:16]

    def quiet_s(self, now_s: float) -> float:
        """For how long no file has changed; endless where there is none."""
        newest = max((file.changed_ns for file in self.files), default=None)
        return float("inf") if newest is None else now_s - newest / 1e9


def stamps_of(run: Path, paths: Sequence[Path]) -> Stamps:
    """The files of a run at these paths, folders with all that lies in them.

    What vanishes meanwhile is left out.
    """
    found = {stamp.name: stamp for path in paths for stamp in _stamps(run, path)}
    return Stamps(tuple(found[name] for name in sorted(found)))


def _stamps(run: Path, path: Path) -> Iterator[Stamp]:
    pending, seen = deque([path]), set[tuple[int, int]]()
    while pending:
        one = pending.popleft()
        try:
            status = one.stat()
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            name = os.fsencode(os.path.relpath(one, run))
            yield Stamp(name, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        elif stat.S_ISDIR(status.st_mode) and (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            pending.extend(_shown(one, REPORTS if one == run else ()))


def _shown(folder: Path, passed: Sequence[str]) -> list[Path]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder / name for name in names if not is_hidden(name) and name not in passed]
