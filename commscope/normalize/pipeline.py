"""The way from readings to a trace, in order."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import families_of
from commscope.columns import codes, int64, runs, where_equal
from commscope.cores import core_count
from commscope.errors import NoDeviceEvents, UsageError
from commscope.normalize.captures import choose_captures
from commscope.normalize.classification import classify
from commscope.normalize.launches import link_launches
from commscope.normalize.named_by_marker import name_by_markers
from commscope.normalize.options import Options
from commscope.normalize.parts import Part, Tables, is_base
from commscope.normalize.ranks import split_ranks
from commscope.normalize.repair import repair_events, repair_host
from commscope.normalize.selection import StepSelection
from commscope.normalize.step_sources import find_host_steps, require_marker
from commscope.normalize.steps import (
    WHOLE_TRACE,
    HostSteps,
    assign_steps,
    host_step_at,
    mark_steps,
    steps_table,
)
from commscope.normalize.tables import by_start, on_wall_clock, ranks_table, source_files, stack
from commscope.parsers.base import Reading
from commscope.trace import Classes, Note, Repair, StepSource, Trace
from commscope.wording import counted

#: Each holds a second copy of its part meanwhile.
_MOST_THREADS = 8


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One part, normalised but for the steps of its rows."""

    part: Part
    tables: Tables
    classes: npt.NDArray[np.uint8]
    host_steps: HostSteps
    repair: Repair
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class _Normal:
    """One part, normalised."""

    prepared: _Prepared
    tables: Tables
    steps: pa.Table


def normalize(readings: Sequence[Reading], options: Options) -> Trace:
    """One trace of all ranks of one capture.

    Raises NoDeviceEvents where no file holds GPU activity, RankConflict where two files of one
    rank overlap in time, UsageError where an option names what is not there.
    """
    parts, notes = split_ranks(readings, options.ranks)
    active = [part for part in parts if part.has_activity()]
    if not active:
        raise NoDeviceEvents(_no_events(readings))
    captures, capture_notes = choose_captures(active, options.capture)
    if options.step_marker is not None:
        require_marker([p.tables.host for c in captures for p in c], options.step_marker)
    prepared = _prepare_all(captures, options)
    numbered = [p for capture in _number_on(prepared) for p in capture]
    numbered.sort(key=lambda p: p.part.rank)  # stable: captures of a rank stay in order
    notes += capture_notes
    notes += [_silent_note(part) for part in parts if not part.has_activity()]
    notes += [note for p in numbered for note in p.notes]
    notes += [Note("files", f"{r.input.file}: {says}") for r in readings for says in r.health.notes]
    return _assemble([_with_steps(p) for p in numbered], readings, notes, options)


def _prepare_all(captures: Sequence[Sequence[Part]], options: Options) -> list[list[_Prepared]]:
    """Each part of each capture, side by side: most of the time Arrow and NumPy leave the lock."""
    with ThreadPoolExecutor(min(core_count(), _MOST_THREADS)) as threads:
        running = [[threads.submit(_prepare, part, options) for part in c] for c in captures]
        return [[one.result() for one in capture] for capture in running]


def _prepare(part: Part, options: Options) -> _Prepared:
    """Launches, repair, classes, the wall clock, and the steps on the host of one part."""
    host, wrong = repair_host(part.tables.host)
    linked = link_launches(replace(part.tables, host=host))
    events, repair = repair_events(linked.events, part.rank)
    classified = classify(Tables(events, linked.host, linked.collectives), options.patterns)
    tables = on_wall_clock(name_by_markers(classified.tables), part.base_ns)
    tables, classes = by_start(tables, classified.of_event)
    host_steps = find_host_steps(tables.events, tables.host, classes, options.step_marker)
    return _Prepared(part, tables, classes, host_steps, repair, tuple(_time_notes(part, wrong)))


def _time_notes(part: Part, wrong_calls: int) -> list[Note]:
    """What is said of times of a file that cannot be, other than those of activities (rule Q4)."""
    notes = []
    if wrong_calls:
        one, many = "call or annotation of the host has", "calls or annotations of the host have"
        says = f"{counted(wrong_calls, one, many)} impossible times, which are not used"
        notes.append(Note("files", f"{part.file}: {says}"))
    base = part.reading.facts.base_ns
    if not is_base(base):
        notes.append(Note("clocks", f"{part.file}: its base time {base} ns cannot be: not used"))
    return notes


def _number_on(captures: Sequence[Sequence[_Prepared]]) -> list[list[_Prepared]]:
    """The captures with step numbers that go on from one to the next, so that none comes twice."""
    following = 0
    result: list[list[_Prepared]] = []
    for capture in captures:
        first = min(int(p.host_steps.numbers.min()) for p in capture)
        behind = max(following - first, 0) if result else 0
        result.append([replace(p, host_steps=p.host_steps.moved_by(behind)) for p in capture])
        following = max(int(p.host_steps.numbers.max()) for p in result[-1]) + 1
    return result


def _with_steps(prepared: _Prepared) -> _Normal:
    """The part with the step of every row, and its steps."""
    tables, host_steps = prepared.tables, prepared.host_steps
    step_of_event, windows = assign_steps(tables.events, host_steps)
    step_of_call = host_step_at(host_steps, int64(tables.host, "start_ns"))
    marked = Tables(
        mark_steps(tables.events, step_of_event, host_steps.numbers),
        mark_steps(tables.host, step_of_call, host_steps.numbers),
        tables.collectives,
    )
    return _Normal(prepared, marked, steps_table(prepared.part.rank, host_steps, windows))


def _chosen(steps: pa.Table, selection: StepSelection) -> pa.Table:
    """The steps, by rank and in order, that the user wants; UsageError where there is none."""
    numbers = int64(steps, "step")
    of_ranks = [numbers[rows] for rows in runs(int64(steps, "rank"))]
    chosen = steps.filter(pa.array(np.concatenate([selection.chosen(of) for of in of_ranks])))
    if chosen.num_rows:
        return chosen
    first, last = int(numbers.min()), int(numbers.max())
    if where_equal(steps, "source", WHOLE_TRACE).all():
        there = "no step was found; name what begins one with --step-marker REGEX"
    else:
        there = f"there are steps {first} to {last}" if first < last else f"there is step {first}"
    raise UsageError(f"{selection}: chooses no step of this trace; {there}")


def _selection_note(selection: StepSelection) -> list[Note]:
    if not selection.is_active:
        return []
    says = (
        f"{selection}: kernels, collectives and launches are those of the chosen steps only; the "
        "table of ranks is of the whole trace"
    )
    return [Note("steps", says)]


def _assemble(
    normal: Sequence[_Normal], readings: Sequence[Reading], notes: list[Note], options: Options
) -> Trace:
    tables = stack([n.tables for n in normal])
    words = codes(tables.events, "name")[1]
    parts = [n.prepared.part for n in normal]
    source, source_notes = _step_source([n.prepared for n in normal])
    steps = pa.concat_tables([n.steps for n in normal]).unify_dictionaries().combine_chunks()
    return Trace(
        events=tables.events,
        host=tables.host,
        collectives=tables.collectives,
        steps=_chosen(steps, options.steps),
        all_steps=steps,
        ranks=ranks_table(parts),
        classes=Classes(
            np.concatenate([n.prepared.classes for n in normal]),
            families_of(words, options.patterns),
        ),
        step_source=source,
        files=source_files(readings, parts),
        repairs=tuple(n.prepared.repair for n in normal),
        notes=tuple(notes + source_notes + _selection_note(options.steps)),
        selection=str(options.steps) if options.steps.is_active else None,
    )


def _step_source(prepared: Sequence[_Prepared]) -> tuple[StepSource, list[Note]]:
    """The steps' source, the least certain of ranks that have steps, and where ranks differ."""
    sources = [p.host_steps.source for p in prepared]
    with_steps = [source for source in sources if source.kind != WHOLE_TRACE]
    least = min(with_steps or sources, key=lambda s: (-_CERTAINTY.index(s.kind), s.confidence))
    if len({s.kind for s in sources}) < 2:
        return least, []
    found = ", ".join(f"rank {p.part.rank}: {s.kind}" for p, s in zip(prepared, sources))
    return least, [Note("steps", f"steps were not found the same way on all ranks ({found})")]


_CERTAINTY = ("annotation", "marker", "inferred", WHOLE_TRACE)


def _no_events(readings: Sequence[Reading]) -> str:
    files = ", ".join(r.input.file for r in readings[:3]) + (", ..." if len(readings) > 3 else "")
    impossible = sum(r.events.num_rows for r in readings)
    if impossible:
        return (
            f"{files}: none of the {impossible:,} GPU activities has a possible time and a length. "
            "Record again with a newer version of the profiler"
        )
    calls = sum(r.host.num_rows for r in readings)
    are_kineto = all(r.input.format == "kineto" for r in readings)
    advice = _START_EARLIER if are_kineto else _TRACE_KERNELS
    return (
        f"{files}: no GPU activity was recorded ({calls:,} calls and annotations of the host "
        f"were). {advice}"
    )


_START_EARLIER = (
    "Start the profiler before the first use of the GPU, with ProfilerActivity.CUDA (also on "
    "ROCm), or shorten its warm-up"
)
_TRACE_KERNELS = "Record the kernels too, with --kernel-trace or --sys-trace, and give all files"


def _silent_note(part: Part) -> Note:
    health = part.reading.health
    cut = f": {health.cut or 'it is damaged'}" if health.is_damaged else ""
    says = f"{part.file}: holds no GPU activity and is left out (rank {part.rank}){cut}"
    return Note("damage" if health.is_damaged else "files", says)
