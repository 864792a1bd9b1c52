"""Some ranks of a trace, and some of its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, flagged, int64
from commscope.errors import UsageError
from commscope.normalize.parts import Tables, take
from commscope.schema import Flag
from commscope.trace import Classes, Trace


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a trace is wanted: ranks (none: all), and the time from its first activity on."""

    ranks: frozenset[int] = frozenset()
    from_ns: int | None = None
    to_ns: int | None = None


def select(trace: Trace, wanted: Selection) -> Trace:
    """The trace with only the ranks and the time wanted, in all its tables.

    Of a time, kept whole are activities and steps that run in it, and calls and annotations that
    run in it or launched one of these activities. Raises UsageError where a rank is not there, or
    where nothing runs in the time.
    """
    there = int64(trace.ranks, "rank").tolist()
    missing = sorted(wanted.ranks.difference(there))
    if missing:
        known = f"{there[0]} to {there[-1]}" if len(there) > 1 else str(there[0])
        raise UsageError(f"rank {missing[0]}: the trace has no such rank; it has {known}")
    ranks = sorted(wanted.ranks) or there
    window = _window(trace, ranks, wanted)
    is_event = _is_of(trace.events, ranks) & _runs(trace.events, window)
    if not window.is_endless:
        is_event &= ~flagged(trace.events, Flag.BROKEN)  # their times say nothing
    if not is_event.any():
        raise UsageError("no activity of these ranks runs in the time from --from-ms to --to-ms")
    is_call = _is_of(trace.host, ranks) & (
        _runs(trace.host, window) | _launched(trace.host, trace.events.filter(pa.array(is_event)))
    )
    return _reduced(trace, is_event, is_call, ranks, window)


@dataclass(frozen=True, slots=True)
class _Window:
    """A time on the clock of the trace; null is endless."""

    start_ns: int | None
    end_ns: int | None

    @property
    def is_endless(self) -> bool:
        return self.start_ns is None and self.end_ns is None


def _reduced(
    trace: Trace, is_event: Bool, is_call: Bool, ranks: Sequence[int], window: _Window
) -> Trace:
    everything = Tables(trace.events, trace.host, trace.collectives)
    kept = take(everything, np.flatnonzero(is_event), np.flatnonzero(is_call))
    return replace(
        trace,
        events=kept.events,
        host=kept.host,
        collectives=kept.collectives,
        steps=_steps(trace.steps, ranks, window),
        all_steps=_steps(trace.all_steps, ranks, window),
        ranks=trace.ranks.filter(pa.array(_is_of(trace.ranks, ranks))),
        classes=Classes(trace.classes.of_event[is_event], trace.classes.family),
    )


def _window(trace: Trace, ranks: Sequence[int], wanted: Selection) -> _Window:
    """The time wanted, counted from the first activity of these ranks."""
    if wanted.from_ns is None and wanted.to_ns is None:
        return _Window(None, None)
    counts = _is_of(trace.events, ranks) & ~flagged(trace.events, Flag.BROKEN)
    starts = int64(trace.events, "start_ns")[counts]
    first = int(starts.min()) if len(starts) else 0
    return _Window(_after(first, wanted.from_ns), _after(first, wanted.to_ns))


def _after(first_ns: int, distance_ns: int | None) -> int | None:
    return None if distance_ns is None else first_ns + distance_ns


def _is_of(table: pa.Table, ranks: Sequence[int]) -> Bool:
    return np.isin(int64(table, "rank"), ranks)


def _runs(table: pa.Table, window: _Window) -> Bool:
    """Which rows run in the window; those without a length if they begin in it."""
    start, duration = int64(table, "start_ns"), int64(table, "dur_ns")
    return _overlaps(start, start + np.maximum(duration, 1), window)


def _overlaps(start: Int64, end: Int64, window: _Window) -> Bool:
    inside = np.ones(len(start), np.bool_)
    if window.start_ns is not None:
        inside &= end > window.start_ns
    if window.end_ns is not None:
        inside &= start < window.end_ns
    return inside


def _launched(host: pa.Table, events: pa.Table) -> Bool:
    """Which calls launched one of these activities: same rank, same correlation."""
    calls = host.num_rows
    ids = np.concatenate([int64(table, "correlation") for table in (host, events)])
    rank = np.concatenate([int64(table, "rank") for table in (host, events)])
    distinct, number = np.unique(ids, return_inverse=True)
    pair = rank * len(distinct) + number.reshape(-1)
    return np.asarray((ids[:calls] != NONE) & np.isin(pair[:calls], pair[calls:]))


def _steps(steps: pa.Table, ranks: Sequence[int], window: _Window) -> pa.Table:
    kept = _is_of(steps, ranks)
    if not window.is_endless:
        start, end = int64(steps, "start_ns"), int64(steps, "end_ns")
        kept &= (start != NONE) & (end != NONE) & _overlaps(start, end, window)
    return steps.filter(pa.array(kept))
