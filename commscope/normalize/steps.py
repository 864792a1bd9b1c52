"""Steps of one rank: where they come from on the host, and their windows on the device.

See DEFINITIONS 3. An activity belongs to the step in whose host interval it was launched; the
device window of a step runs from the first activity launched in it to the first one launched in
the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, flagged, int64, nullable, with_column
from commscope.schema import STEPS, TEXT, Flag, conform
from commscope.trace import StepSource

WHOLE_TRACE = "whole_trace"
_END = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class HostSteps:
    """Steps as the host sees them, in order: half-open intervals that do not overlap.

    Of a whole trace there is one, without times. ``follows[k]`` says that step k+1 begins where
    step k ends, so that k is closed by it. ``on_device`` says that the launches are not known: the
    intervals are of the device, and an activity belongs to the one in which it starts.
    """

    numbers: Int64
    names: tuple[str, ...]
    starts: Int64
    ends: Int64
    follows: Bool
    source: StepSource
    on_device: bool = False

    def step_at(self, times: Int64) -> Int64:
        """Index of the step in whose interval each time lies; -1 for none."""
        if self.source.kind == WHOLE_TRACE:
            return np.zeros(len(times), np.int64)
        index = np.searchsorted(self.starts, times, side="right") - 1
        inside = (index >= 0) & (times < self.ends[np.maximum(index, 0)])
        return np.where(inside & (times != NONE), index, -1)

    def moved_by(self, count: int) -> HostSteps:
        """The same steps with higher numbers."""
        return replace(self, numbers=self.numbers + count)


@dataclass(frozen=True, slots=True)
class DeviceWindows:
    """Device windows of the steps; ``NONE`` where a step launched nothing."""

    starts: Int64
    ends: Int64
    open: Bool


def assign_steps(events: pa.Table, host: HostSteps) -> tuple[Int64, DeviceWindows]:
    """The index of each activity's step (-1: none), and the windows of the steps.

    Broken activities have no step; those of no length have one, but make no window.
    """
    start, duration = int64(events, "start_ns"), int64(events, "dur_ns")
    good = ~flagged(events, Flag.BROKEN)
    known = start if host.on_device else int64(events, "launch_ns")
    step = np.where(good, host.step_at(known), -1)
    counts = (step >= 0) & (duration > 0)
    windows = _device_windows(host, step[counts], start[counts], (start + duration)[counts])
    lost = good & (known == NONE) & (step < 0)
    return np.where(lost, _window_at(windows, start), step), windows


def _device_windows(host: HostSteps, step: Int64, start: Int64, end: Int64) -> DeviceWindows:
    count = len(host.starts)
    first, last = np.full(count, _END), np.full(count, NONE)
    np.minimum.at(first, step, start)
    np.maximum.at(last, step, end)
    active = np.flatnonzero(last != NONE)
    # On another stream an activity of the next step may start early: windows tile all the same.
    begin = np.maximum.accumulate(first[active])
    following = np.append(begin, _END)[1:]
    finish = np.minimum(np.maximum(last[active], begin), following)
    breaks = np.cumsum(np.append(0, ~host.follows))[active]
    closed = np.diff(breaks, append=_END) == 0
    starts, ends, is_open = np.full(count, NONE), np.full(count, NONE), np.ones(count, np.bool_)
    starts[active] = begin
    ends[active] = np.where(closed, following, finish)
    is_open[active] = ~closed
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
    unknown = np.full(count, NONE)
    columns = {
        "rank": pa.array(np.full(count, rank, np.int32)),
        "step": pa.array(host.numbers),
        "name": pa.array(host.names, pa.string()).dictionary_encode().cast(TEXT),
        "open": pa.array(windows.open),
        "start_ns": nullable(windows.starts),
        "end_ns": nullable(windows.ends),
        "host_start_ns": nullable(unknown if host.on_device else host.starts),
        "host_end_ns": nullable(unknown if host.on_device else host.ends),
        "source": pa.array([host.source.kind] * count, pa.string()).dictionary_encode().cast(TEXT),
    }
    table = pa.Table.from_arrays([columns[f.name] for f in STEPS], names=STEPS.names)
    return conform(table, STEPS, "steps")


def host_step_at(host: HostSteps, times: Int64) -> Int64:
    """Index of the step in which each call of the host began; -1 for none, or not known."""
    return np.full(len(times), -1) if host.on_device else host.step_at(times)


def mark_steps(table: pa.Table, step: Int64, numbers: Int64) -> pa.Table:
    """A table with its ``step`` column set from indices of steps (-1: null)."""
    marked = np.where(step >= 0, numbers[np.maximum(step, 0)], NONE)
    return with_column(table, "step", nullable(marked))
