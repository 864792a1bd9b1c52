"""results.csv: one row a kernel, with times if rocprof was told to take them."""

from __future__ import annotations

import numpy as np

from commscope.columns import NONE
from commscope.errors import CorruptTrace
from commscope.parsers.base import Health, Input, Progress
from commscope.parsers.csv_columns import Wanted, read_columns
from commscope.parsers.device_tables import KERNEL, Activities, no_calls
from commscope.parsers.gpu_grids import workgroups
from commscope.parsers.opening import Source
from commscope.parsers.placing import UNKNOWN
from commscope.parsers.rocprof_process import Process
from commscope.parsers.rocprof_v1.recorded import FORMAT, Recorded, kernel_names
from commscope.parsers.words import Words

_WANTED = Wanted(
    {"KernelName"}, {"gpu-id", "queue-id", "pid", "tid", "grd", "wgr", "BeginNs", "EndNs"}
)


def read_kernels(source: Source, progress: Progress) -> Recorded:
    """Reads a file; raises CorruptTrace where it has no times."""
    words = Words()
    table = read_columns(source, progress, _WANTED, words)
    if "BeginNs" not in table.columns.batches or "EndNs" not in table.columns.batches:
        raise CorruptTrace(
            f"{source.label}: has no times of kernels; record again with rocprof --timestamp on"
        )
    device, none = table.column("gpu-id"), np.full(len(table), NONE, np.int64)
    activities = Activities(
        kind=np.full(len(table), KERNEL, np.int64),
        name=kernel_names(table.column("KernelName"), words),
        device=np.where((device >= 0) & (device < 1 << 31), device, UNKNOWN),
        stream=table.column("queue-id"),
        queue=table.column("queue-id"),
        start_ns=table.column("BeginNs"),
        end_ns=table.column("EndNs"),
        correlation=none,
        bytes=none,
        workgroups=workgroups([table.column("grd")], [table.column("wgr")]),
    )
    return Recorded(
        Input(source.label, FORMAT, table.sha256, table.bytes),
        Process(activities, no_calls(), words),
        table.column("pid"),
        Health(
            events_read=len(table) + table.lost,
            events_lost=table.lost,
            cut=table.cut,
            lacks_events=table.cut is not None,
            notes=("the file tells no launches and no copies",),
        ),
    )
