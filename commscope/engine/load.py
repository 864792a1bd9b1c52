"""From paths to a trace: find the files, choose a parser for each, read, normalise."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from commscope.engine.cache import NoCache, ReadingCache
from commscope.engine.grouping import grouped
from commscope.engine.parallel import read_in_parallel
from commscope.engine.reading import Outcome, RunProgress, progress_of, silent, try_source
from commscope.engine.run import Run
from commscope.engine.saved import named_apart, saved_beside
from commscope.engine.saved_options import options_of
from commscope.engine.twice import without_twice_read
from commscope.engine.unprofiled import step_times
from commscope.errors import CorruptTrace, FormatError, NoDeviceEvents, UnknownFormat, UsageError
from commscope.normalize import Options, normalize
from commscope.parsers.appearance import looks_like
from commscope.parsers.base import Parser, Reading
from commscope.parsers.detect import choose, known_formats
from commscope.parsers.opening import Source, open_session, read_head
from commscope.parsers.sources import find_sources
from commscope.trace import Note, Trace

if TYPE_CHECKING:
    from commscope.engine.logs import LoadedLogs
    from commscope.topology import Topology

# What reads logs and topology takes as long to import as 60 MB of a trace to read: it is imported
# where there are any.


@dataclass(frozen=True, slots=True)
class JobPaths:
    """Paths of what belongs to the job and is no trace."""

    logs: Sequence[str | os.PathLike[str]] = ()
    topology: Sequence[str | os.PathLike[str]] = ()


_NO_CACHE = NoCache()
#: Formats that list the GPUs of their host with the links between them.
_TELL_LINKS = ("rocprofv3_json", "rocpd")
NOTHING = JobPaths()


@dataclass(frozen=True, slots=True)
class _Other:
    """A file that is no trace, and what it looks like."""

    source: Source
    looks: str


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is read with which parser, what is no trace, and what is said."""

    chosen: tuple[tuple[Source, Parser], ...]
    others: tuple[_Other, ...]
    notes: tuple[Note, ...]
    step_times: tuple[int, ...]
    timed: tuple[str, ...]  #: labels of the files that tell those

    @property
    def tells_topology(self) -> bool:
        """Whether links of the hosts may be found beside the traces, or in them."""
        formats = {parser.name for _, parser in self.chosen}
        return bool(self.others) or not formats.isdisjoint(_TELL_LINKS)

    def left_out(self, used: Collection[str] = ()) -> list[Note]:
        """A note on the files that were not read, but for those that were used otherwise."""
        names = [
            f"{other.source.label} ({other.looks})"
            for other in self.others
            if other.source.label not in used
        ]
        return [Note("files", f"left out, no trace: {_shown(names)}")] if names else []


def read_run(
    paths: Sequence[str | os.PathLike[str]],
    *,
    beside: JobPaths = NOTHING,
    parser: str | None = None,
    progress: RunProgress = silent,
    cache: ReadingCache = _NO_CACHE,
) -> Run:
    """Reads files, folders, patterns, archives or ``-``, or what was saved of them.

    With it go the logs of its job and the topology of its hosts: those given, and those that lie
    beside the traces. Raises UsageError, FormatError or DataError (see ``commscope.errors``).
    """
    with open_session():
        plan = _plan(paths, parser)
        saved = saved_beside([other.source for other in plan.others])
        found = _logs(plan, beside.logs, progress)
        hosts = _topology(paths if plan.tells_topology else (), beside.topology, progress)
        used = {*saved.labels, *plan.timed}
        used.update(() if found is None else [file.file for file in found.logs.files])
        used.update(() if hosts is None else hosts.files)
        says = [Note("files", note) for note in (found.notes if found else ())]
        readings, notes = _read_all(plan.chosen, progress, cache)
    return Run(
        tuple(named_apart(readings)),
        (*plan.notes, *plan.left_out(used), *says, *notes, *saved.notes),
        None if found is None else found.logs,
        hosts,
        max((*plan.step_times, *saved.step_times), default=None),
        *options_of(saved.options),
        saved.definitions,
    )


def trace_of(run: Run) -> Trace:
    """The trace of what was read; raises DataError where it shows no activity of a GPU."""
    trace = _normalized(run.readings, run.options)
    trace = replace(
        trace,
        notes=(*run.notes, *trace.notes),
        unprofiled_step_ns=run.unprofiled_step_ns,
        logs=run.logs,
        topology=run.topology,
        roles=run.roles,
        definitions=run.definitions,
    )
    if run.logs is None or run.options.capture == "all":
        # Between two captures there are calls whose kernels nobody recorded.
        return trace
    from commscope.normalize.named_by_log import name_by_log  # noqa: PLC0415

    return name_by_log(trace, run.logs.tables)


def _logs(
    plan: _Plan, given: Sequence[str | os.PathLike[str]], progress: RunProgress
) -> LoadedLogs | None:
    """The logs that are given, and those that lie beside the traces."""
    if not plan.others and not given:
        return None
    from commscope.engine.logs import logs_beside  # noqa: PLC0415

    return logs_beside([other.source for other in plan.others], given, progress)


def _topology(
    beside: Sequence[str | os.PathLike[str]],
    given: Sequence[str | os.PathLike[str]],
    progress: RunProgress,
) -> Topology | None:
    """The topology that lies beside traces or in them, with that which is given."""
    if not given and not beside:
        return None
    from commscope.engine.topology import topology_beside  # noqa: PLC0415

    return topology_beside(beside, given, progress)


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
    notes += [Note("files", f"left out: {error}") for error in plan.failed]
    return _Plan(
        tuple(grouped(plan.chosen)),
        tuple(plan.others),
        tuple(notes),
        tuple(plan.step_times),
        tuple(plan.timed),
    )


@dataclass(slots=True)
class _Choice:
    chosen: list[tuple[Source, Parser]] = field(default_factory=list)
    others: list[_Other] = field(default_factory=list)
    failed: list[UsageError] = field(default_factory=list)
    step_times: list[int] = field(default_factory=list)
    timed: list[str] = field(default_factory=list)

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
            opinion = choose(head, source, wanted)
        except UnknownFormat:
            # A shell gives the second file of ``--log rccl*.log`` without the option.
            if source.named and not _belongs_to_job(head):
                raise
            self._pass_over(source, looks_like(head, source.size))
            self._time(step_times(head, source), source)
            return
        if opinion.match.unread is None:
            self.chosen.append((source, opinion.parser))
        else:
            self._pass_over(source, opinion.match.unread)

    def _time(self, found: Sequence[int], source: Source) -> None:
        self.step_times += found
        self.timed += [source.label] if found else []

    def _pass_over(self, source: Source, looks: str) -> None:
        self.others.append(_Other(source, looks))

    def nothing(self) -> FormatError | UsageError:
        """Why nothing was chosen."""
        if not self.others:
            return self.failed[0]
        names = [f"{other.source.label} ({other.looks})" for other in self.others]
        files = f"{len(names)} file{'s' if len(names) > 1 else ''}"
        return UnknownFormat(f"no trace in {files}: {_shown(names)}; {known_formats()}")


def _belongs_to_job(head: bytes) -> bool:
    """Whether a file is a log of the library, or tells the topology of a host."""
    from commscope.engine.logs import shows_records  # noqa: PLC0415
    from commscope.parsers.topology import formats_of  # noqa: PLC0415

    return shows_records(head) or bool(formats_of(head))


def _shown(labels: Sequence[str]) -> str:
    more = len(labels) - 3
    return ", ".join(labels[:3]) + (f" and {more} more" if more > 0 else "")


def _read_all(
    chosen: Sequence[tuple[Source, Parser]], progress: RunProgress, cache: ReadingCache
) -> tuple[list[Reading], list[Note]]:
    """Reads every file; of several, one that cannot be read is left out and said."""
    readings: list[Reading] = []
    failed: list[FormatError | UsageError] = []
    for outcome in _outcomes(chosen, progress, cache):
        if isinstance(outcome, list):
            readings += outcome
        else:
            failed.append(outcome)
    if failed and not readings:
        raise failed[0]
    kept, notes = without_twice_read(readings)
    return kept, notes + [Note(_topic(error), f"left out: {error}") for error in failed]


def _topic(error: FormatError | UsageError) -> str:
    return "damage" if isinstance(error, CorruptTrace) else "files"


def _outcomes(
    chosen: Sequence[tuple[Source, Parser]], progress: RunProgress, cache: ReadingCache
) -> Iterator[Outcome]:
    """What became of each file, in order; what is read anew is kept."""
    jobs = dict(enumerate(chosen, 1))
    reports = {
        number: progress_of(progress, source, number, len(jobs))
        for number, (source, _) in jobs.items()
    }
    kept = {n: found for n, job in jobs.items() if (found := cache.get(*job)) is not None}
    new = {number: job for number, job in jobs.items() if number not in kept}
    done = read_in_parallel(new, lambda number, *told: reports[number](*told))
    for number, job in jobs.items():
        if number in kept:
            yield kept[number]
            continue
        outcome = done[number] if number in done else try_source(*job, reports[number])
        if isinstance(outcome, list):
            cache.put(*job, outcome)
        yield outcome
