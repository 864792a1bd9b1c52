"""The logs of a job together with their neighbours, from the same paths."""

from __future__ import annotations

import os
from collections.abc import Sequence

from commscope.engine.logs import LoadedLogs, load_logs
from commscope.engine.neighbors import Neighbors, load_neighbors
from commscope.engine.reading import RunProgress, silent
from commscope.errors import UnknownFormat
from commscope.parsers.rccl_log import LogReader

_STANDARD_INPUT = "-"


def load_job_files(
    paths: Sequence[str | os.PathLike[str]], progress: RunProgress = silent
) -> tuple[LoadedLogs, Neighbors | None]:
    """The logs, which may be empty where there are neighbours, and the neighbours, if any.

    Standard input can be read once only: it is a log. Raises as ``load_logs`` where there is
    neither.
    """
    files = [path for path in paths if os.fspath(path) != _STANDARD_INPUT]
    neighbors = load_neighbors(files) if files else None
    used = [] if neighbors is None else [file.file for file in neighbors.files]
    try:
        loaded = load_logs(paths, progress)
    except UnknownFormat:
        if not used:
            raise
        return LoadedLogs(LogReader().finish(), ()), neighbors
    told = tuple(f"{file}: " for file in used)
    notes = tuple(note for note in loaded.notes if not note.startswith(told)) if told else None
    return LoadedLogs(loaded.logs, loaded.notes if notes is None else notes), neighbors
