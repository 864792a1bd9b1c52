"""The runs in a folder that is watched, and whether they are finished.

A run is the folder of ``commscope run``, any other folder in the one that is watched with all that
lies in it, and the files that lie in the watched folder itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from commscope.automation.join import all_nodes, digest_of
from commscope.automation.nodes import Job, is_collected, look
from commscope.automation.stamps import Stamps, stamps_of
from commscope.parsers.archives import is_hidden
from commscope.parsers.own_files import REPORTS
from commscope.parsers.sources import natural
from commscope.units import span


@dataclass(frozen=True, slots=True)
class Found:
    """A run: its folder, and what of it is read; the job is null where it was not collected."""

    folder: Path
    paths: tuple[Path, ...]
    job: Job | None = None

    def stamps(self) -> Stamps:
        """Its files as they are now."""
        return stamps_of(self.folder, self.paths)

    def digest(self) -> str:
        """What a report on it rests on now."""
        return (
            self.stamps().digest if self.job is None else digest_of(self.job, all_nodes(self.job))
        )


def find_runs(watched: Path, *, but: Path | None = None) -> Iterator[Found]:
    """The runs in a folder, or the one that it is itself; ``but`` is passed over."""
    if is_collected(watched):
        yield _job(watched)
        return
    seen = set() if but is None else {_identity(but)}
    files = tuple(path for path in _entries(watched) if path.is_file() and path.name not in REPORTS)
    if files:
        yield Found(watched, files)
    for folder in _folders(watched, seen):
        jobs = [] if is_collected(folder) else list(filter(is_collected, _folders(folder, set())))
        if is_collected(folder):
            yield _job(folder)
        elif jobs:
            yield from map(_job, jobs)
        else:
            yield Found(folder, (folder,))


@dataclass(frozen=True, slots=True)
class Settling:
    """For how long nothing may have been written to what is finished."""

    files_s: float
    ended_job_s: float  #: where the job says that it has ended
    #: Where it does not, though its wrappers show that they live; or where a trace is cut.
    lost_s: float


def why_not_yet(found: Found, now_s: float, settling: Settling) -> str | None:
    """Why a run is not finished, by when its files were written; null where it may be."""
    quiet_s = found.stamps().quiet_s(now_s)
    if found.job is None or found.job.has_ended:
        least_s = settling.files_s if found.job is None else settling.ended_job_s
        return None if quiet_s >= least_s else _written(quiet_s)
    if quiet_s >= settling.lost_s:  # a node that died never says so
        return None
    has_begun_to = any(node.status is not None for node in found.job.nodes)
    return "the job has not ended on all nodes" if has_begun_to else "the job has not ended"


def _written(quiet_s: float) -> str:
    return f"written {span(round(max(quiet_s, 0) * 1e9))} ago"


def _job(folder: Path) -> Found:
    return Found(folder, (folder,), look(folder))


def _folders(folder: Path, seen: set[tuple[int, int]]) -> Iterator[Path]:
    """The folders in a folder, each once: links, which come last, often lead to another one."""
    for path in sorted(_entries(folder), key=lambda path: (path.is_symlink(), natural(path.name))):
        if path.is_dir() and _identity(path) not in seen:
            seen.add(_identity(path))
            yield path


def _entries(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder) if not is_hidden(name)]
    except OSError:
        return []


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino
