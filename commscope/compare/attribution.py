"""Every nanosecond of the windows that are compared, by what it was spent on.

The pieces of a window add up to it: compute by family, exposed waiting by the rank that was late
first and why, exposed transfer by collective, exposed copies, and idle time by what kept the GPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from commscope.analysis.gaps import PARTS, WAIT
from commscope.analysis.groups import group_rows, group_sums
from commscope.analysis.host import ACTIONS, LAUNCH, main_action
from commscope.analysis.lateness import REASONS
from commscope.classify import ActivityClass
from commscope.columns import NONE, Int64, at, codes, int64
from commscope.compare.groups import UNKNOWN, class_names
from commscope.compare.scope import Scope
from commscope.intervals import Intervals, cut

#: Why a GPU idled, besides what its host can be seen to do.
PAUSE, LAUNCHES, DEVICE, UNTOLD = "host_pause", "launches", "device", "unknown"
_IDLE = (*(action for action in ACTIONS if action != LAUNCH), PAUSE, LAUNCHES, DEVICE, UNTOLD)
#: A host that launches nothing for longer than this does something else than launching.
LEAST_PAUSE_NS = 1_000_000


class Key(NamedTuple):
    """What time was spent on, and the rank that it was, or that was waited for."""

    part: str
    detail: str
    rank: int


@dataclass(frozen=True, slots=True)
class Spent:
    """Sums over the windows of a run: ns, and how many kernels or collectives.

    ``pauses_ns`` is of each rank the longest time at once for which it idled as its host launched
    nothing; ranks that never did are not in it.
    """

    ns: Counter[Key]
    count: Counter[Key]
    pauses_ns: dict[int, int]


def spent_in(scope: Scope) -> Spent:
    """What the steps that are compared were spent on; their sum is the sum of their windows."""
    idle = _idle_in(scope)
    times = (*_computed(scope), *_exposed(scope), *_copied(scope), *_idled(idle))
    counts = (*_kernels(scope), *_calls(scope))
    return Spent(_added(times), _added(counts), _pauses(idle))


def _added(values: Iterable[tuple[Key, int]]) -> Counter[Key]:
    sums: Counter[Key] = Counter()
    for key, value in values:
        sums[key] += value
    return sums


def without_waits(scope: Scope) -> Spent:
    """As ``spent_in``, with all exposed communication by collective alone.

    For runs that are compared with one that cannot tell waiting from transfer.
    """
    spent, (times, counts) = spent_in(scope), _whole_exposed(scope)
    return Spent(
        _added((*_unexposed(spent.ns), *times)),
        _added((*_unexposed(spent.count), *counts)),
        spent.pauses_ns,
    )


def _unexposed(sums: Counter[Key]) -> Iterator[tuple[Key, int]]:
    split = tuple(f"exposed_{part}" for part in PARTS)
    return ((key, value) for key, value in sums.items() if key.part not in split)


def _rank_of(scope: Scope, window: Int64) -> Int64:
    analysis = scope.run.analysis
    return np.asarray(analysis.timeline.ranks[analysis.windows.rank[window]])


def _in_windows(scope: Scope, of: Intervals) -> tuple[Int64, Int64, Int64]:
    """The parts of a set in windows that are compared: its interval, window and length."""
    timeline, windows = scope.run.analysis.timeline, scope.run.analysis.windows
    edges = np.unique(np.concatenate(windows.axis(timeline)))
    starts, ends = cut(of.starts, of.ends, edges)
    window = windows.at(timeline, starts)
    rows = np.flatnonzero(at(scope.windows, window, missing=False))
    interval = np.searchsorted(of.starts, starts[rows], side="right") - 1
    return interval, window[rows], (ends - starts)[rows]


def _sums(
    part: str, words: list[str], word: Int64, rank: Int64, values: Int64
) -> Iterator[tuple[Key, int]]:
    """Sums by word and rank."""
    group, first = group_rows([word, rank])
    total = group_sums(group, values, len(first))
    for row, value in zip(first.tolist(), total.tolist()):
        yield Key(part, words[word[row]], int(rank[row])), value


def _families(scope: Scope) -> tuple[Int64, list[str]]:
    """The family of each activity."""
    trace, found = scope.run.analysis.trace, scope.run.analysis.timeline.activities
    words = sorted(set(trace.classes.family))
    of_name = np.array([words.index(family) for family in trace.classes.family], np.int64)
    return np.asarray(of_name[codes(trace.events, "name")[0][found.row]]), words


def _computed(scope: Scope) -> Iterator[tuple[Key, int]]:
    """Compute by family. Of kernels that run at once the first to begin has the time."""
    timeline = scope.run.analysis.timeline
    compute = np.flatnonzero(timeline.activities.of(ActivityClass.COMPUTE))
    start, end = (times[compute] for times in timeline.activities_on_axis())
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(end[order])
    begin = np.maximum(start[order], np.concatenate(([NONE], reach[:-1]))[: len(order)])
    real = begin < end[order]
    own = Intervals(begin[real], end[order][real])
    interval, window, length = _in_windows(scope, own)
    family, words = _families(scope)
    kernel = compute[order][real][interval]
    yield from _sums("compute", words, family[kernel], _rank_of(scope, window), length)


def _kernels(scope: Scope) -> Iterator[tuple[Key, int]]:
    """How many kernels of each family begin in the windows."""
    timeline, windows = scope.run.analysis.timeline, scope.run.analysis.windows
    compute = np.flatnonzero(timeline.activities.of(ActivityClass.COMPUTE))
    window = windows.at(timeline, timeline.activities_on_axis()[0][compute])
    inside = at(scope.windows, window, missing=False)
    family, words = _families(scope)
    rank = _rank_of(scope, window[inside])
    yield from _sums("compute", words, family[compute[inside]], rank, np.ones_like(rank))


def _exposed(scope: Scope) -> Iterator[tuple[Key, int]]:
    """Exposed communication: waiting by who was late first and why, the rest by collective."""
    analysis, gaps = scope.run.analysis, scope.run.analysis.gaps
    rows = np.flatnonzero(at(scope.windows, gaps.window, missing=False))
    waits = gaps.part[rows] == WAIT
    instance = at(analysis.across.matching.instance, gaps.call[rows[waits]], -1)
    origin = at(analysis.lateness.origin, instance, -1)
    reason = at(analysis.lateness.reason, origin, REASONS.index("unclear"))
    straggler = at(analysis.across.matching.straggler, origin, 0)
    root = np.where(origin >= 0, analysis.timeline.ranks[straggler], -1)
    length = gaps.length[rows]
    yield from _sums("exposed_wait", list(REASONS), reason, root, length[waits])
    rank = analysis.timeline.ranks[gaps.rank[rows]]
    names, words = class_names(analysis)
    for number, part in enumerate(PARTS):
        mine = gaps.part[rows] == number
        if number != WAIT and mine.any():
            name = at(names, gaps.call[rows[mine]], words.index(UNKNOWN))
            yield from _sums(f"exposed_{part}", words, name, rank[mine], length[mine])


def _whole_exposed(scope: Scope) -> tuple[Iterable[tuple[Key, int]], Iterable[tuple[Key, int]]]:
    """(ns, count) of exposed communication by collective."""
    analysis, gaps = scope.run.analysis, scope.run.analysis.gaps
    rows = np.flatnonzero(at(scope.windows, gaps.window, missing=False))
    names, words = class_names(analysis)
    name = at(names, gaps.call[rows], words.index(UNKNOWN))
    rank = np.asarray(analysis.timeline.ranks[gaps.rank[rows]])
    calls = analysis.across.calls
    mine = np.flatnonzero(scope.holds(int64(calls, "rank"), int64(calls, "step")))
    ones = np.ones(len(mine), np.int64)
    return (
        _sums("exposed_comm", words, name, rank, gaps.length[rows]),
        _sums("exposed_comm", words, names[mine], int64(calls, "rank")[mine], ones),
    )


def _calls(scope: Scope) -> Iterator[tuple[Key, int]]:
    """How many collectives of each kind were launched in the steps."""
    analysis = scope.run.analysis
    calls = analysis.across.calls
    rank, step = int64(calls, "rank"), int64(calls, "step")
    names, words = class_names(analysis)
    matched = analysis.across.matching.instance >= 0
    for part, chosen in (("exposed_transfer", matched), ("exposed_unmatched", ~matched)):
        mine = scope.holds(rank, step) & chosen
        yield from _sums(part, words, names[mine], rank[mine], np.ones(mine.sum(), np.int64))


def _copied(scope: Scope) -> Iterator[tuple[Key, int]]:
    """Exposed copies."""
    timeline = scope.run.analysis.timeline
    _, window, length = _in_windows(scope, timeline.exposed_copy)
    rank = _rank_of(scope, window)
    yield from _sums("exposed_copy", [""], np.zeros_like(rank), rank, length)


class _Idle(NamedTuple):
    """Idle time in the windows, piece by piece."""

    rank: Int64
    cause: Int64  #: a place in ``_IDLE``
    length: Int64
    whole: Int64  #: length of the time at once that it is a piece of


def _idle_in(scope: Scope) -> _Idle:
    idle = scope.run.analysis.timeline.idle
    interval, window, length = _in_windows(scope, idle)
    whole = (idle.ends - idle.starts)[interval]
    return _Idle(_rank_of(scope, window), _idle_causes(scope)[interval], length, whole)


def _idled(idle: _Idle) -> Iterator[tuple[Key, int]]:
    """Idle time by what kept the GPU."""
    yield from _sums("idle", list(_IDLE), idle.cause, idle.rank, idle.length)


def _pauses(idle: _Idle) -> dict[int, int]:
    """The longest pause of each rank's host."""
    mine = idle.cause == _IDLE.index(PAUSE)
    ranks, place = np.unique(idle.rank[mine], return_inverse=True)
    longest = np.zeros(len(ranks), np.int64)
    np.maximum.at(longest, place, idle.whole[mine])
    return dict(zip(ranks.tolist(), longest.tolist()))


def _idle_causes(scope: Scope) -> Int64:
    """Why each time of idling lasted, a place in ``_IDLE``.

    The host is the cause if it launched what ended that time only after it had begun.
    """
    analysis, idle = scope.run.analysis, scope.run.analysis.timeline.idle
    start = analysis.timeline.activities_on_axis()[0]
    order = np.argsort(start, kind="stable")
    ends_it = at(order, np.minimum(np.searchsorted(start[order], idle.ends), len(order) - 1), -1)
    launch = at(analysis.host.launch, ends_it, NONE)
    until = np.maximum(launch, idle.starts)
    action = main_action(analysis.host.doing, idle.starts, until, until - idle.starts)
    names = {number: _IDLE.index(word) for number, word in enumerate(ACTIONS) if word in _IDLE}
    seen = np.array([names.get(number, -1) for number in range(len(ACTIONS))])
    did = at(seen, action, -1)
    long = (idle.ends - idle.starts >= LEAST_PAUSE_NS) & (action < 0)
    by_host = np.where(did >= 0, did, np.where(long, _IDLE.index(PAUSE), _IDLE.index(LAUNCHES)))
    late = np.where(launch > idle.starts, by_host, _IDLE.index(DEVICE))
    return np.where(launch == NONE, _IDLE.index(UNTOLD), late)
