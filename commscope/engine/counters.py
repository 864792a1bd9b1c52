"""From paths to hardware counters: find the files of each profile, leave out what is none.

Of omniperf the files of a folder are a profile; of rocprofv3 those of a folder and of the folders
of passes in it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from commscope.counter_schema import COUNTER_TABLES
from commscope.engine.counter_peaks import lend_peaks
from commscope.engine.counter_runs import CollectedFile, facts_in, runs_of
from commscope.engine.reading import RunProgress, progress_of, silent
from commscope.errors import FormatError, UnknownFormat, UsageError
from commscope.parsers.appearance import looks_like
from commscope.parsers.base import Progress
from commscope.parsers.omniperf import (
    Kind,
    Part,
    Profile,
    kind_of,
    looks_like_database,
    read_database,
    read_folder,
    tells_queues,
)
from commscope.parsers.opening import Source, open_blocks, open_session, read_head
from commscope.parsers.rocprof_counters import form_of, place_of, profile_of
from commscope.parsers.row_builder import RowBuilder
from commscope.parsers.sources import find_sources

_HEAD_BYTES = 256 << 10
_MOST_BYTES = 2 << 30
_KNOWN = (
    "what can be read: folders of omniperf or rocprof-compute (workloads/NAME/GPU), databases of "
    "rocprof-compute, and what rocprofv3 --pmc or rocprof writes"
)


@dataclass(frozen=True, slots=True)
class LoadedCounters:
    """Tables of ``commscope.counter_schema``, and what was passed over or is missing."""

    tables: dict[str, pa.Table]
    notes: tuple[str, ...]


def load_counters(
    paths: Sequence[str | os.PathLike[str]], progress: RunProgress = silent
) -> LoadedCounters:
    """Reads files, folders, patterns or archives; in folders other files are passed over.

    Raises UsageError where a file that was named cannot be read, FormatError where one that was
    named is damaged, UnknownFormat where no file holds counters.
    """
    reader = _Reader()
    with open_session():
        found = find_sources(paths)
        for number, source in enumerate(found.sources, 1):
            reader.look_at(source, progress_of(progress, source, number, len(found.sources)))
        profiles = reader.profiles()
    notes = (*found.notes, *reader.notes)
    if not profiles:
        raise UnknownFormat(_nothing((*notes, *reader.others)))
    lend_peaks(profiles)
    tables = {name: RowBuilder(schema, name) for name, schema in COUNTER_TABLES.items()}
    for profile in profiles:
        profile.add_to(tables)
    missing = (note for profile in profiles for note in profile.notes)
    return LoadedCounters(
        {name: table.table() for name, table in tables.items()}, (*notes, *missing)
    )


def _nothing(says: Sequence[str]) -> str:
    first = says[0] if says else "what was given holds no file"
    more = f" (and {len(says) - 1} more files)" if len(says) > 1 else ""
    return f"{first}{more}; {_KNOWN}"


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a profile."""

    source: Source
    part: Part


class _Reader:
    """Sorts files into profiles, then reads them."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.others: list[str] = []  #: what is no part of a profile
        self._folders: defaultdict[str, list[_File]] = defaultdict(list)
        self._databases: list[tuple[Source, Progress]] = []
        self._collected: defaultdict[str, list[CollectedFile]] = defaultdict(list)

    def look_at(self, source: Source, progress: Progress) -> None:
        """Takes a file if it is of a profile."""
        try:
            head = read_head(source, _HEAD_BYTES)
        except UsageError as error:
            if source.named:
                raise
            self.notes.append(str(error))
            return
        kind, form = kind_of(head), form_of(head)
        if looks_like_database(head):
            self._databases.append((source, progress))
        elif form is not None:
            read = partial(self._bytes, source, progress)
            file = CollectedFile(source, place_of(source), form, progress, read)
            self._collected[file.place.folder].append(file)
        elif kind is not None:
            # Of what may be long and says little only the begin is read.
            is_short = kind in (Kind.LOG, Kind.CONFIG)
            read = partial(bytes, head) if is_short else partial(self._bytes, source, progress)
            part = Part(source.label, kind, read, tells_queues(head))
            self._folders[_folder_of(source)].append(_File(source, part))
        else:
            looks = looks_like(head, source.size)
            self.others.append(f"{source.label}: is {looks}, no profile of counters")

    def profiles(self) -> list[Profile]:
        """All profiles; what is damaged and was not named is noted."""
        found = []
        for folder, files in self._folders.items():
            named = any(file.source.named for file in files)
            found.extend(self._tried(partial(_of_folder, folder, files), named=named))
        for source, progress in self._databases:
            read = partial(read_database, source, progress)
            found.extend(self._tried(read, named=source.named))
        for folder, collected in self._collected.items():
            named = any(file.source.named for file in collected)
            found.extend(self._tried(partial(self._of_runs, folder, collected), named=named))
        return found

    def _of_runs(self, folder: str, files: Sequence[CollectedFile]) -> list[Profile]:
        """The profile of what rocprofv3 counted in a folder; none where it counted nothing."""
        found = runs_of(files)
        self.others.extend(found.without)
        if not found.passes:
            return []
        alone = len(files) == 1 and files[0].source.named
        label = files[0].source.label if alone else folder
        return [profile_of(label, found.passes, facts_in(files))]

    def _tried(self, read: Callable[[], list[Profile]], *, named: bool) -> list[Profile]:
        try:
            return read()
        except (FormatError, UsageError) as error:
            if named:
                raise
            self.notes.append(str(error))
            return []

    def _bytes(self, source: Source, progress: Progress) -> bytes:
        """The decompressed file; of one that is cut what there is."""
        parts, size = [], 0
        with open_blocks(source) as blocks:
            for block in blocks:
                parts.append(block)
                size += len(block)
                progress(blocks.bytes_read, source.size)
                if size > _MOST_BYTES:
                    most = f"more than {_MOST_BYTES >> 30} GiB"
                    raise FormatError(f"{source.label}: {most}; profile fewer kernels (-k)")
        if blocks.cut:
            self.notes.append(f"{source.label}: {blocks.cut}; copy it again")
        return b"".join(parts)


def _of_folder(folder: str, files: Sequence[_File]) -> list[Profile]:
    """The profile in a folder; none where its files only tell how one was made."""
    parts = [file.part for file in files]
    if not any(part.kind in (Kind.COUNTERS, Kind.PEAKS) for part in parts):
        return []
    # A file that was given alone stands for itself.
    alone = len(files) == 1 and files[0].source.named
    return [read_folder(files[0].source.label if alone else folder, parts)]


def _folder_of(source: Source) -> str:
    """The folder as its files are labelled; of one that was given itself its own name."""
    folder = source.label.rpartition("/")[0]
    return folder or (source.path.absolute().parent.name if source.path else "") or "."
