"""Named baselines in a folder: each holds several runs, saved one after the other.

    FOLDER/NAME/run-1/  run-2/ ...      saved runs

A run is written under a hidden name and then renamed, which fails where another process was
faster: so none is ever half written, and none is lost.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from commscope._version import DEFINITIONS_VERSION
from commscope.engine.saved import read_manifest
from commscope.errors import UsageError
from commscope.parsers.archives import BASELINES
from commscope.parsers.opening import Source
from commscope.parsers.saved.documents import READING, RUN_FILE
from commscope.saved.pack import Files, unfinished, unwritable, write_folder

DEFAULT_FOLDER = Path(BASELINES)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
_RUN = re.compile(r"run-([1-9]\d{0,8})")
#: So many processes do not save one baseline at once.
_MOST_TRIES = 1_000


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run of a baseline; the versions are those that wrote it."""

    name: str
    path: Path
    tool: str
    definitions: int
    is_redacted: bool
    readings: int
    bytes: int

    @property
    def is_comparable(self) -> bool:
        """Whether its numbers mean the same as those of this version."""
        return self.definitions == DEFINITIONS_VERSION


@dataclass(frozen=True, slots=True)
class Baseline:
    """A name and its runs, in the order in which they were saved."""

    name: str
    runs: tuple[SavedRun, ...]


def baseline_runs(folder: Path, name: str) -> list[Path]:
    """The runs of a baseline in the order in which they were saved, each to be given to ``load``.

    Raises UsageError where there is none.
    """
    require_name(name)
    runs = _runs(folder / name)
    if not runs:
        known = ", ".join(_names(folder)) or "none"
        raise UsageError(
            f"{folder}: holds no baseline {name} (there are: {known}); make one with "
            f"commscope baseline save {name} PATH"
        )
    return runs


def list_baselines(folder: Path) -> list[Baseline]:
    """All baselines of a folder by name; raises CorruptTrace where a manifest is damaged."""
    return [Baseline(name, tuple(map(saved_run, _runs(folder / name)))) for name in _names(folder)]


def saved_run(path: Path) -> SavedRun:
    """What the manifest of a saved run tells; raises CorruptTrace or UsageError without one."""
    manifest = read_manifest(
        Source(path / RUN_FILE, label=f"{path.parent.name}/{path.name}/{RUN_FILE}")
    )
    files = list(_entries(path))
    return SavedRun(
        path.name,
        path,
        manifest.tool,
        manifest.definitions,
        manifest.redacted,
        readings=sum(file.name.endswith(READING) for file in files),
        bytes=sum(file.stat().st_size for file in files),
    )


def save_run(folder: Path, name: str, files: Files) -> Path:
    """Adds a run to a baseline, which is made where it is new; returns where it lies.

    Raises UsageError where the name is none, or the folder cannot be written.
    """
    require_name(name)
    baseline = folder / name
    try:
        baseline.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(baseline, error) from error
    new = unfinished(baseline / "run")
    try:
        write_folder(files, new)
        return _take_number(new, baseline)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def remove(folder: Path, name: str, run: str | None = None) -> int:
    """Removes a baseline, or one run of it; returns how many runs. UsageError where it is none."""
    runs = [path for path in baseline_runs(folder, name) if run in (None, path.name)]
    if not runs:
        there = ", ".join(path.name for path in baseline_runs(folder, name))
        raise UsageError(f"{folder / name}: has no {run}; there are {there}")
    for path in runs:
        _remove(path)
    with suppress(OSError):  # there are other runs
        (folder / name).rmdir()
    return len(runs)


def require_name(name: str) -> None:
    """Raises UsageError where a baseline cannot be called so."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"baseline {name!r}: take letters, digits, and _ . - for its name")


def _take_number(new: Path, baseline: Path) -> Path:
    """Renames a finished run to the next number that is free."""
    number = max((_number(path) for path in _runs(baseline)), default=0)
    for _ in range(_MOST_TRIES):
        number += 1
        target = baseline / f"run-{number}"
        try:
            # On a folder with files in it this fails, whoever put it there.
            return new.rename(target)
        except OSError as error:
            if not target.exists():
                raise unwritable(target, error) from error
    raise UsageError(f"{baseline}: no number is free for another run; remove some")


def _remove(run: Path) -> None:
    gone = unfinished(run)
    try:
        run.rename(gone)
        shutil.rmtree(gone)
    except OSError as error:
        raise UsageError(f"{run}: cannot be removed ({error.strerror or error})") from error


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in _entries(folder) if _runs(path))


def _runs(baseline: Path) -> list[Path]:
    """The folders of runs, by number."""
    found = [path for path in _entries(baseline) if _RUN.fullmatch(path.name) and path.is_dir()]
    return sorted(found, key=_number)


def _entries(folder: Path) -> Iterable[Path]:
    """What lies in a folder; nothing where it is none, or cannot be read."""
    try:
        return list(folder.iterdir())
    except OSError:
        return ()


def _number(run: Path) -> int:
    found = _RUN.fullmatch(run.name)
    return int(found[1]) if found else 0
