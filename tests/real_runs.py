"""The jobs among the real Kineto files, and what the program makes of each, once in a session."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import pytest
from support import case
from verified import FACTS

import commscope
from commscope.analysis.result import Analysis, analyse

Report = dict[str, Any]

#: Folders that hold files of many jobs; every other folder is one job, loaded as a whole.
_COLLECTIONS = {"kineto", "amd/kineto"}


@dataclass(frozen=True)
class Run:
    """What is given to the program at once, and the files of it that hold a rank."""

    path: str
    files: tuple[str, ...]


def path_of_run(file: str) -> str:
    """What a file is loaded as: itself, or the folder of its job."""
    folder = PurePosixPath(file).parent.as_posix()
    return file if folder in _COLLECTIONS else folder


def _runs() -> list[Run]:
    files: dict[str, list[str]] = {}
    for file in FACTS:
        if FACTS[file]["counts"].get("kernels") != 0:
            files.setdefault(path_of_run(file), []).append(file)
    return [Run(path, tuple(found)) for path, found in sorted(files.items())]


RUNS = _runs()
each_run = pytest.mark.parametrize("run", RUNS, ids=lambda run: run.path)


@cache
def report_of(path: str) -> Report:
    """The JSON report of a run."""
    found: Report = commscope.analyze(commscope.load([case(path)])).to_dict()
    return found


@cache
def analysis_of(path: str) -> Analysis:
    """The analysis of a run."""
    return analyse(commscope.load([case(path)]))
