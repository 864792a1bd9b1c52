"""Which collective an RCCL kernel runs, where a profiler recorded the calls of RCCL.

The kernels are called alike whatever they run. A kernel belongs to the RCCL call on the same thread
in which it was launched, or to the group of calls in whose end. Where no launches were recorded,
the calls and groups must be as many as the kernels, and go by their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.classify import NO_PATTERNS, ActivityClass, canonical_op, classes_of
from commscope.columns import NONE, Bool, Int64
from commscope.parsers.device_tables import Activities, Calls
from commscope.parsers.kineto.rows import Words
from commscope.schema import PARSED_COLLECTIVES, table_of

_PREFIX = "nccl"
_GROUP_START, _GROUP_END = "ncclGroupStart", "ncclGroupEnd"
_PAIRS = {"send", "recv", "send_recv"}


@dataclass(frozen=True, slots=True)
class _Unit:
    """A call of RCCL outside of any group, or a group of them: what one kernel runs."""

    thread: int
    start_ns: int
    end_ns: int
    op: str | None  #: null: none, or several unlike


def collectives_of(activities: Activities, calls: Calls, words: Words) -> pa.Table:
    """PARSED_COLLECTIVES of the communication kernels whose RCCL calls are known."""
    rows = np.flatnonzero(_is_communication(activities, words))
    units = list(_units(calls, list(words)))
    if not len(rows) or not units:
        return PARSED_COLLECTIVES.empty_table()
    unit = _by_launch(activities.correlation[rows], calls, units)
    if (unit < 0).all():
        unit = _by_order(activities.start_ns[rows], units)
    found = [(row, op) for row, u in zip(rows.tolist(), unit.tolist()) if (op := _op(units, u))]
    columns: dict[str, Sequence[object]] = {
        name: [None] * len(found) for name in PARSED_COLLECTIVES.names
    }
    columns["event"] = [row for row, _ in found]
    columns["op"] = [op for _, op in found]
    columns["source"] = ["record"] * len(found)
    return table_of(columns, PARSED_COLLECTIVES, "RCCL calls")


def _op(units: Sequence[_Unit], number: int) -> str | None:
    return units[number].op if number >= 0 else None


def _is_communication(activities: Activities, words: Words) -> Bool:
    classes = np.array(classes_of(list(words), NO_PATTERNS), np.uint8)
    return np.asarray(classes[activities.name] == ActivityClass.COMMUNICATION)


def _units(calls: Calls, words: Sequence[str]) -> Iterator[_Unit]:
    """The units of every thread, in order of start on each."""
    is_rccl = np.array([word.startswith(_PREFIX) for word in words], np.bool_)
    rows = np.flatnonzero(is_rccl[calls.name])
    order = rows[np.lexsort((-calls.end_ns[rows], calls.start_ns[rows], calls.thread[rows]))]
    thread = calls.thread[order]
    for of_thread in np.split(order, np.flatnonzero(np.diff(thread)) + 1):
        if len(of_thread):
            yield from _units_of_thread(calls, of_thread, words)


def _units_of_thread(calls: Calls, rows: Int64, words: Sequence[str]) -> Iterator[_Unit]:
    depth, begin, ops, reach = 0, 0, set[str](), NONE
    thread = int(calls.thread[rows[0]])
    columns = (calls.name[rows], calls.start_ns[rows], calls.end_ns[rows])
    for code, start, end in zip(*(column.tolist() for column in columns)):
        if start < reach:  # a call inside another one
            continue
        name = words[code]
        if name == _GROUP_START:
            depth, begin = depth + 1, begin if depth else start
        elif name == _GROUP_END:
            depth = max(depth - 1, 0)
            if not depth and ops:
                yield _Unit(thread, begin, end, _one(ops))
                ops = set()
        elif op := canonical_op(name):
            reach = end
            if depth:
                ops.add(op)
            else:
                yield _Unit(thread, start, end, op)


def _one(ops: set[str]) -> str | None:
    """The operation of a group: sends and receives run in one kernel, others each in its own."""
    if len(ops) == 1:
        return next(iter(ops))
    return "send_recv" if ops <= _PAIRS else None


def _by_launch(correlation: Int64, calls: Calls, units: Sequence[_Unit]) -> Int64:
    """The unit in which the call with each correlation began; -1 where there is none."""
    order = np.lexsort((calls.start_ns, calls.correlation))
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
