"""The runs of a folder as one archive that can be shared: renamed, with all numbers as they were.

    RUN/run.json              commands, versions and warnings, renamed
    RUN/plan.json, RUN/schedule.txt, RUN/truth_rankN.jsonl   as they are: they name nobody
    RUN/output_rankN.txt      the end of what the rank printed, renamed
    RUN/traces.tar.gz         a redacted run, as ``commscope bundle --redact`` writes it

Unpacked, ``commscope grade`` and ``commscope analyze`` read it as they read the folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from commscope.analysis.result import analyse
from commscope.engine.load import read_run as read_traces
from commscope.engine.load import trace_of
from commscope.engine.run import Run
from commscope.errors import CommscopeError, DataError
from commscope.generator.run_folder import (
    PLAN,
    RUN,
    SCHEDULE,
    GeneratedRun,
    rank_folder,
    read_run,
    run_bytes,
    truth_path,
)
from commscope.report.build import report_of
from commscope.report.model import Report
from commscope.saved.files import run_files, with_quotes
from commscope.saved.names import Names
from commscope.saved.pack import write_archive
from commscope.saved.redaction import redacted
from commscope.saved.same_numbers import first_difference
from commscope.saved.scrubber import Scrubber

_TRACES = "traces.tar.gz"
_OUTPUT = "output.log"
_LAST_LINES = 200
#: Hosts, and users in paths, are looked for in all texts once all are known.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Packed:
    """A run in the archive; ``lacks`` says why its traces are not in it, if they are not."""

    name: str
    size_bytes: int
    lacks: str = ""


def bundle_runs(folders: list[Path], output: Path) -> list[Packed]:
    """Writes the runs of these folders into an archive, and says what is in it.

    Raises UsageError where it cannot be written, DataError where renaming would change numbers.
    """
    files: list[tuple[str, bytes]] = []
    packed = []
    for folder in folders:
        own = list(_texts(folder))
        lacks = ""
        try:
            own.append((_TRACES, _traces(folder)))
        except DataError:
            raise
        except CommscopeError as error:
            lacks = str(error)
        files += [(f"{folder.name}/{name}", data) for name, data in own]
        packed.append(Packed(folder.name, sum(len(data) for _, data in own), lacks))
    write_archive(files, output)
    return packed


def _texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    run = read_run(folder)
    outputs = {
        f"output_rank{rank}.txt": path
        for rank in range(run.world)
        if (path := rank_folder(folder, rank) / _OUTPUT).is_file()
    }
    names = Names()
    scrubber = Scrubber(names)
    for _ in range(_ROUNDS):
        names.next_round()
        _renamed(run, scrubber)
        for path in outputs.values():
            _end_of(path, scrubber)
    names.settle()
    yield RUN, run_bytes(_renamed(run, scrubber))
    for name in (PLAN, SCHEDULE, *(truth_path(folder, rank).name for rank in range(run.world))):
        if (folder / name).is_file():
            yield name, (folder / name).read_bytes()
    for name, path in outputs.items():
        yield name, _end_of(path, scrubber)


def _renamed(run: GeneratedRun, scrubber: Scrubber) -> GeneratedRun:
    """What was run, without the list of files, which are packed otherwise."""
    return msgspec.structs.replace(
        run,
        versions={name: scrubber.version(text) for name, text in run.versions.items()},
        commands=[list(map(scrubber.text, words)) for words in run.commands],
        warnings=list(map(scrubber.text, run.warnings)),
        files={},
    )


def _end_of(path: Path, scrubber: Scrubber) -> bytes:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:]
    return "".join(f"{scrubber.text(line)}\n" for line in lines).encode()


def _traces(folder: Path) -> bytes:
    """The traces and logs as a redacted run; raises CommscopeError where there are none to read."""
    run = read_traces([folder])
    report = _report(run)
    run = with_quotes(run, report.findings)
    shared = redacted(run).run
    differs = first_difference(report.to_dict(), _report(shared).to_dict())
    if differs is not None:
        raise DataError(f"{folder}: renaming would change numbers of {differs}")
    with tempfile.TemporaryDirectory() as place:
        archive = Path(place, _TRACES)
        write_archive(run_files(shared, is_redacted=True), archive)
        return archive.read_bytes()


def _report(run: Run) -> Report:
    return report_of(analyse(trace_of(run)))
