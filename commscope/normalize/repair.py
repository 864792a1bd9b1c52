"""Impossible time stamps (rule Q4) and unknown streams (rule Q6) of one rank's activities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.columns import (
    NONE,
    Bool,
    Int64,
    codes,
    distinct_of,
    int64,
    nullable,
    order_of,
    order_of_codes,
    where_equal,
    with_column,
)
from commscope.normalize.impossible import (
    LATEST_NS,
    MAX_DISTANCE_NS,
    is_before_launch,
    is_impossible,
)
from commscope.schema import Flag
from commscope.trace import Repair

#: On one in-order stream an activity may seem to end this much after the next one starts: clock
#: noise of the profiler (about 27 ns on MI300X), not damage.
TOLERANCE_NS = 1_000

Flags = npt.NDArray[np.uint16]


def repair_events(events: pa.Table, rank: int) -> tuple[pa.Table, Repair]:
    """The activities with impossible ends clipped, broken ones flagged, and what that changed."""
    flags = np.asarray(events.column("flags").to_numpy()).copy()
    start, duration = int64(events, "start_ns"), int64(events, "dur_ns")
    broken = is_impossible(start, duration)
    broken |= is_before_launch(start, np.where(broken, NONE, int64(events, "launch_ns")))
    flags[broken] |= Flag.BROKEN
    stream = _repair_streams(events, flags)
    good = (flags & Flag.BROKEN) == 0
    alone = (flags & Flag.GRAPH) == 0  # branches of a graph may run at once under one stream
    overlap = _overlap_with_next(events, stream, good & alone)
    clipped = overlap > TOLERANCE_NS
    kept = np.where(clipped, duration - overlap, duration)
    flags[clipped] |= Flag.CLIPPED
    repair = Repair(
        rank=rank,
        broken=int((~good).sum()),
        clipped=int(clipped.sum()),
        tolerated=int(((overlap > 0) & ~clipped).sum()),
        busy_before_ns=int(duration[good].sum()),
        busy_after_ns=int(kept[good].sum()),
    )
    events = with_column(events, "stream", nullable(stream))
    events = with_column(events, "dur_ns", pa.array(kept))
    return with_column(events, "flags", pa.array(flags)), repair


def repair_host(host: pa.Table) -> tuple[pa.Table, int]:
    """The calls and annotations without those of impossible begin, and how many were impossible.

    One whose length alone is impossible is kept, with none.
    """
    start, duration = int64(host, "start_ns"), int64(host, "dur_ns")
    nowhere = (start > LATEST_NS) | (start < -LATEST_NS)
    endless = (duration < 0) | (duration > MAX_DISTANCE_NS)
    wrong = int((nowhere | endless).sum())
    if not wrong:
        return host, 0
    host = with_column(host, "dur_ns", pa.array(np.where(endless, 0, duration)))
    return host.filter(pa.array(~nowhere)), wrong


def _overlap_with_next(events: pa.Table, stream: Int64, usable: Bool) -> Int64:
    """How far each activity reaches past the start of the next one on its stream; at least 0."""
    start, duration = int64(events, "start_ns"), int64(events, "dur_ns")
    rows = np.flatnonzero(usable & (stream != NONE) & (duration > 0))
    # Of activities that start at once the longest counts as the last: no time is lost. The
    # correlation only makes the order of equals independent of the order in the file.
    keys = (start, duration, int64(events, "correlation"))
    rows = rows[order_of(*(key[rows] for key in keys))]
    rows = rows[order_of_codes(distinct_of(stream[rows])[1])]
    overlap = np.zeros(len(start), np.int64)
    here, following = rows[:-1], rows[1:]
    past = start[here] + duration[here] - start[following]
    same = stream[here] == stream[following]
    overlap[here] = np.where(same, np.maximum(past, 0), 0)
    return overlap


def _repair_streams(events: pa.Table, flags: Flags) -> Int64:
    """Streams, a null one told from its kernel's name where that is only ever on one stream."""
    stream = int64(events, "stream")
    unknown = stream == NONE
    flags[_on_several_streams(events, stream, flags)] |= Flag.STREAM_AMBIGUOUS
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


def _on_several_streams(events: pa.Table, stream: Int64, flags: Flags) -> Int64:
    """Rows of kernels whose call, no graph launch, has kernels on several streams.

    A call launches on one stream: see https://github.com/pytorch/kineto/pull/1416.
    """
    call = int64(events, "correlation")
    known = (int64(events, "launch_ns") != NONE) & (stream != NONE)
    is_kernel = where_equal(events, "kind", "kernel")
    rows = np.flatnonzero(known & is_kernel & ((flags & (Flag.GRAPH | Flag.BROKEN)) == 0))
    rows = rows[np.lexsort((stream[rows], call[rows]))]
    same_call = call[rows][1:] == call[rows][:-1]
    differs = np.flatnonzero(same_call & (stream[rows][1:] != stream[rows][:-1]))
    return rows[np.isin(call[rows], call[rows][differs])]
