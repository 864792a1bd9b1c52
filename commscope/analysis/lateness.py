"""Why the last member of a collective was late, followed back to the first cause on one rank.

A collective ends for all its members at once. Where no member computes as it ends, all start anew
from there: it *joins* them. From one such collective to a later one of the same communicator they
do the same work, so the part of this time that is longer on the last member than on the median of
its peers is what made it late: compute, copies, idling for its host, or communication in other
groups. If it waited there itself, that collective's last member is followed instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from commscope.analysis.across import Across
from commscope.analysis.groups import group_rows
from commscope.analysis.host import HostCalls, main_action
from commscope.analysis.minima import Minima
from commscope.analysis.percentiles import group_median
from commscope.analysis.pipeline import PIPELINE
from commscope.analysis.timeline import Timeline, on_axis
from commscope.analysis.windows import Windows
from commscope.columns import NONE, Bool, Int64, at, int64
from commscope.intervals import Intervals, difference, intersection, measure

#: What a rank can have been busy with, more telling first where two are as long.
COMPUTE, COPY, HOST, WAITED, TRANSFERRED, UNCLEAR = range(6)
REASONS = ("compute", "copy", "host", "waited", "communication", "unclear")
#: Lateness below this has no reason worth naming.
_LEAST_NS = 5_000
_LONGEST_CHAIN = 16
#: As a collective ends means within this: its members end a microsecond or two apart.
_AT_END_NS = 5_000


@dataclass(frozen=True, slots=True)
class Lateness:
    """For each instance why its last member (an index of a rank) was late, and from where.

    ``excess_ns`` is how much longer that took than on the median peer. ``action`` is what the host
    did while it let the device idle (a place in ``host.ACTIONS``), -1: nothing the trace shows.
    ``origin`` is the instance in which the chain of waiting begins: its own, where it did not wait.
    """

    reason: Int64
    excess_ns: Int64
    begin: Int64  #: from when on the last member is compared, on the axis
    arrival: Int64  #: when it arrived, on the axis
    is_compared: Bool  #: it has peers to compare with; else the reason is what it did meanwhile
    action: Int64
    next: Int64  #: the instance in which the last member waited, -1 for none
    origin: Int64

    def chain(self, instance: int) -> list[int]:
        """The instances from one back to the one where the first cause is."""
        found = [instance]
        while self.next[found[-1]] >= 0 and len(found) < _LONGEST_CHAIN:
            found.append(int(self.next[found[-1]]))
        return found


def lateness_of(
    timeline: Timeline,
    across: Across,
    host: HostCalls,
    windows: Windows,
    stages: Mapping[int, int],
) -> Lateness:
    """Explains every instance; ``stages`` are those of ``pipeline.pipeline_stages``."""
    members = _Members.of(timeline, across, windows, stages)
    parts = _parts(timeline, across)
    excess = np.stack([members.excess(part) for part in parts])
    reason = np.where(excess.max(axis=0, initial=0) < _LEAST_NS, UNCLEAR, excess.argmax(axis=0))
    chosen = excess[np.minimum(reason, len(parts) - 1), np.arange(len(reason))]
    follows = _followed(timeline, across, members, reason, chosen)
    last = members.of_last()
    return Lateness(
        reason,
        np.where(reason == UNCLEAR, 0, chosen),
        members.begin[last],
        members.arrival[last],
        _any(members.is_peer, members.instance, members.count),
        _actions(timeline, host, members, reason),
        follows,
        _origins(follows),
    )


@dataclass(frozen=True, slots=True)
class _Members:
    """The matched collectives: from when to when each member's own time before it lasted.

    Times on the axis. ``is_last`` marks the last member of each instance, ``is_peer`` those that it
    is compared with.
    """

    row: Int64
    instance: Int64
    begin: Int64
    arrival: Int64
    is_last: Bool
    is_peer: Bool
    count: int

    @classmethod
    def of(
        cls, timeline: Timeline, across: Across, windows: Windows, stages: Mapping[int, int]
    ) -> _Members:
        matching = across.matching
        row = np.flatnonzero(matching.instance >= 0)
        instance = matching.instance[row]
        rank, start, end = (of[row] for of in on_axis(timeline, across.calls))
        is_last = rank == matching.straggler[instance]
        joins = _joins(timeline, instance, end)
        begin, has_previous = _since_joined(
            matching.communicator[instance], rank, start, np.where(joins, end, NONE)
        )
        # Without a previous collective that joins them all: from the begin of the step.
        window = windows.at(timeline, start)
        lost = ~_all(has_previous, instance)
        begin = np.where(lost, at(windows.axis(timeline)[0], window, 0), begin)
        has_previous = np.where(lost, window >= 0, has_previous)
        # Without a step: from the first arrival on, when there are no peers.
        first = start - (matching.arrival_ns[row] - _first_arrival(across)[instance])
        first = np.maximum(first, (timeline.first_ns + timeline.shift_ns)[rank])
        count = len(matching.first_row)
        alike = _alike(timeline, across, stages, instance, rank)
        alone = ~_all(has_previous, instance) | ~_any(alike & ~is_last, instance, count)[instance]
        begin = np.minimum(np.where(alone, first, begin), start)
        peer = alike & ~is_last & ~alone
        return cls(row, instance, begin, start, is_last, peer, count)

    def excess(self, part: Intervals) -> Int64:
        """For each instance how much longer the last member had this than its median peer."""
        spent = measure(part, self.begin, self.arrival)
        own = np.zeros(self.count, np.int64)
        own[self.instance[self.is_last]] = spent[self.is_last]
        peers = self.instance[self.is_peer]
        return own - group_median(peers, spent[self.is_peer], self.count, missing=0)

    def of_last(self) -> Int64:
        """For each instance the place of its last member."""
        place = np.zeros(self.count, np.int64)
        place[self.instance[self.is_last]] = np.flatnonzero(self.is_last)
        return place


def _joins(timeline: Timeline, instance: Int64, end: Int64) -> Bool:
    """Which rows are of an instance as which ends no member computes."""
    return _all(measure(timeline.compute, end - _AT_END_NS, end) == 0, instance)


def _all(chosen: Bool, group: Int64) -> Bool:
    """Rows in whose group all are chosen."""
    return ~_any(~chosen, group, int(group.max(initial=-1)) + 1)[group]


def _since_joined(
    communicator: Int64, rank: Int64, start: Int64, joined: Int64
) -> tuple[Int64, Bool]:
    """When the last collective before that joins ended on this rank; whether there is one.

    ``joined`` is the end of those that join, else ``NONE``.
    """
    order = np.lexsort((start, rank, communicator))
    lane = group_rows([communicator, rank])[0][order]
    # Lanes follow each other, and ends rise in each: the last one is the greatest place so far.
    place = np.where(joined[order] != NONE, np.arange(len(order)), -1)
    last = np.concatenate(([-1], np.maximum.accumulate(place)[:-1])) if len(order) else place
    known = (last >= 0) & (at(lane, last, -1) == lane)
    begin, found = start.copy(), np.zeros(len(start), np.bool_)
    begin[order[known]] = joined[order][last[known]]
    found[order] = known
    return begin, found


def _first_arrival(across: Across) -> Int64:
    return across.matching.last_arrival_ns - across.matching.skew_ns


def _alike(
    timeline: Timeline, across: Across, stages: Mapping[int, int], instance: Int64, rank: Int64
) -> Bool:
    """Which members do the same work as the last one: those of its stage, if there are stages."""
    stage = np.array([stages.get(number, 0) for number in timeline.ranks.tolist()])
    last = across.matching.straggler[instance]
    messages = across.has_role(across.matching.communicator[instance], PIPELINE)
    return np.asarray((stage[rank] == stage[last]) & ~messages)


def _any(chosen: Bool, group: Int64, count: int) -> Bool:
    found = np.zeros(count, np.bool_)
    found[group[chosen]] = True
    return found


def _parts(timeline: Timeline, across: Across) -> Sequence[Intervals]:
    """What a rank does at each instant, in the order of REASONS."""
    waiting = across.waiting
    return (
        timeline.compute,
        timeline.exposed_copy,
        timeline.idle,
        waiting.waits,
        difference(timeline.exposed_comm, waiting.waits),
    )


def _actions(timeline: Timeline, host: HostCalls, members: _Members, reason: Int64) -> Int64:
    """What the hosts did while their devices were idle; -1 where nothing fills that time."""
    place = members.of_last()
    begin, end = members.begin[place], members.arrival[place]
    doing = {action: intersection(timeline.idle, of) for action, of in host.doing.items()}
    found = main_action(doing, begin, end, measure(timeline.idle, begin, end))
    return np.where(reason == HOST, found, -1)


def _followed(
    timeline: Timeline, across: Across, members: _Members, reason: Int64, excess: Int64
) -> Int64:
    """For those whose last member waited itself, the instance in which it did so longest.

    A pipeline makes all its stages wait, peers alike: another wait goes first if it explains half
    of the ``excess``.
    """
    found = np.full(members.count, -1)
    number = np.flatnonzero(reason == WAITED)
    place = members.of_last()[number]
    spans = members.begin[place], members.arrival[place]
    in_pipeline = across.has_role(int64(across.calls, "communicator"), PIPELINE)
    any_row = _longest_wait(timeline, across, np.ones(len(in_pipeline), np.bool_), spans)
    other_row = _longest_wait(timeline, across, ~in_pipeline, spans)
    wait = at(int64(across.calls, "exposed_wait_ns"), other_row, 0)
    row = np.where(2 * wait >= excess[number], other_row, any_row)
    found[number] = at(across.matching.instance, row, -1)
    return found


def _longest_wait(
    timeline: Timeline, across: Across, chosen: Bool, spans: tuple[Int64, Int64]
) -> Int64:
    """The chosen collective that begins in each span and waits longest; -1 where none waits.

    What the rank did at the same time, computing for instance, is no waiting.
    """
    _, start, _ = on_axis(timeline, across.calls)
    wait = int64(across.calls, "exposed_wait_ns")
    waits = np.flatnonzero((wait > _LEAST_NS) & chosen)
    waits = waits[np.argsort(start[waits], kind="stable")]
    low, high = (np.searchsorted(start[waits], time) for time in spans)
    some, longest = high > low, Minima(-wait[waits])
    row = np.full(len(low), -1)
    first = longest.first_at_most(low[some], longest.least(low[some], high[some]))
    row[some] = waits[first]
    return row


def _origins(follows: Int64) -> Int64:
    """The end of each chain; one that runs in a circle ends where it was entered."""
    origin = np.arange(len(follows))
    for _ in range(_LONGEST_CHAIN):
        further = follows[origin]
        origin = np.where(further >= 0, further, origin)
    return origin
