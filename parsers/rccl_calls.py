"""Which collective an RCCL kernel runs, where a profiler recorded the calls of RCCL.

The kernels are called alike whatever they run. A kernel belongs to the RCCL call on the same thread
in which it was launched, or to the group of calls in whose end. Where no launches were recorded,
the calls and groups must be as many as the kernels, and go by their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.classify import NO_PATTERNS, ActivityClass, canonical_op, classes_of
from commscope.columns import NONE, Bool, Int64, runs
from commscope.parsers.device_tables import Activities, Calls
from commscope.parsers.rccl_arguments import Arguments, Told, combined, told_by
from commscope.parsers.words import Words
from commscope.schema import PARSED_COLLECTIVES, table_of

_PREFIX = "nccl"
_NOTHING = Told()
_GROUP_START, _GROUP_END = "ncclGroupStart", "ncclGroupEnd"
_PAIRS = {"send", "recv", "send_recv"}
#: What arguments tell of a kernel, as columns of COLLECTIVES.
_TOLD = ("bytes", "dtype", "comm", "group_size", "peer")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A call of RCCL outside of any group, or a group of them: what one kernel runs."""

    thread: int
    start_ns: int
    end_ns: int
    op: str | None  #: null: none, or several unlike
    calls: tuple[int, ...]  #: rows of the collectives


def collectives_of(
    activities: Activities, calls: Calls, words: Words, arguments: Arguments
) -> pa.Table:
    """PARSED_COLLECTIVES of the communication kernels whose RCCL calls are known."""
    rows = np.flatnonzero(_is_communication(activities, words))
    units = list(_units(calls, words.spelled))
    if not len(rows) or not units:
        return PARSED_COLLECTIVES.empty_table()
    unit = _by_launch(activities.correlation[rows], calls, units)
    if (unit < 0).all():
        unit = _by_order(activities.start_ns[rows], units)
    found = [(row, u) for row, u in zip(rows.tolist(), unit.tolist()) if u >= 0 and units[u].op]
    told = told_by(_in_time(calls, words.spelled), arguments) if arguments.of_call else {}
    kernels = Counter(u for _, u in found)
    says = {
        u: combined([told.get(row, _NOTHING) for row in units[u].calls], kernels[u])
        for u in kernels
    }
    columns: dict[str, Sequence[Any]] = {
        name: [None] * len(found) for name in PARSED_COLLECTIVES.names
    }
    columns["event"] = [row for row, _ in found]
    columns["op"] = [units[u].op for _, u in found]
    columns["source"] = ["record"] * len(found)
    columns |= {name: [getattr(says[u], name) for _, u in found] for name in _TOLD}
    return table_of(columns, PARSED_COLLECTIVES, "RCCL calls")


def _is_communication(activities: Activities, words: Words) -> Bool:
    classes = np.array(classes_of(words.spelled, NO_PATTERNS), np.uint8)
    return np.asarray(classes[activities.name] == ActivityClass.COMMUNICATION)


def _rccl_rows(calls: Calls, words: Sequence[str]) -> Int64:
    is_rccl = np.array([word.startswith(_PREFIX) for word in words], np.bool_)
    return np.flatnonzero(is_rccl[calls.name])


def _in_time(calls: Calls, words: Sequence[str]) -> Iterator[tuple[int, str, int]]:
    """Row, name and correlation of the calls of RCCL, as they began."""
    rows = _rccl_rows(calls, words)
    rows = rows[np.argsort(calls.start_ns[rows], kind="stable")]
    names = (words[code] for code in calls.name[rows].tolist())
    return zip(rows.tolist(), names, calls.correlation[rows].tolist())


def _units(calls: Calls, words: Sequence[str]) -> Iterator[_Unit]:
    """The units of every thread, in order of start on each."""
    rows = _rccl_rows(calls, words)
    order = rows[np.lexsort((-calls.end_ns[rows], calls.start_ns[rows], calls.thread[rows]))]
    for of_thread in runs(calls.thread[order]):
        yield from _units_of_thread(calls, order[of_thread], words)


def _units_of_thread(calls: Calls, rows: Int64, words: Sequence[str]) -> Iterator[_Unit]:
    depth, begin, reach = 0, 0, NONE
    group: list[tuple[int, str]] = []  #: row and operation of each call in it
    thread = int(calls.thread[rows[0]])
    columns = (rows, calls.name[rows], calls.start_ns[rows], calls.end_ns[rows])
    for row, code, start, end in zip(*(column.tolist() for column in columns)):
        if start < reach:  # a call inside another one
            continue
        name = words[code]
        if name == _GROUP_START:
            depth, begin = depth + 1, begin if depth else start
        elif name == _GROUP_END:
            depth = max(depth - 1, 0)
            if not depth and group:
                called, ops = zip(*group)
                yield _Unit(thread, begin, end, _one(set(ops)), called)
                group = []
        elif op := canonical_op(name):
            reach = end
            if depth:
                group.append((row, op))
            else:
                yield _Unit(thread, start, end, op, (row,))


def _one(ops: set[str]) -> str | None:
    """The operation of a group: sends and receives run in one kernel, others each in its own."""
    if len(ops) == 1:
        return next(iter(ops))
    return "send_recv" if ops <= _PAIRS else None


def _by_launch(correlation: Int64, calls: Calls, units: Sequence[_Unit]) -> Int64:
    """The unit in which the call with each correlation began; -1 where there is none."""
    # Few of all calls launched a collective: the others are not worth sorting.
    rows = np.flatnonzero(np.isin(calls.correlation, correlation))
    if not len(rows):
        return np.full(len(correlation), -1, np.int64)
    order = rows[np.lexsort((calls.start_ns[rows], calls.correlation[rows]))]
    ids = calls.correlation[order]
    place = np.minimum(np.searchsorted(ids, correlation), len(ids) - 1)
    is_known = (ids[place] == correlation) & (correlation != NONE)
    call = order[place]
    found = np.full(len(correlation), -1, np.int64)
    numbers = np.arange(len(units))
    threads = np.array([unit.thread for unit in units])
    starts, ends = (np.array([getattr(u, n) for u in units]) for n in ("start_ns", "end_ns"))
    for thread in np.unique(threads).tolist():
        mine = numbers[threads == thread]
        wanted = np.flatnonzero(is_known & (calls.thread[call] == thread))
        time = calls.start_ns[call[wanted]]
        at = np.searchsorted(starts[mine], time, "right") - 1
        inside = (at >= 0) & (time < ends[mine][np.maximum(at, 0)])
        found[wanted[inside]] = mine[at[inside]]
    return found


def _by_order(starts: Int64, units: Sequence[_Unit]) -> Int64:
    """The units in order of time, if they are as many as the kernels and none begins too late."""
    none = np.full(len(starts), -1, np.int64)
    begins = np.array([unit.start_ns for unit in units])
    if len(begins) != len(starts):
        return none
    kernels, calls = np.argsort(starts, kind="stable"), np.argsort(begins, kind="stable")
    if (starts[kernels] < begins[calls]).any():
        return none
    none[kernels] = calls
    return none
