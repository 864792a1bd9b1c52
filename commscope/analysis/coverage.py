"""What share of the launches found their kernel, and where those are that did not (Q1, Q8)."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import group_rows, is_among
from commscope.columns import (
    NONE,
    Bool,
    Int64,
    flagged,
    int64,
    nullable,
    where_equal,
    where_word,
)
from commscope.schema import Flag
from commscope.trace import Trace

#: Calls that launch one kernel; copies and memsets often leave no record, graphs launch many.
_KERNEL_LAUNCH = re.compile(r"LaunchKernel|LaunchCooperativeKernel|hipLaunchByPtr|cuLaunchGrid")
_GRAPH_LAUNCH = re.compile(r"GraphLaunch")


def launch_coverage(trace: Trace) -> pa.Table:
    """Launches of kernels: one row a rank and step (null: all of the rank).

    Columns: ``rank``, ``step``, ``launches``, ``found`` of them, ``cut``: those after the last one
    that was found. The recording stopped before these ran, so nothing up to there is missing.
    Launches while a graph was being captured do not count: they run only when it is replayed. A
    kernel with impossible times is as good as not recorded.
    """
    return _coverage(trace, _named(trace.host, _KERNEL_LAUNCH) & ~_captured(trace.host))


def graph_coverage(trace: Trace) -> pa.Table:
    """Launches of graphs, as ``launch_coverage``: one is found if it replayed any activity."""
    return _coverage(trace, _named(trace.host, _GRAPH_LAUNCH))


def _named(host: pa.Table, pattern: re.Pattern[str]) -> Bool:
    """Calls that can launch, carry an id, and have such a name."""
    has_id = int64(host, "correlation") != NONE
    is_launch = where_equal(host, "kind", "launch")
    return np.asarray(is_launch & has_id & where_word(host, "name", pattern.search))


def _coverage(trace: Trace, chosen: Bool) -> pa.Table:
    rows = np.flatnonzero(chosen)
    ranks = np.unique(int64(trace.ranks, "rank"))
    rank, step = (int64(trace.host, name)[rows] for name in ("rank", "step"))
    found = _found(trace, rows)
    cut = _after_last(np.searchsorted(ranks, rank), found, len(ranks))
    # Each launch counts for its rank, and for its step if it has one.
    in_step = np.flatnonzero(step != NONE)
    twice = np.concatenate((np.arange(len(rows)), in_step))
    every_step = np.full(len(ranks) + len(rows), NONE)
    group, first = group_rows(
        [np.concatenate((ranks, rank[twice])), np.concatenate((every_step, step[in_step]))]
    )
    counted = group[len(ranks) :]  # before them one row a rank, for those that launch nothing
    columns = {
        "rank": pa.array(np.concatenate((ranks, rank[twice]))[first]),
        "step": nullable(np.concatenate((every_step, step[in_step]))[first]),
    }
    for name, holds in (("launches", None), ("found", found), ("cut", cut)):
        of = counted if holds is None else counted[holds[twice]]
        columns[name] = pa.array(np.bincount(of, minlength=len(first)))
    return pa.table(columns)


def _after_last(rank: Int64, found: Bool, ranks: int) -> Bool:
    """Which launches, in order of rank and start, come after the last one found of their rank.

    Of a rank without any found nothing was cut: it was not recorded.
    """
    last = np.full(ranks, len(rank))
    hits = np.flatnonzero(found)
    ends = np.append(np.diff(rank[hits]) != 0, True)[: len(hits)]
    last[rank[hits[ends]]] = hits[ends]
    return np.asarray(np.arange(len(rank)) > last[rank])


def _found(trace: Trace, rows: Int64) -> Bool:
    """Which of the host's rows have a correlation that an activity of their rank has."""
    correlation = int64(trace.events, "correlation")
    recorded = np.flatnonzero((correlation != NONE) & ~flagged(trace.events, Flag.BROKEN))
    rank, of_call = int64(trace.events, "rank")[recorded], int64(trace.host, "rank")[rows]
    call = int64(trace.host, "correlation")[rows]
    found = np.zeros(len(rows), np.bool_)
    for one in np.unique(of_call):  # both are in order of rank
        mine, theirs = _of_rank(of_call, one), _of_rank(rank, one)
        found[mine] = is_among(call[mine], correlation[recorded[theirs]])
    return found


def _of_rank(ranks: Int64, one: int) -> slice:
    first, end = np.searchsorted(ranks, (one, one + 1))
    return slice(int(first), int(end))


def _captured(host: pa.Table) -> Bool:
    """Rows that begin between the begin and the end of a graph capture on their thread."""
    is_mark = where_equal(host, "kind", "capture")
    if not is_mark.any():
        return is_mark
    is_begin = where_word(host, "name", lambda word: "Begin" in word)
    thread, _ = group_rows([int64(host, "rank"), int64(host, "thread")])
    order = np.lexsort((~is_mark, int64(host, "start_ns"), thread))  # a mark before what is in it
    thread, marks = thread[order], np.flatnonzero(is_mark[order])
    has_end = np.append(thread[marks[1:]] == thread[marks[:-1]], False)
    opens = is_begin[order][marks] & has_end
    latest = np.searchsorted(marks, np.arange(len(order)), side="right") - 1
    captured = np.empty(len(order), np.bool_)
    captured[order] = (latest >= 0) & opens[latest] & (thread[marks[latest]] == thread)
    return captured
