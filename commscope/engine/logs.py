"""From paths to the logs of a job: find the files, leave out what is no log, read the others."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from commscope.engine.reading import RunProgress, progress_of, silent
from commscope.engine.saved import strangers
from commscope.errors import UnknownFormat, UsageError
from commscope.parsers.appearance import looks_like
from commscope.parsers.base import Confidence
from commscope.parsers.detect import opinions
from commscope.parsers.opening import Source, open_blocks, open_session, read_head
from commscope.parsers.rccl_log import LogFile, LogReader, Logs
from commscope.parsers.saved.logs import is_part, is_saved_log, one_job, read_logs
from commscope.parsers.sources import find_sources
from commscope.parsers.topology import formats_of


@dataclass(frozen=True, slots=True)
class LoadedLogs:
    """The logs, and what was passed over, one sentence each."""

    logs: Logs
    notes: tuple[str, ...]


def load_logs(
    paths: Sequence[str | os.PathLike[str]], progress: RunProgress = silent
) -> LoadedLogs:
    """Reads log files, folders, patterns, archives or ``-``; traces among them are passed over.

    Raises UsageError where a file that was named cannot be read, UnknownFormat where no file
    holds a record of RCCL or NCCL.
    """
    with open_session():
        found = find_sources(paths)
        loaded = _read(found.sources, found.notes, progress)
    if not loaded.logs.files:
        raise UnknownFormat(_nothing(loaded.notes))
    return loaded


def logs_beside(
    sources: Sequence[Source],
    paths: Sequence[str | os.PathLike[str]],
    progress: RunProgress = silent,
) -> LoadedLogs | None:
    """The logs among files that lie beside traces, with those of ``paths``; null where none is.

    Call it in an open session. Of files that nobody named, only those are read that may be a log.
    Raises UnknownFormat where ``paths`` hold no record of RCCL or NCCL.
    """
    found = find_sources(paths).sources if paths else ()
    twice = {source.path for source in found}
    near = [s for s in sources if s.path not in twice and (_may_be_log(s) or is_part(s))]
    labels = {source.label for source in near}
    given = [_renamed(source, labels) for source in found]
    loaded = _read([*near, *given], (), progress)
    named = {source.label for source in given}
    told = tuple(f"{name}: " for name in named)
    notes = tuple(note for note in loaded.notes if note.startswith(told)) if told else ()
    is_read = any(file.file in named for file in loaded.logs.files) or any(map(is_part, given))
    if given and not is_read:
        raise UnknownFormat(_nothing(notes))
    return LoadedLogs(loaded.logs, notes) if loaded.logs.files else None


def _renamed(source: Source, taken: Collection[str]) -> Source:
    """The file under a name that none of the others has: with as many folders as that takes."""
    name, folders = source.label, list(source.path.parent.parts) if source.path else []
    while name in taken and folders:
        name = f"{folders.pop()}/{name}"
    return replace(source, label=name)


def _read(sources: Sequence[Source], notes: Sequence[str], progress: RunProgress) -> LoadedLogs:
    """The logs among the files, those without a record left out, with those of saved runs."""
    reader, says, seen = LogReader(), list(notes), _Seen()
    saved = [read_logs(source, sources) for source in sources if is_saved_log(source)]
    others = [source for source in strangers(sources) if not is_part(source)]
    for number, source in enumerate(others, 1):
        report = progress_of(progress, source, number, len(others))
        try:
            why_not = _why_no_log(source) or seen.why_again(source)
            file = None if why_not else reader.read(source, report)
        except UsageError as error:
            if source.named:
                raise
            why_not, file = str(error), None
        if file is not None and not _holds_records(file):
            why_not = _without_records(file)
        if why_not:
            says.append(why_not)
    logs = reader.finish()
    read = replace(logs, files=tuple(filter(_holds_records, logs.files)))
    parts = [*saved, read] if read.files else saved
    return LoadedLogs(one_job(parts) if parts else read, tuple(says))


class _Seen:
    """The files that were read, by size and first bytes: a copy would count all calls twice."""

    def __init__(self) -> None:
        self._sources: dict[tuple[int, bytes], list[Source]] = {}

    def why_again(self, source: Source) -> str | None:
        """Why a file is not read: it is a copy of another one; null where it is not."""
        if source.path is None or source.size is None:
            return None
        alike = self._sources.setdefault((source.size, read_head(source)), [])
        twin = next((other for other in alike if _is_copy(source, other)), None)
        if twin is not None:
            return f"{source.label}: is a copy of {twin.label}, which was read"
        alike.append(source)
        return None


def _is_copy(one: Source, other: Source) -> bool:
    """Whether two files of one size hold the same."""
    with open_blocks(one) as first, open_blocks(other) as second:
        return all(a == b for a, b in zip(first, second))


#: What a process writes where it writes nothing else before the library speaks.
_MARK = re.compile(rb"\bR?NCCL (?:INFO|WARN|version)|\bRCCL version")
#: A format of topology that tells a version in the words of the library's banner.
_HIPCONFIG = "hipconfig text"
_SUFFIXES = (".log", ".txt", ".out", ".err", ".stdout", ".stderr")


def shows_records(head: bytes) -> bool:
    """Whether the library speaks in the first bytes of a file."""
    return bool(_MARK.search(head))


def _may_be_log(source: Source) -> bool:
    """Whether a file that nobody named is worth reading as a log."""
    try:
        head = read_head(source)
    except UsageError:
        return False
    name = source.label.lower()
    plain = name.rpartition(".gz")[0] or name
    return b"\0" not in head and (plain.endswith(_SUFFIXES) or shows_records(head))


def _why_no_log(source: Source) -> str | None:
    """Why a file is not read as a log; null where it may be one."""
    head = read_head(source)
    for opinion in opinions(head, source):
        if opinion.match.confidence >= Confidence.STRUCTURE:
            return f"{source.label}: is a trace ({opinion.parser.name}), no log"
    if not source.named and _HIPCONFIG in formats_of(head) and not shows_records(head):
        return f"{source.label}: is {_HIPCONFIG}, no log"
    return None if head else f"{source.label}: is {looks_like(head, source.size)}"


def _holds_records(file: LogFile) -> bool:
    return bool(file.counts.records or file.counts.unused or file.counts.torn)


def _without_records(file: LogFile) -> str:
    counted = f"{file.counts.lines:,} lines"
    if file.unended_bytes:
        counted += f" and {file.unended_bytes:,} bytes without an end"
    return f"{file.file}: no record of RCCL or NCCL in {counted}"


def _nothing(notes: Sequence[str]) -> str:
    if not notes:
        return "no log of RCCL or NCCL was saved with the run"
    more = f" (and {len(notes) - 1} more files)" if len(notes) > 1 else ""
    return f"{notes[0]}{more}; run the job with NCCL_DEBUG=INFO and give its output"
