"""Plays a schedule on this machine: compiles, starts a process a rank, reads back what came of it.

RUN/schedule.txt
RUN/recorded/   what the program measured
RUN/rankN/      traces, rccl.log, output.log
RUN/topology/   what the vendors' tools tell of the machine; not for the host backend
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commscope.collect.profiling.rocprofv3 import MI300A
from commscope.errors import CommscopeError, UsageError
from commscope.generator.playing import activity_trace, collectors, compiling, environment
from commscope.generator.playing.backends import choose_backend
from commscope.generator.playing.collectors import Collector
from commscope.generator.playing.launching import RankCommand, RankEnded, check, launch
from commscope.generator.playing.recording import Recording, read_recording
from commscope.generator.schedule import Compute, Program, Schedule, Sleep
from commscope.generator.schedule_text import to_text

RECORDED = "recorded"
SCHEDULE = "schedule.txt"
OUTPUT = "output.log"


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """On what a schedule is played, and how it is recorded.

    ``program`` are options of the program, ``variables`` go into the environment of every rank,
    ``devices[rank]`` is the GPU of a rank (null: GPUs in order), ``profile_ranks`` null means all.
    No operation may take longer than ``timeout_s``.
    """

    backend: str = "auto"
    arch: str | None = None
    compiler: str | None = None
    profiler: str = "auto"
    formats: tuple[str, ...] = ()
    profile_ranks: frozenset[int] | None = None
    python: str | None = None
    timeout_s: int = 120
    devices: tuple[int, ...] | None = None
    program: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Launched:
    """Ranks that have ended, well or not, within ``limit_s``.

    ``warnings`` are lines to show.
    """

    backend: str
    collector: Collector
    ended: tuple[RankEnded, ...]
    limit_s: float
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it; ``traces[rank]`` are its files, none where it was not profiled."""

    recording: Recording
    traces: tuple[tuple[Path, ...], ...]


def rank_folder(run: Path, rank: int) -> Path:
    """Where the traces and logs of a rank lie."""
    return run / f"rank{rank}"


def commands(
    schedule: Schedule, options: PlayOptions, run: Path, program: Path, meet: Path
) -> list[RankCommand]:
    """What is run for each rank; ``meet`` is the folder in which the ranks find each other.

    Raises UsageError for a profiler that cannot be had, and too few devices given.
    """
    collector = _collector(options)
    world = len(schedule.programs)
    if options.devices is not None and len(options.devices) < world:
        raise UsageError(f"--devices names {len(options.devices)} of {world} ranks' GPUs")
    return [
        RankCommand(
            rank,
            _words(options, run, (str(program), *_program_options(options, run, rank, meet)), rank,
                   collector),
            rank_folder(run, rank) / OUTPUT,
            {
                **environment.rank_variables(rank, world, rank, world),
                **environment.log_variables(rank_folder(run, rank)),
                **options.variables,
            },
        )
        for rank in range(world)
    ]  # fmt: skip


def play(schedule: Schedule, options: PlayOptions, run: Path) -> Launched:
    """Plays the schedule until all ranks have ended; ``read_back`` says how.

    Raises UsageError for what this machine cannot do, and CommscopeError where the program cannot
    be compiled.
    """
    backend = choose_backend(options.backend)
    collector = _collector(options)
    program = compiling.build(
        backend, options.arch, compiler=options.compiler, shared=collector.shared
    )
    _lay_out(schedule, run)
    if backend != "host":
        environment.save_topology(run)
    warnings = [*collector.warnings, *_mi300a_warnings(collector, options, run, schedule)]
    limit_s = 2 * options.timeout_s + max(map(_planned_s, schedule.programs), default=0)
    with tempfile.TemporaryDirectory(prefix="commscope-") as meet:
        ended = launch(commands(schedule, options, run, program, Path(meet)), limit_s)
    return Launched(backend, collector, tuple(ended), limit_s, tuple(warnings))


def read_back(schedule: Schedule, options: PlayOptions, run: Path, launched: Launched) -> Played:
    """What was measured and traced; traces that no profiler writes are written now.

    Raises UsageError and CommscopeError where a rank failed or hung, with its last line.
    """
    check(launched.ended, launched.limit_s)
    recording = read_recording(run / RECORDED, schedule)
    traces = tuple(
        _traces(launched.collector, recording, options, run, rank)
        for rank in range(len(recording.ranks))
    )
    return Played(recording, traces)


def _collector(options: PlayOptions) -> Collector:
    backend = choose_backend(options.backend)
    return collectors.choose(options.profiler, backend, options.formats, python=options.python)


def _is_profiled(options: PlayOptions, rank: int) -> bool:
    return options.profile_ranks is None or rank in options.profile_ranks


def _program_options(options: PlayOptions, run: Path, rank: int, meet: Path) -> Sequence[str]:
    device = rank if options.devices is None else options.devices[rank]
    return (
        "--schedule", str(run / SCHEDULE), "--rank", str(rank), "--out", str(run / RECORDED),
        "--rendezvous", str(meet), "--device", str(device), "--timeout", str(options.timeout_s),
        *options.program,
    )  # fmt: skip


def _words(
    options: PlayOptions, run: Path, words: Sequence[str], rank: int, collector: Collector
) -> tuple[str, ...]:
    profiled = _is_profiled(options, rank)
    own = "auto" if collector.inside and profiled else "none"
    words = (*words, "--collector", own)
    if not profiled and not collector.shared:
        return tuple(words)
    # A shared object cannot be run by itself: its trace is dropped.
    return collector.wrap(words, rank_folder(run, rank))


def _lay_out(schedule: Schedule, run: Path) -> None:
    """Makes the folders; what an earlier run left there would be taken for this one's."""
    try:
        for folder in (run / RECORDED, *_rank_folders(schedule, run)):
            folder.mkdir(parents=True, exist_ok=True)
            for stale in (*folder.glob("*.jsonl"), *collectors.traces_in(folder)):
                stale.unlink()
        (run / SCHEDULE).write_text(to_text(schedule), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{run} cannot be written: {error.strerror}") from error


def _rank_folders(schedule: Schedule, run: Path) -> list[Path]:
    return [rank_folder(run, rank) for rank in range(len(schedule.programs))]


def _mi300a_warnings(
    collector: Collector, options: PlayOptions, run: Path, schedule: Schedule
) -> list[str]:
    profiled = sum(_is_profiled(options, rank) for rank in range(len(schedule.programs)))
    several = collector.name == "rocprofv3" and profiled > 1
    return [f"{MI300A} (--profile-ranks 0)"] if several and environment.has_mi300a(run) else []


def _planned_s(program: Program) -> float:
    timed = (it.duration_ns for it in program if isinstance(it, (Compute, Sleep)))
    return sum(timed) / 1e9


def _traces(
    collector: Collector, recording: Recording, options: PlayOptions, run: Path, rank: int
) -> tuple[Path, ...]:
    """The traces of a rank; where no profiler wrote them, they are written from what was measured.

    Raises CommscopeError where a profiler has not written any.
    """
    folder = rank_folder(run, rank)
    if not _is_profiled(options, rank):
        for dropped in collectors.traces_in(folder):
            dropped.unlink()
        return ()
    own = folder / activity_trace.TRACE
    if collector.inside:
        seen = activity_trace.read_activities(activity_trace.activities_file(run / RECORDED, rank))
        activity_trace.write_kineto(recording, rank, seen, own)
    elif collector.name == "none":
        activity_trace.write_truth_as_trace(recording, rank, own)
    found = collectors.traces_in(folder)
    if not found:
        raise CommscopeError(
            f"rank {rank}: {collector.name} ended well, but wrote no trace into {folder}"
        )
    return tuple(found)
