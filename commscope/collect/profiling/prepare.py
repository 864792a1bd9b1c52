"""Lays out what the job's processes load, and makes the variables that point to it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from commscope.collect.profiling import rocprofv3
from commscope.collect.profiling.inject.telling import TOLD
from commscope.collect.profiling.options import ProfileOptions

_INJECTED = "commscope.collect.profiling.inject"
_PACKAGE = "_commscope_job"
_START = "sitecustomize.py"
_MOST_TOLD = 1 << 16
_WITHIN = "another commscope run already profiles this job: the traces go here, not there"
#: Nothing: what Kineto tells of its own stages would stand in the output of the job.
_QUIET_KINETO = {"KINETO_LOG_LEVEL": "6"}


@dataclass(frozen=True)
class Prepared:
    """Variables to add to the job's environment, words before its command, lines to show.

    ``told`` is the file in which the job's processes note what they tell; null without a profiler.
    """

    variables: dict[str, str] = field(default_factory=dict)
    command_prefix: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    told: Path | None = None


def prepare(
    options: ProfileOptions,
    traces_dir: Path,
    scratch: Path,
    environment: Mapping[str, str] = os.environ,
) -> Prepared:
    """Gets a job ready to be profiled; traces will lie in ``traces_dir`` as ``rankR.*``.

    ``scratch`` has to be visible to every process of the job. A profiler that is missing is a
    warning: the job then runs without. Raises OSError where ``scratch`` cannot be written.
    """
    if options.kind == "none":
        return Prepared()
    command: list[str] = []
    warnings: list[str] = []
    if options.kind == "rocprofv3":
        command, warnings = rocprofv3.command(environment)
        if not command:
            return Prepared(warnings=warnings)
    if TOLD in environment:
        warnings = [*warnings, _WITHIN]
    folder, told = scratch.resolve() / "inject", scratch.resolve() / "told"
    _lay_out(folder)
    variables = {
        "PYTHONPATH": _in_front(str(folder), environment.get("PYTHONPATH")),
        "COMMSCOPE_PROFILER": options.kind,
        "COMMSCOPE_PROFILE": _settings(options, command),
        "COMMSCOPE_TRACES_DIR": str(traces_dir.resolve()),
        TOLD: str(told),
    }
    quiet = {name: it for name, it in _QUIET_KINETO.items() if name not in environment}
    return Prepared({**quiet, **variables}, [], warnings, told)


def told_inside(told: Path) -> list[str]:
    """What the processes of a job told, each line once; most of it has been heard already."""
    try:
        with told.open("rb") as file:
            text = file.read(_MOST_TOLD).decode("utf-8", "replace")
    except OSError:
        return []
    return list(dict.fromkeys(text.splitlines()))


def _settings(options: ProfileOptions, command: list[str]) -> str:
    first, last = options.steps
    given = {
        "kind": options.kind,
        "first": first,
        "last": last,
        "warmup": options.warmup,
        "ranks": None if options.ranks is None else sorted(options.ranks),
        "marker": options.marker,
        "command": command,
    }
    return json.dumps(given, separators=(",", ":"))


def _in_front(folder: str, path: str | None) -> str:
    """An empty path stays empty: an empty entry would mean the current folder."""
    return folder if not path else os.pathsep.join((folder, path))


def _lay_out(folder: Path) -> None:
    package = folder / _PACKAGE
    package.mkdir(parents=True, exist_ok=True)
    for name, text in _sources():
        place = folder if name == _START else package
        (place / name).write_text(text, encoding="utf-8")


def _sources() -> Iterator[tuple[str, str]]:
    """The files to copy; commscope itself may lie in an archive."""
    for file in files(_INJECTED).iterdir():
        if file.name.endswith(".py"):
            yield file.name, file.read_text(encoding="utf-8")
