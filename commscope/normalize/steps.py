"""Steps of one rank: where they come from on the host, and their windows on the device.

See DEFINITIONS 3. An activity belongs to the step in whose host interval it was launched; the
device window of a step runs from the first activity launched in it to the first one launched in
the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, int64, nullable
from commscope.normalize.parts import with_column
from commscope.schema import STEPS, TEXT, Flag, conform

WHOLE_TRACE = "whole_trace"


@dataclass(frozen=True, slots=True)
class HostSteps:
    """Steps as the host sees them, in order: half-open intervals that do not overlap.

    Of a whole trace there is one, without times. ``follows[k]`` says that step k+1 begins where step k ends,
    so that k is closed by it.
    """

    numbers: Int64
    names: tuple[str, ...]
    starts: Int64
    ends: Int64
    follows: Bool
    source: str
    confidence: float
    says: str

    def step_at(self, times: Int64) -> Int64:
        """Index of the step in whose interval each time lies; -1 for none."""
        if self.source == WHOLE_TRACE:
            return np.zeros(len(times), np.int64)
        index = np.searchsorted(self.starts, times, side="right") - 1
        inside = (index >= 0) & (times < self.ends[np.maximum(index, 0)])
        return np.where(inside & (times != NONE), index, -1)


@dataclass(frozen=True, slots=True)
class DeviceWindows:
    """Device windows of the steps; ``NONE`` where a step launched nothing."""

    starts: Int64
    ends: Int64
    open: Bool


def assign_steps(events: pa.Table, host: HostSteps) -> tuple[Int64, DeviceWindows]:
    """The index of each activity's step (-1: none), and the windows of the steps."""
    start = int64(events, "start_ns")
    end = start + int64(events, "dur_ns")
    launch = int64(events, "launch_ns")
    good = (np.asarray(events.column("flags").to_numpy()) & Flag.BROKEN) == 0
    step = np.where(good, host.step_at(launch), -1)
    windows = _device_windows(host, step, start, end)
    unknown = good & (launch == NONE)
    return np.where(unknown, _window_at(windows, start), step), windows


def _device_windows(host: HostSteps, step: Int64, start: Int64, end: Int64) -> DeviceWindows:
    count = len(host.starts)
    first = np.full(count, np.iinfo(np.int64).max)
    last = np.full(count, NONE)
    launched = step >= 0
    np.minimum.at(first, step[launched], start[launched])
    np.maximum.at(last, step[launched], end[launched])
    active = np.flatnonzero(last != NONE)
    starts, ends, is_open = np.full(count, NONE), np.full(count, NONE), np.ones(count, np.bool_)
    # On another stream an activity of the next step may start early: windows tile all the same.
    starts[active] = np.maximum.accumulate(first[active])
    ends[active] = np.maximum(last[active], starts[active])
    for here, following in zip(active[:-1], active[1:]):
        if host.follows[here:following].all():
            ends[here], is_open[here] = starts[following], False
    return DeviceWindows(starts, ends, is_open)


def _window_at(windows: DeviceWindows, times: Int64) -> Int64:
    """The step in whose device window each time lies; -1 for none."""
    active = np.flatnonzero(windows.starts != NONE)
    if not len(active):
        return np.full(len(times), -1, np.int64)
    index = np.searchsorted(windows.starts[active], times, side="right") - 1
    step = active[np.maximum(index, 0)]
    return np.where((index >= 0) & (times < windows.ends[step]), step, -1)


def steps_table(rank: int, host: HostSteps, windows: DeviceWindows) -> pa.Table:
    """STEPS of one rank."""
    count = len(host.starts)
    columns = {
        "rank": pa.array(np.full(count, rank, np.int32)),
        "step": pa.array(host.numbers),
        "name": pa.array(host.names, pa.string()).dictionary_encode().cast(TEXT),
        "open": pa.array(windows.open),
        "start_ns": nullable(windows.starts),
        "end_ns": nullable(windows.ends),
        "host_start_ns": nullable(host.starts),
        "host_end_ns": nullable(host.ends),
        "source": pa.array([host.source] * count, pa.string()).dictionary_encode().cast(TEXT),
    }
    table = pa.Table.from_arrays([columns[f.name] for f in STEPS], names=STEPS.names)
    return conform(table, STEPS, "steps")


def mark_steps(table: pa.Table, step: Int64, numbers: Int64) -> pa.Table:
    """A table with its ``step`` column set from indices of steps (-1: null)."""
    chosen = np.where(step >= 0, numbers[np.maximum(step, 0)], NONE) if len(numbers) else step
    return with_column(table, "step", nullable(np.where(step >= 0, chosen, NONE)))
