"""Reads the files of one process of rocprofv2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from commscope.columns import NONE
from commscope.errors import CorruptTrace
from commscope.parsers.base import Companion, Facts, Health, Input, Progress, Reading
from commscope.parsers.csv_columns import CsvColumns, Wanted, header_of, read_columns
from commscope.parsers.device_tables import joined, no_activities, no_calls
from commscope.parsers.opening import Source, read_head
from commscope.parsers.rocprof_process import Process, tables_of
from commscope.parsers.rocprof_v2.files import CALLS, COPIES, KERNELS, RANGES, kind_of
from commscope.parsers.rocprof_v2.rows import calls_of, copies_of, kernels_of, ranges_of
from commscope.parsers.words import Words

FORMAT = "rocprof_v2"
_WANTED = Wanted(
    texts={"Kernel_Name", "Domain", "Function", "Operation", "Message"},
    numbers={
        *("GPU_ID", "Queue_ID", "PID", "TID", "Grid_Size", "GRD", "Workgroup_Size", "WGR"),
        *("Start_Timestamp", "End_Timestamp", "Stop_Timestamp", "Timestamp"),
        *("Correlation_ID", "ROCTX_ID"),
    },
)
#: See https://github.com/ROCm/rocprofiler/issues/127.
_UNRELIABLE = "rocprofv2's times are not reliable: record again with rocprofv3"


@dataclass(frozen=True, slots=True)
class _File:
    """A file with what it is."""

    source: Source
    what: str
    table: CsvColumns

    @property
    def input(self) -> Input:
        """The file as it was read."""
        return Input(self.source.label, FORMAT, self.table.sha256, self.table.bytes)

    @property
    def health(self) -> Health:
        """How well it could be read."""
        rows, lost, cut = len(self.table), self.table.lost, self.table.cut
        return Health(events_read=rows + lost, events_lost=lost, cut=cut, lacks_events=bool(cut))


def read_process(source: Source, progress: Progress) -> Reading:
    """Reads a file with its companions; raises CorruptTrace where it is cut in its header."""
    words = Words()
    files = [_read(one, progress, words) for one in (source, *source.companions)]
    tables = {what: [f.table for f in files if f.what == what] for what in _PARTS}
    activities = [kernels_of(table, words) for table in tables[KERNELS]]
    activities += [copies_of(table, words) for table in tables[COPIES]]
    calls = [calls_of(table, words) for table in tables[CALLS]]
    calls += [ranges_of(table) for table in tables[RANGES]]
    process = Process(joined([no_activities(), *activities]), joined([no_calls(), *calls]), words)
    found = tables_of(process)
    health = files[0].health
    return Reading(
        input=files[0].input,
        facts=Facts(pid=_pid([file.table for file in files]), is_rocm=True),
        health=Health(
            events_read=health.events_read,
            events_lost=health.events_lost,
            cut=health.cut,
            lacks_events=health.lacks_events,
            notes=(_UNRELIABLE, *found.notes),
        ),
        events=found.events,
        host=found.host,
        collectives=found.collectives,
        companions=tuple(Companion(file.input, file.health) for file in files[1:]),
    )


_PARTS = (KERNELS, COPIES, CALLS, RANGES)


def _read(source: Source, progress: Progress, words: Words) -> _File:
    kind = kind_of(header_of(read_head(source)))
    if kind is None:
        raise CorruptTrace(f"{source.label}: has no columns of rocprofv2; it is cut or damaged")
    return _File(source, kind.what, read_columns(source, progress, _WANTED, words))


def _pid(tables: Sequence[CsvColumns]) -> int | None:
    pids = Counter(np.concatenate([table.column("PID") for table in tables]).tolist())
    pids.pop(NONE, None)
    return pids.most_common(1)[0][0] if pids else None
