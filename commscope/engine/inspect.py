"""What a file is and holds, without analysing it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc

from commscope.columns import NONE, int64
from commscope.engine.job_kinds import what_it_is
from commscope.engine.reading import RunProgress, progress_of, read_source
from commscope.errors import (
    AmbiguousFormat,
    CommscopeError,
    FormatError,
    UnknownFormat,
    UsageError,
)
from commscope.parsers.base import Facts, GroupingParser, Health, Progress, Reading
from commscope.parsers.detect import choose, opinions
from commscope.parsers.opening import Source, open_session, read_head
from commscope.parsers.saved.documents import part_of
from commscope.parsers.sources import find_sources


@dataclass(frozen=True, slots=True)
class ParserMatch:
    """What one parser thinks of a file."""

    parser: str
    confidence: str  #: none, name, structure or marker
    reason: str


@dataclass(frozen=True, slots=True)
class Holding:
    """What a file holds; of a file in which several processes lie, one of these each."""

    state: str  #: whole or damaged
    health: Health
    facts: Facts
    events: int  #: of any kind, as the file counts them
    activities: dict[str, int]  #: of devices, by kind
    host_calls: int  #: launches, operators and annotations that an analysis uses
    collectives: int  #: described by metadata
    first_ns: int | None  #: begin of the first activity or call, on the file's clock
    last_ns: int | None  #: end of the last activity, on the file's clock


@dataclass(frozen=True, slots=True)
class Inspection:
    """A file: what it is, who could read it, what it holds, or why it could not be read."""

    file: str
    bytes: int | None  #: as stored; null where the source is a pipe
    parser: str | None  #: the one that reads it; null where none does
    matches: tuple[ParserMatch, ...] = ()  #: most confident first
    unread: str | None = None  #: what it is, where it is of the format but no trace
    group: str | None = None  #: files of one group are read together; null: it is read alone
    error: str | None = None  #: why it could not be read
    holds: tuple[Holding, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspections:
    """Every file that was found, and what was passed over, one sentence each."""

    files: tuple[Inspection, ...]
    notes: tuple[str, ...]


def inspect_paths(
    paths: Sequence[str | os.PathLike[str]], parser: str | None, progress: RunProgress
) -> Inspections:
    """Inspects every file; raises UsageError where there is none, or no parser of that name."""
    with open_session():
        found = find_sources(paths)
        total = len(found.sources)
        files = tuple(
            _inspect(source, parser, progress_of(progress, source, number, total))
            for number, source in enumerate(_whole(found.sources), 1)
        )
    return Inspections(files, found.notes)


def _whole(sources: Sequence[Source]) -> list[Source]:
    """The files, those of saved runs with the others of their reading: none is read alone."""
    names = [part[0] if (part := part_of(source.label)) else None for source in sources]
    readings: dict[str, list[Source]] = defaultdict(list)
    for source, name in zip(sources, names):
        if name is not None:
            readings[name].append(source)
    return [
        replace(source, companions=tuple(s for s in readings[name] if s is not source))
        if name is not None
        else source
        for source, name in zip(sources, names)
    ]


def _inspect(source: Source, wanted: str | None, report: Progress) -> Inspection:
    found = Inspection(source.label, source.size, None)
    try:
        head = read_head(source)
    except UsageError as error:
        return replace(found, error=_reason(error, source))
    found = replace(found, matches=_matches(head, source))
    try:
        chosen = choose(head, source, wanted)
    except UnknownFormat:
        return replace(found, error=f"no trace: {what_it_is(head, source.size)}")
    except AmbiguousFormat as error:
        return replace(found, error=_reason(error, source))
    parser, unread = chosen.parser, chosen.match.unread
    found = replace(found, parser=parser.name, unread=unread)
    if unread is not None:
        return found
    if isinstance(parser, GroupingParser):
        found = replace(found, group=parser.group(source))
    try:
        return replace(found, holds=tuple(map(_holding, read_source(source, parser, report))))
    except (FormatError, UsageError) as error:
        return replace(found, error=_reason(error, source))


def _matches(head: bytes, source: Source) -> tuple[ParserMatch, ...]:
    return tuple(
        ParserMatch(found.parser.name, found.match.confidence.name.lower(), found.match.reason)
        for found in opinions(head, source)
    )


def _reason(error: CommscopeError, source: Source) -> str:
    """The message without the file's name, which stands next to it."""
    return str(error).removeprefix(f"{source.label}: ")


def _holding(reading: Reading) -> Holding:
    first, last = _extent(reading)
    kinds = pc.value_counts(reading.events.column("kind").cast("string")).to_pylist()
    return Holding(
        state="damaged" if reading.health.is_damaged else "whole",
        health=reading.health,
        facts=reading.facts,
        events=reading.health.events_read,
        activities={row["values"]: row["counts"] for row in kinds},
        host_calls=reading.host.num_rows,
        collectives=reading.collectives.num_rows,
        first_ns=first,
        last_ns=last,
    )


def _extent(reading: Reading) -> tuple[int | None, int | None]:
    """The first begin of anything, and the last end."""
    starts, ends = [], []
    for table in (reading.events, reading.host):
        start, length = int64(table, "start_ns"), int64(table, "dur_ns")
        known = start != NONE
        starts.append(start[known])
        ends.append(start[known] + np.maximum(length[known], 0))
    start, end = np.concatenate(starts), np.concatenate(ends)
    return (int(start.min()), int(end.max())) if len(start) else (None, None)
