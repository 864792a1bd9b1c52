"""From what parsers read to one trace: repair, launches, ranks, steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import NO_PATTERNS, Patterns, classify_names
from commscope.columns import codes, int64
from commscope.errors import NoDeviceEvents
from commscope.normalize.captures import choose_captures
from commscope.normalize.classification import classify
from commscope.normalize.launches import link_launches
from commscope.normalize.parts import Part, Tables
from commscope.normalize.ranks import split_ranks
from commscope.normalize.repair import repair_events
from commscope.normalize.selection import StepSelection
from commscope.normalize.step_sources import find_host_steps
from commscope.normalize.steps import HostSteps, assign_steps, mark_steps, steps_table
from commscope.normalize.tables import by_start, on_wall_clock, ranks_table, source_files, stack
from commscope.parsers.base import Reading
from commscope.trace import Classes, Note, Repair, StepSource, Trace


@dataclass(frozen=True, slots=True)
class Options:
    """What the user may say about a trace; the defaults find everything by themselves."""

    patterns: Patterns = NO_PATTERNS
    ranks: Mapping[int, str] = field(default_factory=dict)  #: rank -> file
    capture: int | str | None = None  #: number from 0, "all", or the newest complete one
    step_marker: re.Pattern[str] | None = None  #: each annotation that fits begins a step
    steps: StepSelection = field(default_factory=StepSelection)
    unprofiled_step_ns: int | None = None  #: a step without the profiler, where it is known


@dataclass(frozen=True, slots=True)
class _Normal:
    """One part, normalised."""

    tables: Tables
    classes: npt.NDArray[np.uint8]
    steps: pa.Table
    host_steps: HostSteps
    repair: Repair


def normalize(readings: Sequence[Reading], options: Options) -> Trace:
    """One trace of all ranks of one capture.

    Raises NoDeviceEvents where no file holds GPU activity, RankConflict where two files of one
    rank overlap in time, UsageError where an option names what is not there.
    """
    parts, notes = split_ranks(readings, options.ranks)
    active = [part for part in parts if part.tables.events.num_rows]
    if not active:
        raise NoDeviceEvents(_no_events(readings))
    chosen, capture_notes = choose_captures(active, options.capture)
    chosen.sort(key=lambda part: (part.rank, part.span_ns()))
    normal = [_normalize(part, options) for part in chosen]
    notes += capture_notes
    notes += [_silent_note(part) for part in parts if not part.tables.events.num_rows]
    notes += [Note("files", f"{r.input.file}: {says}") for r in readings for says in r.health.notes]
    return _assemble(chosen, normal, readings, notes, options)


def _normalize(part: Part, options: Options) -> _Normal:
    """Launches, repair, classes, the wall clock, and steps of one part."""
    linked = link_launches(part.tables)
    events, repair = repair_events(linked.events, part.rank)
    classified = classify(Tables(events, linked.host, linked.collectives), options.patterns)
    tables = on_wall_clock(classified.tables, part.reading.facts.base_ns)
    tables, classes = by_start(tables, classified.of_event)
    host_steps = find_host_steps(tables.events, tables.host, classes, options.step_marker)
    step_of_event, windows = assign_steps(tables.events, host_steps)
    marked = Tables(
        mark_steps(tables.events, step_of_event, host_steps.numbers),
        mark_steps(
            tables.host, host_steps.step_at(int64(tables.host, "start_ns")), host_steps.numbers
        ),
        tables.collectives,
    )
    steps = steps_table(part.rank, host_steps, windows)
    steps = steps.filter(pa.array(options.steps.chosen(host_steps.numbers)))
    return _Normal(marked, classes, steps, host_steps, repair)


def _assemble(
    parts: Sequence[Part],
    normal: Sequence[_Normal],
    readings: Sequence[Reading],
    notes: list[Note],
    options: Options,
) -> Trace:
    tables = stack([n.tables for n in normal])
    words = codes(tables.events, "name")[1]
    source, source_notes = _step_source(parts, normal)
    return Trace(
        events=tables.events,
        host=tables.host,
        collectives=tables.collectives,
        steps=pa.concat_tables([n.steps for n in normal]).unify_dictionaries().combine_chunks(),
        ranks=ranks_table(parts),
        classes=Classes(
            np.concatenate([n.classes for n in normal]), classify_names(words, options.patterns)[1]
        ),
        step_source=source,
        files=source_files(readings, parts),
        repairs=tuple(n.repair for n in normal),
        notes=tuple(notes + source_notes),
    )


def _step_source(parts: Sequence[Part], normal: Sequence[_Normal]) -> tuple[StepSource, list[Note]]:
    """The steps' source, the least certain of all ranks, and a note where ranks differ."""
    steps = [n.host_steps for n in normal]
    least = min(steps, key=lambda s: (-_CERTAINTY.index(s.source), s.confidence))
    kinds = {s.source for s in steps}
    notes = []
    if len(kinds) > 1:
        found = ", ".join(f"rank {p.rank}: {s.source}" for p, s in zip(parts, steps))
        notes.append(Note("steps", f"steps were not found the same way on all ranks ({found})"))
    return StepSource(least.source, least.confidence, least.says), notes


_CERTAINTY = ("annotation", "marker", "inferred", "whole_trace")


def _no_events(readings: Sequence[Reading]) -> str:
    files = ", ".join(r.input.file for r in readings[:3]) + (", ..." if len(readings) > 3 else "")
    calls = sum(r.host.num_rows for r in readings)
    return (
        f"{files}: no GPU activity was recorded ({calls:,} calls and annotations of the host were). "
        "Start the profiler before the first use of the GPU, with ProfilerActivity.CUDA (also on "
        "ROCm), or shorten its warm-up"
    )


def _silent_note(part: Part) -> Note:
    return Note("files", f"{part.file}: holds no GPU activity and is left out (rank {part.rank})")
