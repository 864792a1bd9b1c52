"""What belongs to saved runs among the files beside traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from commscope._version import DEFINITIONS_VERSION
from commscope.parsers.base import Reading
from commscope.parsers.bounded import read_whole
from commscope.parsers.opening import Source
from commscope.parsers.saved.documents import (
    MOST_BYTES,
    NO_OPTIONS,
    RUN_FILE,
    RUN_SCHEMA,
    RunDocument,
    SavedOptions,
    document_of,
    is_document,
)
from commscope.trace import Note
from commscope.wording import distinct_names


@dataclass(frozen=True, slots=True)
class SavedBeside:
    """What the manifests of saved runs tell, and which files are theirs."""

    notes: tuple[Note, ...] = ()
    step_times: tuple[int, ...] = ()  #: without the profiler, ns
    options: SavedOptions = NO_OPTIONS
    definitions: int = DEFINITIONS_VERSION  #: another version where any of them is of one
    labels: frozenset[str] = frozenset()


def saved_beside(sources: Sequence[Source]) -> SavedBeside:
    """What saved runs among the files tell; raises CorruptTrace where a manifest is damaged.

    Of several runs, which are the nodes of one job, only ranks that were given are taken over.
    """
    manifests = [source for source in sources if _is_manifest(source)]
    if not manifests:
        return SavedBeside()
    runs = [read_manifest(source) for source in manifests]
    folders = _folders(manifests)
    step_times = [run.unprofiled_step_ns for run in runs]
    notes = (Note(note.topic, note.says) for run in runs for note in run.notes)
    return SavedBeside(
        notes=tuple(dict.fromkeys(notes)),
        step_times=tuple(time for time in step_times if time is not None),
        options=_options([run.options for run in runs]),
        definitions=next(
            (run.definitions for run in runs if run.definitions != DEFINITIONS_VERSION),
            DEFINITIONS_VERSION,
        ),
        labels=frozenset(source.label for source in sources if _folder(source.label) in folders),
    )


def strangers(sources: Sequence[Source]) -> list[Source]:
    """The files that belong to no saved run."""
    folders = _folders(filter(_is_manifest, sources))
    return [source for source in sources if _folder(source.label) not in folders]


def read_manifest(source: Source) -> RunDocument:
    """The manifest of a run; raises CorruptTrace where it is none."""
    return document_of(read_whole(source, MOST_BYTES), RunDocument, RUN_SCHEMA, source.label)


def named_apart(readings: Sequence[Reading]) -> list[Reading]:
    """The readings with names of their own: saved by several nodes, they may share one."""
    names = distinct_names([reading.input.file for reading in readings])
    return [
        replace(reading, input=replace(reading.input, file=name))
        for reading, name in zip(readings, names)
    ]


def _is_manifest(source: Source) -> bool:
    return is_document(source, RUN_FILE, RUN_SCHEMA)


def _folders(manifests: Iterable[Source]) -> set[str]:
    """The folders of saved runs."""
    return {_folder(source.label) for source in manifests}


def _folder(label: str) -> str:
    return label.rpartition("/")[0]


def _options(given: Sequence[SavedOptions]) -> SavedOptions:
    if len(given) == 1:
        return given[0]
    return SavedOptions(ranks={rank: file for one in given for rank, file in one.ranks.items()})
