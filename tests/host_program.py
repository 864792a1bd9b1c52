"""The program that plays schedules, compiled for the host, and runs of it."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commscope.generator import Schedule, to_text
from commscope.generator.playing import compiling

#: Of all processes of a user: equal sources are compiled once.
_CACHE = Path(tempfile.gettempdir(), f"commscope-tests-{os.getuid()}")
_SECONDS = 60


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """What is compiled meanwhile is kept in the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMMSCOPE_CACHE_DIR", str(folder))
        yield


@functools.cache
def host_program() -> Path:
    """Path of the program; the test is skipped where there is no compiler."""
    return _built(shared=False)


@functools.cache
def host_object() -> Path:
    """Path of the shared object; the test is skipped where there is no compiler."""
    return _built(shared=True)


def _built(*, shared: bool) -> Path:
    if not shutil.which("g++"):
        pytest.skip("needs g++")
    with kept_in(_CACHE):
        return compiling.build("host", shared=shared)


def write_schedule(schedule: Schedule, folder: Path) -> Path:
    """The schedule as a file in the folder."""
    path = folder / "schedule.txt"
    path.write_text(to_text(schedule), encoding="utf-8")
    return path


def start(schedule: Path, rank: int, *options: str) -> subprocess.Popen[str]:
    """The program, as it plays one rank and writes into the folder of the schedule."""
    words = [str(host_program()), "--schedule", str(schedule), "--rank", str(rank)]
    words += ["--out", str(schedule.parent), *options]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code of a process, and what it wrote about errors."""
    _, errors = process.communicate(timeout=_SECONDS)
    return process.returncode, errors


def play(schedule: Schedule, folder: Path, *options: str) -> list[tuple[int, str]]:
    """Plays all ranks of a schedule; gives what came of each."""
    path = write_schedule(schedule, folder)
    processes = [start(path, rank, *options) for rank in range(len(schedule.programs))]
    return [ended(process) for process in processes]


def lines(path: Path) -> Sequence[dict[str, Any]]:
    """The lines of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
