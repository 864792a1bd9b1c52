"""From paths to a trace: find the files, choose a parser for each, read, normalise."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from commscope.engine.parallel import read_in_parallel
from commscope.engine.reading import Outcome, RunProgress, progress_of, silent, try_source
from commscope.engine.unprofiled import step_times
from commscope.errors import CorruptTrace, FormatError, NoDeviceEvents, UnknownFormat, UsageError
from commscope.normalize import Options, normalize
from commscope.parsers.appearance import looks_like
from commscope.parsers.base import Parser, Reading
from commscope.parsers.detect import choose_parser, known_formats
from commscope.parsers.opening import Source, open_session, read_head
from commscope.parsers.sources import find_sources
from commscope.trace import Note, Trace


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is read with which parser, and what is said of the rest."""

    chosen: tuple[tuple[Source, Parser], ...]
    notes: tuple[Note, ...]
    unprofiled_step_ns: int | None


def load_trace(
    paths: Sequence[str | os.PathLike[str]],
    options: Options,
    *,
    parser: str | None = None,
    unprofiled_step_ns: int | None = None,
    progress: RunProgress = silent,
) -> Trace:
    """Reads files, folders, patterns, archives or ``-`` into one trace.

    ``unprofiled_step_ns`` is a step without the profiler; where it is null, logs may tell it.
    Raises UsageError, FormatError or DataError (see ``commscope.errors``).
    """
    with open_session():
        plan = _plan(paths, parser)
        readings, notes = _read_all(plan.chosen, progress)
    trace = _normalized(readings, options)
    return replace(
        trace,
        notes=plan.notes + tuple(notes) + trace.notes,
        unprofiled_step_ns=unprofiled_step_ns or plan.unprofiled_step_ns,
    )


def _normalized(readings: Sequence[Reading], options: Options) -> Trace:
    """The trace; damage is to blame first where it shows no activity of the GPU."""
    try:
        return normalize(readings, options)
    except NoDeviceEvents as error:
        damaged = [reading for reading in readings if reading.health.is_damaged]
        if not damaged:
            raise
        reason = damaged[0].health.cut or "it is damaged"
        raise CorruptTrace(
            f"{damaged[0].input.file}: no GPU activity in what could be read ({reason}); "
            "copy or record it again"
        ) from error


def _plan(paths: Sequence[str | os.PathLike[str]], wanted: str | None) -> _Plan:
    """Chooses a parser for every file; in folders and archives, other files are passed over."""
    found = find_sources(paths)
    plan = _Choice()
    for source in found.sources:
        plan.add(source, wanted)
    if not plan.chosen:
        raise plan.nothing()
    notes = [Note("files", says) for says in found.notes]
    if plan.skipped:
        notes.append(Note("files", f"left out, no trace: {_shown(plan.skipped)}"))
    notes += [Note("files", f"left out: {error}") for error in plan.failed]
    times = plan.step_times
    return _Plan(tuple(plan.chosen), tuple(notes), max(times) if times else None)


@dataclass(slots=True)
class _Choice:
    chosen: list[tuple[Source, Parser]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: list[UsageError] = field(default_factory=list)
    step_times: list[int] = field(default_factory=list)

    def add(self, source: Source, wanted: str | None) -> None:
        """Chooses the file's parser; what nobody named may be no trace, or vanish."""
        try:
            head = read_head(source)
        except UsageError as error:
            if source.named:
                raise
            self.failed.append(error)
            return
        try:
            self.chosen.append((source, choose_parser(head, source, wanted)))
        except UnknownFormat:
            if source.named:
                raise
            self.skipped.append(f"{source.label} ({looks_like(head, source.size)})")
            self.step_times += step_times(head, source)

    def nothing(self) -> FormatError | UsageError:
        """Why nothing was chosen."""
        if not self.skipped:
            return self.failed[0]
        files = f"{len(self.skipped)} file{'s' if len(self.skipped) > 1 else ''}"
        return UnknownFormat(f"no trace in {files}: {_shown(self.skipped)}; {known_formats()}")


def _shown(labels: Sequence[str]) -> str:
    more = len(labels) - 3
    return ", ".join(labels[:3]) + (f" and {more} more" if more > 0 else "")


def _read_all(
    chosen: Sequence[tuple[Source, Parser]], progress: RunProgress
) -> tuple[list[Reading], list[Note]]:
    """Reads every file; of several, one that cannot be read is left out and said."""
    readings: list[Reading] = []
    failed: list[FormatError | UsageError] = []
    for outcome in _outcomes(chosen, progress):
        if isinstance(outcome, list):
            readings += outcome
        else:
            failed.append(outcome)
    if failed and not readings:
        raise failed[0]
    return readings, [Note(_topic(error), f"left out: {error}") for error in failed]


def _topic(error: FormatError | UsageError) -> str:
    return "damage" if isinstance(error, CorruptTrace) else "files"


def _outcomes(chosen: Sequence[tuple[Source, Parser]], progress: RunProgress) -> Iterator[Outcome]:
    """What became of each file, in order."""
    jobs = dict(enumerate(chosen, 1))
    reports = {
        number: progress_of(progress, source, number, len(jobs))
        for number, (source, _) in jobs.items()
    }
    done = read_in_parallel(jobs, lambda number, *told: reports[number](*told))
    for number, job in jobs.items():
        yield done[number] if number in done else try_source(*job, reports[number])
