"""What run.json tells of a run: whether its processes ended well, and wrote what they should."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from commscope.errors import CommscopeError
from commscope.generator.grading.model import (
    Blame,
    Numbers,
    Place,
    Row,
    Suspect,
    failed,
    held,
    not_told,
)
from commscope.generator.run_folder import GeneratedRun, read_run, run_path

_CHECK = "run"
#: Exit codes of the program whose cause is known, see docs/generate.md.
_CODES: dict[int, tuple[Suspect, str]] = {
    77: ("fabric", "it found no GPU"),
    78: ("fabric", "there was no such device, or not enough of them"),
    79: ("fabric", "it found no collective library"),
    -9: ("fabric", "it was killed, as what hangs is; or memory ran out"),
    124: ("fabric", "it hung: no operation made progress"),
}
#: Files that are named where many are missing.
_NAMED = 4


@dataclass(frozen=True, slots=True)
class RunFile:
    """What run.json tells, and what is to be said of it; null where it is missing or broken."""

    run: GeneratedRun | None
    rows: tuple[Row, ...]


def read_run_file(folder: Path) -> RunFile:
    """Reads run.json, which older runs lack."""
    if not run_path(folder).exists():
        says = "there is no run.json: how its processes ended is not known"
        return RunFile(None, (not_told(_CHECK, Place(), says),))
    try:
        run = read_run(folder)
    except CommscopeError as error:
        return RunFile(None, (failed(_CHECK, Place(), Blame("truth", str(error))),))
    return RunFile(run, (*_exit_codes(run), *_files(folder, run)))


def _exit_codes(run: GeneratedRun) -> Iterator[Row]:
    for rank, code in enumerate(run.exit_codes):
        suspect, says = _CODES.get(code, ("fabric", "see its output.log"))
        blame = Blame(suspect, f"the process of the rank ended with {code}: {says}")
        yield held(_CHECK, Place(rank, what="exit code"), Numbers(0, code, unit="count"), blame)


def _files(folder: Path, run: GeneratedRun) -> Iterator[Row]:
    listed = [(rank, name) for rank, names in sorted(run.files.items()) for name in names]
    missing = [(rank, name) for rank, name in listed if not (folder / name).is_file()]
    for rank, name in islice(missing, _NAMED):
        more = f" (one of {len(missing):,} that are missing)" if len(missing) > 1 else ""
        says = f"the run wrote {name}, which is not there any more{more}"
        yield failed(_CHECK, Place(rank, what="files"), Blame("truth", says))
    if listed and not missing:
        numbers = Numbers(len(listed), len(listed), unit="count")
        yield held(_CHECK, Place(what="files"), numbers, Blame("truth", ""))
