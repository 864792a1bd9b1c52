"""Rows of rocprofv2's files as activities and calls."""

from __future__ import annotations

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.csv_columns import CsvColumns
from commscope.parsers.device_tables import COPY, HOST_KINDS, KERNEL, Activities, Calls
from commscope.parsers.gpu_grids import workgroups
from commscope.parsers.placing import UNKNOWN
from commscope.parsers.rocprof_domains import kinds_of_calls
from commscope.parsers.rocprof_v1.recorded import copy_names, kernel_names
from commscope.parsers.words import Words


def kernels_of(table: CsvColumns, words: Words) -> Activities:
    """Kernels; streams are not told, so their queues are."""
    device = table.column("GPU_ID")
    grid, group = table.column("Grid_Size", "GRD"), table.column("Workgroup_Size", "WGR")
    return Activities(
        kind=np.full(len(table), KERNEL, np.int64),
        name=kernel_names(table.column("Kernel_Name"), words),
        device=np.where((device >= 0) & (device < 1 << 31), device, UNKNOWN),
        stream=table.column("Queue_ID"),
        queue=table.column("Queue_ID"),
        start_ns=table.column("Start_Timestamp"),
        end_ns=table.column("End_Timestamp"),
        correlation=table.column("Correlation_ID"),
        bytes=table.column("none"),
        workgroups=workgroups([grid], [group]),
    )


def copies_of(table: CsvColumns, words: Words) -> Activities:
    """Copies, of which neither device nor stream nor size is told."""
    none = table.column("none")
    return Activities(
        kind=np.full(len(table), COPY, np.int64),
        name=copy_names(table.column("Operation"), words),
        device=np.full(len(table), UNKNOWN, np.int64),
        stream=none,
        queue=none,
        start_ns=table.column("Start_Timestamp"),
        end_ns=table.column("Stop_Timestamp"),
        correlation=table.column("Correlation_ID"),
        bytes=none,
        workgroups=none,
    )


def calls_of(table: CsvColumns, words: Words) -> Calls:
    """Calls of HIP and HSA; the thread is not told."""
    name = table.column("Function")
    return Calls(
        kind=kinds_of_calls(_domains(table, words), name, words),
        name=name,
        thread=table.column("none"),
        start_ns=table.column("Start_Timestamp"),
        end_ns=table.column("End_Timestamp"),
        correlation=table.column("Correlation_ID"),
    )


def ranges_of(table: CsvColumns) -> Calls:
    """Ranges of roctx, each from one row of its id to the next; marks have one row only."""
    number, time = table.column("ROCTX_ID"), table.column("Timestamp")
    order = np.lexsort((time, number))
    number, time = number[order], time[order]
    first = np.flatnonzero(np.append(True, number[1:] != number[:-1])[: len(number)])
    last = np.append(first[1:] - 1, len(number) - 1)[: len(first)]
    rows = order[first]
    return Calls(
        kind=np.full(len(rows), HOST_KINDS.index("annotation"), np.int64),
        name=table.column("Message")[rows],
        thread=table.column("none")[rows],
        start_ns=time[first],
        end_ns=time[last],
        correlation=table.column("none")[rows],
    )


def _domains(table: CsvColumns, words: Words) -> Int64:
    """The domain of each call: that in the name of its domain (``HIP_API_DOMAIN``)."""
    domain = table.column("Domain")
    texts = [*words, ""]
    distinct, inverse = np.unique(np.where(domain == NONE, -1, domain), return_inverse=True)
    plain = [words[texts[code].upper().removesuffix("_DOMAIN")] for code in distinct.tolist()]
    return np.asarray(np.array(plain, np.int64)[inverse.reshape(-1)])
