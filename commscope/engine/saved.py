"""What belongs to saved runs among the files beside traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from commscope.parsers.base import Reading
from commscope.parsers.bounded import read_whole
from commscope.parsers.opening import Source, read_head
from commscope.parsers.saved.documents import (
    MOST_BYTES,
    NO_OPTIONS,
    RUN_FILE,
    RUN_SCHEMA,
    RunDocument,
    SavedOptions,
    document_of,
    family_in,
)
from commscope.trace import Note


@dataclass(frozen=True, slots=True)
class SavedBeside:
    """What the manifests of saved runs tell, and which files are theirs."""

    notes: tuple[Note, ...] = ()
    step_times: tuple[int, ...] = ()  #: without the profiler, ns
    options: SavedOptions = NO_OPTIONS
    labels: frozenset[str] = frozenset()


def saved_beside(sources: Sequence[Source]) -> SavedBeside:
    """What saved runs among the files tell; raises CorruptTrace where a manifest is damaged.

    Of several runs, which are the nodes of one job, only ranks that were given are taken over.
    """
    manifests = [source for source in sources if _is_manifest(source)]
    if not manifests:
        return SavedBeside()
    runs = [read_manifest(source) for source in manifests]
    step_times = [run.unprofiled_step_ns for run in runs]
    return SavedBeside(
        notes=tuple(Note(note.topic, note.says) for run in runs for note in run.notes),
        step_times=tuple(time for time in step_times if time is not None),
        options=_options([run.options for run in runs]),
        labels=frozenset(source.label for source in _beside(manifests, sources)),
    )


def strangers(sources: Sequence[Source]) -> list[Source]:
    """The files that belong to no saved run."""
    beside = _beside([source for source in sources if _is_manifest(source)], sources)
    return [source for source in sources if source not in beside]


def read_manifest(source: Source) -> RunDocument:
    """The manifest of a run; raises CorruptTrace where it is none."""
    return document_of(read_whole(source, MOST_BYTES), RunDocument, RUN_SCHEMA, source.label)


def named_apart(readings: Sequence[Reading]) -> list[Reading]:
    """The readings with names of their own: saved by several nodes, they may share one."""
    times: Counter[str] = Counter()
    named = []
    for reading in readings:
        file = reading.input.file
        times[file] += 1
        if times[file] == 1:
            named.append(reading)
        else:
            apart = replace(reading.input, file=f"{file} ({times[file]})")
            named.append(replace(reading, input=apart))
    return named


def _is_manifest(source: Source) -> bool:
    is_named = source.label.rpartition("/")[2] == RUN_FILE
    return is_named and family_in(read_head(source)) == RUN_SCHEMA.partition("/")[0]


def _beside(manifests: Sequence[Source], sources: Sequence[Source]) -> list[Source]:
    """The files that lie in the same folders as the manifests."""
    folders = {_folder(source.label) for source in manifests}
    return [source for source in sources if _folder(source.label) in folders]


def _folder(label: str) -> str:
    return label.rpartition("/")[0]


def _options(given: Sequence[SavedOptions]) -> SavedOptions:
    if len(given) == 1:
        return given[0]
    return SavedOptions(ranks={rank: file for one in given for rank, file in one.ranks.items()})
