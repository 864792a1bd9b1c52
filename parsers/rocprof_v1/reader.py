"""Reads a run of rocprof from the file of it that tells most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from commscope.columns import NONE, Int64
from commscope.errors import CorruptTrace
from commscope.parsers.base import Facts, Progress, Reading
from commscope.parsers.opening import Source, read_head
from commscope.parsers.rocprof_process import tables_of
from commscope.parsers.rocprof_v1.database import read_database
from commscope.parsers.rocprof_v1.document import read_document
from commscope.parsers.rocprof_v1.kernels import read_kernels
from commscope.parsers.rocprof_v1.recorded import Recorded
from commscope.parsers.sqlite_file import MAGIC

#: Columns of results.csv, whatever counters and times it has.
KERNEL_COLUMNS = {"KernelName", "gpu-id", "queue-id", "grd", "wgr"}
_JSON = re.compile(
    rb'"name"\s*:\s*"(?:CPU HIP API|CPU HSA API|COPY|Markers and Ranges|GPU\d+)"\s*\}|"BeginNs"'
)
_JSON_BEGIN = re.compile(rb"\A\s*[{\[,]")
_TABLES = re.compile(rb'CREATE TABLE (?:HIP|HSA|OPS|COPY|KERN|rocTX) ?\("')


def is_json(head: bytes) -> bool:
    """Whether a file begins as rocprof's JSON, of which some have no begin."""
    return bool(_JSON_BEGIN.match(head) and _JSON.search(head))


def is_database(head: bytes) -> bool:
    """Whether a file begins as rocprof's database."""
    return head.startswith(MAGIC) and _TABLES.search(head) is not None


@dataclass(frozen=True, slots=True)
class _View:
    source: Source
    read: Callable[[Source, Progress], Recorded]
    worth: int


def read_run(source: Source, progress: Progress) -> Reading:
    """Reads a run; raises CorruptTrace where no file of it can be read."""
    views = sorted(map(_view, (source, *source.companions)), key=lambda view: -view.worth)
    failed: list[CorruptTrace] = []
    for number, view in enumerate(views):
        try:
            recorded = view.read(view.source, progress)
        except CorruptTrace as error:
            failed.append(error)
            continue
        unread = [other.source.label for other in views[number + 1 :]]
        return _reading(recorded, [*map(str, failed), *_unread(unread)])
    raise failed[0]


def _view(source: Source) -> _View:
    head = read_head(source)
    if is_database(head):
        return _View(source, read_database, 3)
    if is_json(head):
        return _View(source, read_document, 2)
    return _View(source, read_kernels, 1)


def _unread(labels: Sequence[str]) -> list[str]:
    if not labels:
        return []
    are = "is" if len(labels) == 1 else "are"
    return [f"{', '.join(labels)} {are} of the same run and {are} not read"]


def _reading(recorded: Recorded, notes: Sequence[str]) -> Reading:
    tables = tables_of(recorded.process)
    pid = _most(recorded.pids)
    health = recorded.health
    return Reading(
        input=recorded.file,
        facts=Facts(pid=pid, is_rocm=True),
        health=replace(health, notes=(*health.notes, *tables.notes, *notes)),
        events=tables.events,
        host=tables.host,
        collectives=tables.collectives,
    )


def _most(pids: Int64) -> int | None:
    counts = Counter(pids.tolist())
    counts.pop(NONE, None)
    return counts.most_common(1)[0][0] if counts else None
