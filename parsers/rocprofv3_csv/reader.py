"""The files of one process as one reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from commscope.errors import CorruptTrace
from commscope.parsers.base import Companion, Facts, Progress, Reading
from commscope.parsers.device_tables import joined, no_activities, no_calls
from commscope.parsers.opening import Source
from commscope.parsers.rocprof_process import Process, tables_of
from commscope.parsers.rocprofv3_csv.agents import Agents, agents_of
from commscope.parsers.rocprofv3_csv.files import AGENTS, CALLS, COPIES, KERNELS, host_of, pid_of
from commscope.parsers.rocprofv3_csv.rows import calls_of, copies_of, kernels_of
from commscope.parsers.rocprofv3_csv.separate import by_process, of_one_process, of_one_run
from commscope.parsers.rocprofv3_csv.table import CsvRows, read_rows
from commscope.parsers.words import Words


def read_group(source: Source, progress: Progress) -> Iterator[Reading]:
    """One reading a process; raises CorruptTrace where no file of activities can be read."""
    files, failed = _read_all(source, progress)
    lists = [file for file in files if file.kind.what == AGENTS]
    timed = [file for file in files if file.kind.what != AGENTS]
    if failed and not any(file.kind.what in (KERNELS, COPIES) for file in files):
        raise failed[0]
    agents = agents_of(lists[0].rows) if lists else Agents()
    kept, notes = of_one_run(timed)
    notes = [*(f"left out: {error}" for error in failed), *notes]
    for process in by_process(kept):
        yield _reading([*process, *lists], agents, notes)
        notes = []


def _read_all(source: Source, progress: Progress) -> tuple[list[CsvRows], list[CorruptTrace]]:
    """The files that can be read; what is wrong with the others."""
    files: list[CsvRows] = []
    failed: list[CorruptTrace] = []
    sources = sorted((source, *source.companions), key=lambda one: one.label)
    told = _Sum(progress, sum(one.size or 0 for one in sources))
    for one in sources:
        try:
            files.append(read_rows(one, told.report))
        except CorruptTrace as error:
            failed.append(error)
        told.done += one.size or 0
    return files, failed


_STREAM = "Stream_Id"
#: The file that stands for its process is the one behind the others here.
_RANKING = (AGENTS, CALLS, COPIES, KERNELS)


class _Sum:
    """Progress of several files as that of one."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.done = 0
        self._progress, self._total = progress, total

    def report(self, done: int, _: int | None) -> None:
        """Takes what one file tells."""
        self._progress(self.done + done, self._total or None)


def _reading(files: Sequence[CsvRows], agents: Agents, notes: Sequence[str]) -> Reading:
    main = max(files, key=lambda file: (_RANKING.index(file.kind.what), file.rows.num_rows))
    kept, pid, says = of_one_process(files)
    tables = tables_of(_process(kept, agents))
    health = replace(
        main.health, notes=(*main.health.notes, *notes, *says, *_limits(kept), *tables.notes)
    )
    return Reading(
        input=main.input,
        facts=_facts(main.source, pid, agents, tables.events),
        health=health,
        events=tables.events,
        host=tables.host,
        collectives=tables.collectives,
        companions=tuple(Companion(f.input, f.health) for f in files if f is not main),
    )


def _limits(files: Sequence[CsvRows]) -> Iterator[str]:
    """What such files never say, where it would be wanted."""
    if any(file.kind.what == COPIES for file in files):
        yield "csv files do not tell the sizes of copies; JSON files and databases do"
    if any(file.kind.what == KERNELS and _STREAM not in file.rows.column_names for file in files):
        yield "files from before ROCm 7 do not tell streams: the hardware queues are used"


def _facts(source: Source, pid: int | None, agents: Agents, events: pa.Table) -> Facts:
    used, named = set(events.column("device").unique().to_pylist()), pid_of(source)
    # A name that is not the process says nothing of its folder either.
    is_default = pid in (None, named)
    return Facts(
        host=host_of(source) if is_default else None,
        pid=named if pid is None else pid,
        gpus={device: name for device, name in agents.products.items() if device in used},
        gpu_names=tuple(agents.products.values()),
        is_rocm=True,
    )


def _process(files: Sequence[CsvRows], agents: Agents) -> Process:
    words = Words()
    make = {KERNELS: kernels_of, COPIES: copies_of}
    activities = [make[f.kind.what](f.rows, agents, words) for f in files if f.kind.what in make]
    calls = [calls_of(file.rows, words) for file in files if file.kind.what == CALLS]
    return Process(joined(activities or [no_activities()]), joined(calls or [no_calls()]), words)
