"""What of a group of files belongs together: rows of one run, and of one process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.columns import NONE, int64
from commscope.parsers.rocprofv3_csv.files import CALLS, KERNELS
from commscope.parsers.rocprofv3_csv.table import CsvRows
from commscope.units import span

#: Files of one run lie closer together; where no thread is in both, much closer.
_APART_NS = 3_600 * 10**9
_APART_OF_OTHERS_NS = 60 * 10**9
_PID, _THREAD = "Process_Id", "Thread_Id"
_NO_ROWS = np.empty(0, np.int64)


def of_one_run(files: Sequence[CsvRows]) -> tuple[list[CsvRows], list[str]]:
    """The files recorded with the kernels, and a sentence on each that another run left over.

    A later run under the same name overwrites only the files that it writes itself.
    """
    if not files:
        return [], []
    kernels = max(files, key=lambda file: (file.kind.what == KERNELS, file.rows.num_rows))
    others = [file for file in files if _is_apart(file, kernels)]
    notes = [
        f"left out: {file.source.label}, which is of another run, "
        f"{span(_distance_ns(file, kernels))} away"
        for file in others
    ]
    return [file for file in files if file not in others], notes


def _is_apart(file: CsvRows, kernels: CsvRows) -> bool:
    distance = _distance_ns(file, kernels)
    if distance <= _APART_OF_OTHERS_NS:
        return False
    return distance > _APART_NS or _share_no_thread(file.rows, kernels.rows)


def _share_no_thread(one: pa.Table, other: pa.Table) -> bool:
    """Whether both name threads, but none of them is in both."""
    if not all(_THREAD in rows.column_names and rows.num_rows for rows in (one, other)):
        return False
    return not len(np.intersect1d(int64(one, _THREAD), int64(other, _THREAD)))


def _distance_ns(file: CsvRows, other: CsvRows) -> int:
    """The time between the two files; 0 where they overlap or one is empty."""
    one, two = _extent(file.rows), _extent(other.rows)
    if one is None or two is None:
        return 0
    return max(one[0] - two[1], two[0] - one[1], 0)


def _extent(rows: pa.Table) -> tuple[int, int] | None:
    starts = int64(rows, "Start_Timestamp")
    starts = starts[starts > 0]
    return (int(starts.min()), int(starts.max())) if len(starts) else None


def of_one_process(files: Sequence[CsvRows]) -> tuple[list[CsvRows], int | None, list[str]]:
    """The files with the calls of one process only: that of most calls, which is given with them.

    The others are told in a sentence.
    """
    ids = [int64(file.rows, _PID) for file in files if file.kind.what == CALLS]
    pids, counts = np.unique(np.concatenate([*ids, _NO_ROWS]), return_counts=True)
    if not len(pids):
        return list(files), None, []
    pid = int(pids[counts.argmax()])
    others = int(counts.sum() - counts.max())
    kept = [_calls_of(file, pid) if file.kind.what == CALLS else file for file in files]
    says = f"{others:,} calls of other processes than {pid} left out: nothing ties them to kernels"
    return kept, None if pid == NONE else pid, [says] if others else []


def _calls_of(file: CsvRows, pid: int) -> CsvRows:
    return replace(file, rows=file.rows.filter(pa.array(int64(file.rows, _PID) == pid)))


def by_process(files: Sequence[CsvRows]) -> list[list[CsvRows]]:
    """The files of each process; those of ``rocpd convert`` hold several, told by ``Guid``."""
    guids = {guid for file in files for guid in _guids(file.rows)}
    if len(guids) < 2:
        return [list(files)]
    return [[_of(file, guid) for file in files] for guid in sorted(guids)]


def _guids(rows: pa.Table) -> list[str]:
    return rows.column("Guid").unique().to_pylist() if "Guid" in rows.column_names else []


def _of(file: CsvRows, guid: str) -> CsvRows:
    if "Guid" not in file.rows.column_names:
        rows = file.rows.slice(0, 0)
    else:
        rows = file.rows.filter(pc.equal(file.rows.column("Guid"), guid))
    return replace(file, rows=rows, health=replace(file.health, events_read=rows.num_rows))
