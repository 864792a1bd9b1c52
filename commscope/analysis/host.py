"""What the hosts did: which thread launched what, when it was blocked, and by which call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import group_rows
from commscope.analysis.timeline import Timeline, on_axis
from commscope.columns import NONE, Bool, Int64, at, codes, int64, runs, where_equal, where_word
from commscope.intervals import Intervals, measure, union
from commscope.trace import Trace

#: What a host can be seen to do, in the order in which the more telling word wins.
INPUT, ALLOCATION, SYNC, COPY, LAUNCH = "input", "allocation", "sync", "copy", "launch"
ACTIONS = (INPUT, ALLOCATION, SYNC, COPY, LAUNCH)
_BLOCKING = (ALLOCATION, SYNC, COPY)

#: What takes more than this share of a time is what was done in it.
FILLS = 0.5

_INPUT = re.compile(r"data.?load|__next__|next_batch|get_batch", re.IGNORECASE)
_SYNCHRONISES = re.compile(r"Synchronize")
_WAIT_EVENT = re.compile(r"StreamWaitEvent")
_QUERY = re.compile(r"(?:Event|Stream)Query")
_COPY = re.compile(r"Memcpy")
#: A copy that returns at once takes less; one from pageable memory, or that synchronises, more.
_BLOCKING_COPY_NS = 50_000
#: Queries that follow each other within this are one loop, as long as nothing else is called.
_LOOP_NS = 100_000


@dataclass(frozen=True, slots=True)
class Blocked:
    """Calls during which a thread can do nothing else, in order; times on the axis.

    ``name`` is a place in ``HostCalls.names``, ``action`` one in ``ACTIONS``. A loop of queries is
    one call, with -1 as action, and what is called inside another call is part of that.
    """

    start: Int64
    end: Int64
    name: Int64
    action: Int64


@dataclass(frozen=True, slots=True)
class HostCalls:
    """The calls of all hosts on the axis of the timeline.

    ``lane`` numbers the (rank, thread) that launched each activity (a place in
    ``Timeline.activities``), -1 where that is not known; ``launch`` is when its call began, and
    ``returned`` when that ended, ``NONE`` likewise.
    """

    lane: Int64
    launch: Int64
    returned: Int64
    blocked: dict[int, Blocked]  #: by lane
    doing: dict[str, Intervals]  #: by action, on threads that launch
    waits: Int64  #: when threads that launch made a stream wait for an event, in order
    names: list[str]

    def waits_between(self, start: Int64, end: Int64) -> Int64:
        """How often a stream was made to wait for an event, from each start to its end."""
        first, last = (np.searchsorted(self.waits, time, side="right") for time in (start, end))
        return np.asarray(last - first)


def host_calls(trace: Trace, timeline: Timeline) -> HostCalls:
    """Sorts the host table by thread; what other threads than those that launch do is left out."""
    host = trace.host
    rank, start, end = on_axis(timeline, host)
    lane, _ = group_rows([rank, int64(host, "thread")])
    call = _launching_call(trace, timeline)
    of_activity = at(lane, call, -1)
    launching = np.isin(lane, of_activity[of_activity >= 0])
    name, names = codes(host, "name")
    calls = _Calls(start, end, lane, name, _actions(host, start, end), launching)
    return HostCalls(
        lane=of_activity,
        launch=at(start, call, NONE),
        returned=at(end, call, NONE),
        blocked=dict(_blocked(calls, where_word(host, "name", _QUERY.search))),
        doing={action: calls.union_of(action) for action in ACTIONS},
        waits=np.sort(start[launching & where_word(host, "name", _WAIT_EVENT.search)]),
        names=names,
    )


@dataclass(frozen=True, slots=True)
class _Calls:
    start: Int64
    end: Int64
    lane: Int64
    name: Int64
    action: Int64  #: a place in ACTIONS; -1: none
    launching: Bool

    def union_of(self, action: str) -> Intervals:
        """When a thread that launches did this; input may be loaded by any."""
        rows = (self.action == ACTIONS.index(action)) & (self.launching | (action == INPUT))
        return union(self.start[rows], self.end[rows])


def _launching_call(trace: Trace, timeline: Timeline) -> Int64:
    """The row of the host table that launched each activity; -1 where it is not known."""
    row = timeline.activities.row
    known = (int64(trace.events, name)[row] != NONE for name in ("correlation", "launch_ns"))
    linked = np.flatnonzero(np.logical_and(*known))
    keys = [
        np.concatenate((int64(trace.host, name), int64(trace.events, name)[row[linked]]))
        for name in ("rank", "correlation")
    ]
    count = trace.host.num_rows
    group, first = group_rows(keys)
    # Groups keep the order of rows: the first of a group is a call, if there is one.
    call = np.full(len(row), -1)
    call[linked] = np.where(first < count, first, -1)[group[count:]]
    return call


def _actions(host: pa.Table, start: Int64, end: Int64) -> Int64:
    """What each call is: a place in ACTIONS; -1: none of them."""

    def kind(word: str) -> Bool:
        return where_equal(host, "kind", word)

    copies = where_word(host, "name", _COPY.search) & (end - start > _BLOCKING_COPY_NS)
    is_it = {
        INPUT: kind("annotation") & where_word(host, "name", _INPUT.search),
        ALLOCATION: kind("memory"),
        SYNC: kind("sync") & where_word(host, "name", _SYNCHRONISES.search),
        COPY: kind("launch") & copies,
        LAUNCH: kind("launch") & ~copies,
    }
    return np.select([is_it[action] for action in ACTIONS], range(len(ACTIONS)), -1)


def _blocked(calls: _Calls, is_query: Bool) -> Iterator[tuple[int, Blocked]]:
    """By lane, the calls that block it."""
    launches = calls.action == ACTIONS.index(LAUNCH)
    blocks = np.isin(calls.action, [ACTIONS.index(action) for action in _BLOCKING])
    rows = np.flatnonzero((blocks | is_query | launches) & calls.launching)
    rows = rows[np.lexsort((calls.start[rows], calls.lane[rows]))]
    for of_lane in runs(calls.lane[rows]):
        mine = rows[of_lane]
        yield int(calls.lane[mine[0]]), _of_lane(calls, mine, blocks, is_query)


def _of_lane(calls: _Calls, rows: Int64, blocks: Bool, is_query: Bool) -> Blocked:
    """The blocking calls of one lane, of whose calls these are all, in order."""
    start, end, query = calls.start[rows], calls.end[rows], is_query[rows]
    goes_on = np.zeros(len(rows), np.bool_)
    goes_on[1:] = query[1:] & query[:-1] & (start[1:] - end[:-1] < _LOOP_NS)
    first = np.flatnonzero(~goes_on)
    reach = np.maximum.reduceat(end, first)
    chosen = (blocks | is_query)[rows[first]]
    first, reach = first[chosen], reach[chosen]
    outer = np.ones(len(first), np.bool_)
    outer[1:] = reach[1:] > np.maximum.accumulate(reach)[:-1]
    first, reach = first[outer], reach[outer]
    call = rows[first]
    return Blocked(start[first], reach, calls.name[call], calls.action[call])


def fills(doing: Intervals, start: Int64, end: Int64, length: Int64) -> Bool:
    """Whether hosts do this from each start to its end for most of a length."""
    return np.asarray(measure(doing, start, end) > FILLS * np.maximum(length, 1))


def main_action(doing: Mapping[str, Intervals], start: Int64, end: Int64, length: Int64) -> Int64:
    """As ``fills``: which of ACTIONS (a place) does, the first of several; -1: none."""
    found = np.full(len(start), -1)
    for number, action in reversed(list(enumerate(ACTIONS))):
        found[fills(doing[action], start, end, length)] = number
    return found


def blocking_call_at(host: HostCalls, lane: Int64, time: Int64) -> tuple[Int64, Int64]:
    """(Name, action) of the call that blocked each lane then; -1 for none."""
    name, action = np.full(len(time), -1), np.full(len(time), -1)
    order = np.argsort(lane, kind="stable")
    for number, blocked in host.blocked.items():
        low, high = np.searchsorted(lane, (number, number + 1), sorter=order)
        mine = order[low:high]
        place = np.searchsorted(blocked.start, time[mine], side="right") - 1
        there = (place >= 0) & (at(blocked.end, place, 0) >= time[mine])
        mine, place = mine[there], place[there]
        name[mine], action[mine] = blocked.name[place], blocked.action[place]
    return name, action
