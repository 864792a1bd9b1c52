"""The folder of a generated run: where what lies, written and read in one place.

    run.json              what was run: a GeneratedRun
    plan.json             knobs and planned causes
    schedule.txt          what every rank does
    truth_rankN.jsonl     what really happened
    rankN/                traces of the profiler, rccl.log, output.log
    topology.*            where it is known

The folder of a suite holds one such folder for each run.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from commscope.errors import CorruptTrace, UsageError
from commscope.generator.catalog.plan import Plan
from commscope.generator.schedule import Schedule
from commscope.generator.schedule_text import from_text, to_text

_File = TypeVar("_File", bound=msgspec.Struct)
SCHEMA = "commscope.generated/1"
RUN, PLAN, SCHEDULE = "run.json", "plan.json", "schedule.txt"


class GeneratedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What was run, with what, and what came of it.

    ``files`` are those of each rank, as paths within the folder; ``commands`` and ``exit_codes``
    those of the ranks' processes, in their order. A simulation has neither. ``warnings`` are
    what to know of the run. Only the ``profile_ranks`` have traces; none: all.
    """

    schema: str = SCHEMA
    scenario: str
    engine: str
    backend: str
    profiler: str
    world: int
    steps: int
    warmup: int
    versions: dict[str, str] = {}
    commands: list[list[str]] = []
    exit_codes: list[int] = []
    warnings: list[str] = []
    profile_ranks: list[int] = []
    files: dict[int, list[str]] = {}


class PlanFile(msgspec.Struct, frozen=True):
    """What was planned, as plan.json tells it."""

    scenario: str
    knobs: dict[str, Any]
    causes: list[dict[str, Any]]
    env: dict[str, str]


def truth_path(folder: Path, rank: int) -> Path:
    """The truth of a rank."""
    return folder / f"truth_rank{rank}.jsonl"


def rank_folder(folder: Path, rank: int) -> Path:
    """Where the traces and logs of a rank are."""
    return folder / f"rank{rank}"


def run_path(folder: Path) -> Path:
    """What was run."""
    return folder / RUN


def schedule_path(folder: Path) -> Path:
    """The schedule of all ranks."""
    return folder / SCHEDULE


@contextmanager
def begun(folder: Path, plan: Plan) -> Iterator[None]:
    """The folder with plan and schedule; it is emptied again where nothing came of it.

    That is so if no run.json is there in the end. Raises UsageError where there is something else
    in the folder, or it cannot be made.
    """
    require_usable(folder)
    is_new = not folder.exists()
    try:
        _begin(folder, plan)
        yield
    finally:
        if not run_path(folder).is_file():
            _discard(folder, is_new=is_new)


def _discard(folder: Path, *, is_new: bool) -> None:
    """Removes what was written; the folder itself was there before, unless it is new."""
    for entry in list(folder.iterdir()) if folder.is_dir() else ():
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    if is_new:
        with suppress(OSError):
            folder.rmdir()


def _begin(folder: Path, plan: Plan) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PLAN).write_text(_text(plan_document(plan)), encoding="utf-8")
        schedule_path(folder).write_text(to_text(plan.schedule), encoding="utf-8")
        for rank in range(plan.knobs.ranks):
            rank_folder(folder, rank).mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written ({error.strerror})") from error


def require_usable(folder: Path) -> None:
    """Raises UsageError for a folder that is not empty: what is left there would be read, too."""
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"--out {folder}: is not empty; name a new folder")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder}: is no folder")


def plan_document(plan: Plan) -> Mapping[str, Any]:
    """Knobs and causes as JSON holds them."""
    return {
        "scenario": plan.scenario,
        "knobs": dataclasses.asdict(plan.knobs),
        "causes": [dataclasses.asdict(cause) for cause in plan.causes],
        "env": dict(plan.env),
    }


def finish(folder: Path, run: GeneratedRun) -> None:
    """Writes what was run, after all else."""
    (folder / RUN).write_bytes(run_bytes(run))


def run_bytes(run: GeneratedRun) -> bytes:
    """What run.json holds."""
    return _text(msgspec.to_builtins(run, str_keys=True)).encode()


def _text(document: Any) -> str:
    return json.dumps(document, indent=2) + "\n"


def files_of(folder: Path, world: int) -> dict[int, list[str]]:
    """What lies in the folders of the ranks, by rank."""
    return {
        rank: sorted(
            str(path.relative_to(folder))
            for path in rank_folder(folder, rank).rglob("*")
            if path.is_file()
        )
        for rank in range(world)
    }


def read_run(folder: Path) -> GeneratedRun:
    """What was run; raises UsageError where that is no such folder, CorruptTrace for nonsense."""
    run = _read(folder / RUN, GeneratedRun)
    if run.schema != SCHEMA:
        raise CorruptTrace(f"{folder / RUN}: schema {run.schema!r}, known is {SCHEMA}")
    return run


def read_plan(folder: Path) -> PlanFile:
    """What was planned; raises as ``read_run``."""
    return _read(folder / PLAN, PlanFile)


def read_schedule(folder: Path) -> Schedule:
    """The schedule; raises UsageError where it is missing, ScheduleError where it is broken."""
    path = schedule_path(folder)
    try:
        return from_text(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error


def runs_in(folder: Path) -> list[Path]:
    """The folder itself if it is a run, else the runs of a suite, by name.

    Raises UsageError where there are none.
    """
    if (folder / RUN).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{RUN}"))
    if not found:
        raise UsageError(f"{folder}: no run of commscope generate: there is no {RUN}")
    return found


def _read(path: Path, kind: type[_File]) -> _File:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptTrace(f"{path}: {error}") from error
