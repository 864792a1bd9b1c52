"""Kernels of the communication library in a trace, in the order in which they were launched."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from commscope.classify import kernel_name
from commscope.columns import (
    NONE,
    Bool,
    Int64,
    codes,
    flagged,
    int64,
    parts,
    runs,
    where_equal,
    where_word,
)
from commscope.normalize.log_fits import Shown
from commscope.schema import Flag
from commscope.trace import Trace

_OF_LIBRARY = re.compile(r"nccl|msccl", re.IGNORECASE)
_NOWHERE = np.empty(0, np.int64)
_COLUMNS = ["stream", "queue", "name", "start_ns", "launch_ns", "workgroups", "flags"]


class LibraryKernels:
    """Columns with an entry a row of COLLECTIVES; replays of graphs are in no log."""

    def __init__(self, trace: Trace) -> None:
        told, rows = trace.collectives, trace.collectives.column("event")
        events = trace.events.select(_COLUMNS).take(rows)
        is_library = where_word(events, "name", lambda name: _OF_LIBRARY.search(_head(name)))
        self._usable = is_library & ~flagged(events, Flag.GRAPH | Flag.BROKEN)
        self._rank, self._lane = int64(told, "rank"), int64(events, "stream")
        self._start, self._launch = int64(events, "start_ns"), int64(events, "launch_ns")
        self._workgroups = int64(events, "workgroups")
        self._size, self._group = int64(told, "bytes"), codes(told, "comm")[0]
        self._group_size = int64(told, "group_size")
        self._op, self._words = codes(told, "op")
        self._lost = _lost(trace, self._usable)
        queue = int64(events, "queue")
        is_amd = any(file.is_rocm is not False for file in trace.files)
        #: Older tools for AMD give queues, which several streams may share, as streams.
        self.has_streams = not is_amd or bool(((queue != NONE) & (queue != self._lane)).any())

    def of_rank(self, rank: int) -> Int64:
        """The rows of a rank that a log may tell of, in order of start."""
        rows = np.flatnonzero((self._rank == rank) & self._usable)
        return np.asarray(rows[np.argsort(self._start[rows], kind="stable")])

    def launched(self, rows: Int64) -> Int64 | None:
        """The rows in the order in which they were launched, if that is known.

        On a stream they start in this order. What was launched before the trace began comes first.
        """
        lanes, early = self.lanes(rows), rows[self._launch[rows] == NONE]
        if len(lanes) == 1:
            return rows
        late = rows[self._launch[rows] != NONE]
        late = late[np.argsort(self._launch[late], kind="stable")]
        order = np.concatenate((early, late))
        of_lanes = [order[self._lane[order] == self._lane[lane[0]]] for lane in lanes]
        is_known = len(self.lanes(early)) < 2
        return order if is_known and all(map(np.array_equal, of_lanes, lanes)) else None

    def without_holes(self, rows: Int64) -> list[Int64]:
        """Parts of rows in order, between which kernels are missing.

        A call like those that launched the kernels, of which no activity is known, shows it.
        """
        if not len(rows):
            return []
        lost = self._lost.get(int(self._rank[rows[0]]), _NOWHERE)
        part = np.searchsorted(lost, self._launch[rows])
        return [rows[run] for run in runs(part)]

    def lanes(self, rows: Int64) -> list[Int64]:
        """The rows of each stream."""
        return [rows[places] for _, places in parts(self._lane[rows])]

    def shown(self, rows: Int64) -> Shown:
        """What the trace tells of them."""
        words = (*self._words, None)
        group = self._group[rows]
        return Shown(
            tuple(words[code] for code in self._op[rows].tolist()), self._size[rows],
            np.where(group < 0, NONE, group), self._group_size[rows], self._workgroups[rows],
            np.unique(self._lane[rows], return_inverse=True)[1].reshape(-1),
        )  # fmt: skip


def _head(name: str) -> str:
    return kernel_name.split(name).head


def _lost(trace: Trace, of_library: Bool) -> dict[int, Int64]:
    """When each rank made calls that launch such kernels, of which no activity is known."""
    host = trace.host.filter(pa.array(where_equal(trace.host, "kind", "launch")))
    events = trace.events.select(["rank", "correlation"])
    library = events.take(trace.collectives.column("event").filter(pa.array(of_library)))
    name = codes(host, "name")[0]
    rank, start, correlation = (int64(host, key) for key in ("rank", "start_ns", "correlation"))
    found = {}
    for one in np.unique(rank).tolist():
        mine = np.flatnonzero(rank == one)
        shown, own = (int64(t, "correlation")[int64(t, "rank") == one] for t in (events, library))
        is_like = np.isin(name[mine], name[mine[np.isin(correlation[mine], own)]])
        is_lost = is_like & ~np.isin(correlation[mine], shown)
        found[one] = np.sort(start[mine[is_lost]])
    return found
