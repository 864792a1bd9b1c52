"""Impossible time stamps (rule Q4) and unknown streams (rule Q6) of one rank's activities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, codes, int64, nullable
from commscope.normalize.parts import with_column
from commscope.schema import Flag
from commscope.trace import Repair

#: On one in-order stream an activity may seem to end this much after the next one starts: clock
#: noise of the profiler (about 27 ns on MI300X), not damage.
TOLERANCE_NS = 1_000
#: No profile is this long: an activity further from the others has a damaged time stamp.
MAX_DISTANCE_NS = 7 * 86_400 * 10**9

Flags = npt.NDArray[np.uint16]


def repair_events(events: pa.Table, rank: int) -> tuple[pa.Table, Repair]:
    """The activities with impossible ends clipped, broken ones flagged, and what that changed."""
    flags = np.asarray(events.column("flags").to_numpy()).copy()
    start, duration = int64(events, "start_ns"), int64(events, "dur_ns")
    _flag_broken(start, duration, flags)
    stream = _repair_streams(events, flags)
    events = with_column(events, "stream", nullable(stream))
    good = (flags & Flag.BROKEN) == 0
    before = int(duration[good].sum())
    alone = (flags & Flag.GRAPH) == 0  # branches of a graph may run at once under one stream
    overlap = _overlap_with_next(start, duration, stream, good & alone)
    clipped = overlap > TOLERANCE_NS
    duration = np.where(clipped, duration - overlap, duration)
    flags[clipped] |= Flag.CLIPPED
    repair = Repair(
        rank=rank,
        broken=int((~good).sum()),
        clipped=int(clipped.sum()),
        tolerated=int(((overlap > 0) & ~clipped).sum()),
        busy_before_ns=before,
        busy_after_ns=int(duration[good].sum()),
    )
    events = with_column(events, "dur_ns", pa.array(duration))
    return with_column(events, "flags", pa.array(flags)), repair


def _flag_broken(start: Int64, duration: Int64, flags: Flags) -> None:
    """Marks what cannot be: before the epoch, of negative length, far from all others."""
    broken = (start <= 0) | (duration < 0) | (duration > MAX_DISTANCE_NS)
    if (~broken).any():
        middle = np.partition(start[~broken], (~broken).sum() // 2)[(~broken).sum() // 2]
        broken |= np.abs(start - middle) > MAX_DISTANCE_NS
    flags[broken] |= Flag.BROKEN


def _overlap_with_next(start: Int64, duration: Int64, stream: Int64, usable: Bool) -> Int64:
    """How far each activity reaches past the start of the next one on its stream; at least 0."""
    rows = np.flatnonzero(usable & (stream != NONE) & (duration > 0))
    rows = rows[np.lexsort((start[rows], stream[rows]))]
    overlap = np.zeros(len(start), np.int64)
    if len(rows) > 1:
        here, following = rows[:-1], rows[1:]
        past = start[here] + duration[here] - start[following]
        same = stream[here] == stream[following]
        overlap[here] = np.where(same, np.maximum(past, 0), 0)
    return overlap


def _repair_streams(events: pa.Table, flags: Flags) -> Int64:
    """Streams, with a null one told from the kernel's name where that is only ever on one stream."""
    stream = int64(events, "stream")
    unknown = stream == NONE
    if not unknown.any():
        return stream
    names, words = codes(events, "name")
    low = np.full(len(words), np.iinfo(np.int64).max)
    high = np.full(len(words), NONE)
    np.minimum.at(low, names[~unknown], stream[~unknown])
    np.maximum.at(high, names[~unknown], stream[~unknown])
    certain = unknown & (low == high)[names]
    flags[certain] |= Flag.STREAM_REPAIRED
    flags[unknown & ~certain] |= Flag.STREAM_AMBIGUOUS
    return np.where(certain, low[names], stream)
