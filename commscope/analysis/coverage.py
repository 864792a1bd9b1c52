"""What share of the launches found their kernel, and where those are that did not (rule Q1)."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, codes, int64
from commscope.trace import Trace

#: Calls that launch one kernel; copies and memsets often leave no record, graphs launch many.
_KERNEL_LAUNCH = re.compile(r"LaunchKernel|LaunchCooperativeKernel|hipLaunchByPtr|cuLaunchGrid")
_GRAPH_LAUNCH = re.compile(r"GraphLaunch")


def launch_coverage(trace: Trace) -> pa.Table:
    """One row a rank and step (null: all of the rank).

    Columns: ``rank``, ``step``, ``launches``, ``found`` of them, ``cut``: those after the last one
    that was found. The recording stopped before these ran, so nothing up to there is missing.
    Launches while a graph was being captured do not count: they run only when it is replayed.
    """
    host, rank, step = trace.host, int64(trace.host, "rank"), int64(trace.host, "step")
    launch = _named(host, _KERNEL_LAUNCH) & (int64(host, "correlation") != NONE)
    launch &= ~_captured(host)
    found = launch & _found(trace)
    rows = []
    for number in np.unique(int64(trace.ranks, "rank")):
        mine = launch & (rank == number)
        cut = mine & (np.arange(len(mine)) > np.flatnonzero(mine & found).max(initial=-1))
        if not (mine & found).any():  # nothing was recorded at all: nothing was cut
            cut = np.zeros(len(mine), np.bool_)
        rows.append(_row(number, None, mine, found, cut))
        steps = np.unique(step[mine])
        rows += [_row(number, k, mine & (step == k), found, cut) for k in steps if k != NONE]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


_SCHEMA = pa.schema([(name, pa.int64()) for name in ("rank", "step", "launches", "found", "cut")])


def _row(
    rank: int, step: int | None, launches: Bool, found: Bool, cut: Bool
) -> dict[str, int | None]:
    return {
        "rank": int(rank),
        "step": None if step is None else int(step),
        "launches": int(launches.sum()),
        "found": int((launches & found).sum()),
        "cut": int((launches & cut).sum()),
    }


def empty_graph_launches(trace: Trace) -> dict[int, tuple[int, int]]:
    """For each rank with graph launches: how many there are, and how many replayed nothing."""
    rank = int64(trace.host, "rank")
    graph, found = _named(trace.host, _GRAPH_LAUNCH), _found(trace)
    return {
        int(r): (int((graph & (rank == r)).sum()), int((graph & ~found & (rank == r)).sum()))
        for r in np.unique(rank[graph])
    }


def _named(host: pa.Table, pattern: re.Pattern[str]) -> Bool:
    rows, words = codes(host, "name")
    kinds, kind_words = codes(host, "kind")
    is_call = np.array([word == "launch" for word in kind_words] + [False])[kinds]
    return np.array([bool(pattern.search(word)) for word in words] + [False])[rows] & is_call


def _found(trace: Trace) -> Bool:
    """Host rows whose correlation a device activity of their rank has."""
    host = _keys(int64(trace.host, "rank"), int64(trace.host, "correlation"))
    events = _keys(int64(trace.events, "rank"), int64(trace.events, "correlation"))
    known = int64(trace.host, "correlation") != NONE
    return np.isin(host, events) & known


def _keys(rank: Int64, correlation: Int64) -> Int64:
    """One number for a rank and a correlation, which is of 32 bits in practice."""
    return correlation ^ (rank << 40)


def _captured(host: pa.Table) -> Bool:
    """Rows that begin between the begin and the end of a graph capture on their thread."""
    kinds, kind_words = codes(host, "kind")
    names, words = codes(host, "name")
    marks = np.flatnonzero(np.array([w == "capture" for w in kind_words] + [False])[kinds])
    inside = np.zeros(host.num_rows, np.bool_)
    if not len(marks):
        return inside
    begins = np.array(["Begin" in word for word in words])[names[marks]]
    rank, thread, start = (int64(host, name) for name in ("rank", "thread", "start_ns"))
    order = np.lexsort((start[marks], thread[marks], rank[marks]))
    marks, begins = marks[order], begins[order]
    for begin, end in zip(marks[:-1][begins[:-1]], marks[1:][begins[:-1]]):
        same = (rank == rank[begin]) & (thread == thread[begin])
        inside |= same & (start >= start[begin]) & (start < start[end])
    return inside
