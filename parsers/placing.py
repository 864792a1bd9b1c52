"""On which device and stream activities count, where the file leaves that open."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.device_tables import KERNEL, Activities, taken
from commscope.wording import counted

#: A processor that is no GPU, and one that is not known.
NO_GPU, UNKNOWN = -2, -1


@dataclass(frozen=True, slots=True)
class Placed:
    """Activities of GPUs, and what had to be decided, one sentence each."""

    activities: Activities
    notes: tuple[str, ...]
    left_out: int = 0


def place(activities: Activities) -> Placed:
    """The activities of GPUs, each on a device and, where it can be told, on a stream."""
    notes = []
    is_host = activities.device == NO_GPU
    if is_host.any():
        activities = taken(activities, ~is_host)
        notes.append(_host_copies(int(is_host.sum())))
    activities = replace(activities, device=_devices(activities.device))
    if _tells_no_streams(activities):
        notes.append("one stream is named for all activities: their hardware queues are used")
        activities = replace(activities, stream=activities.queue)
    return Placed(activities, tuple(notes), int(is_host.sum()))


def _devices(device: Int64) -> Int64:
    """The devices; an unknown one is the only one that the process uses."""
    known = np.unique(device[device != UNKNOWN])
    return np.where(device == UNKNOWN, known[0], device) if len(known) == 1 else device


def _tells_no_streams(activities: Activities) -> bool:
    """Whether all are on one stream although kernels ran on several queues.

    So it is where the profiler was not told to trace streams: all are on the default one.
    """
    queues = activities.queue[(activities.kind == KERNEL) & (activities.queue != NONE)]
    return len(np.unique(activities.stream)) == 1 and len(np.unique(queues)) > 1


def _host_copies(count: int) -> str:
    one, many = "copy from host to host is", "copies from host to host are"
    return f"{counted(count, one, many)} left out"
