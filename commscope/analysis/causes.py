"""Why compute did not cover the communication: one cause for every overlap gap (DEFINITIONS 6).

Two readings of the definition, both because the words alone would hide what bound the time:
an activity is also *launched in time* if it was launched during the exposure but began only as the
communication ended, long after its launch; and a *step tail* is told before a dependency, which
every optimizer has on the last bucket.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from commscope.analysis.gaps import UNMATCHED, WAIT, Exposures, Gaps
from commscope.analysis.groups import group_rows
from commscope.analysis.host import HostCalls, blocking_call_at
from commscope.analysis.timeline import Timeline, on_axis
from commscope.classify import ActivityClass
from commscope.columns import NONE, Bool, Int64, at, codes, int64, where_equal, where_word
from commscope.intervals import measure, union
from commscope.trace import Trace

CAUSES = (
    "straggler_wait",
    "kernel_gap",
    "host_late",
    "host_sync",
    "stream_order",
    "dependency",
    "step_tail",
    "unknown",
)
STRAGGLER, KERNEL_GAP, HOST_LATE, HOST_SYNC, ORDER, DEPENDENCY, TAIL, UNKNOWN = range(len(CAUSES))
#: "Starts when the communication ends" and a pause between kernels mean within this.
NEAR_NS = 25_000
#: Gradients on their way out of a bucket are work of the step, as compute is.
_BUCKET_COPY = re.compile(r"DtoD|Device -> Device|copyBuffer", re.IGNORECASE)
_OPTIMIZER = re.compile(r"Optimizer\.(?:step|zero_grad)|^optimizer", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Causes:
    """The cause of each gap, and what tells it; arrays with an entry a gap.

    ``call_name`` is the call that blocked the host (a place in ``HostCalls.names``) and
    ``call_action`` what that is (one in ``host.ACTIONS``), -1 for none; ``same_stream`` says that
    what came next was on the stream of the communication itself.
    """

    cause: Int64
    call_name: Int64
    call_action: Int64
    same_stream: Bool
    missing: Int64  #: of unknown causes, a place in ``MISSING``
    next_launch: Int64  #: when the next activity was launched, on the axis; ``NONE``: not known

    def until_launch(self, gaps: Gaps) -> tuple[Int64, Int64]:
        """From the begin of each gap's exposure to the next launch, if that is known and later."""
        return gaps.exposed_since, np.maximum(self.next_launch, gaps.exposed_since)


MISSING = (
    "",
    "its partners are not in the files",
    "the launch of the next activity is not in the file",
    "the next activity was launched in time and began on its own",
)
_PARTNERS, _LAUNCH, _ALONE = 1, 2, 3


def causes_of(trace: Trace, timeline: Timeline, host: HostCalls, gaps: Gaps, known: Bool) -> Causes:
    """Decides the cause of each gap.

    ``known`` says for each rank (an index) whether any of its collectives has its partners: on the
    others nothing is known of waiting, and every cause may be waiting for another rank.
    """
    facts = _Facts.of(trace, timeline, host, gaps.exposures)
    decided = facts.decide()
    cause = decided.cause[gaps.exposure]
    missing = decided.missing[gaps.exposure]
    alone = (gaps.part == UNMATCHED) & known[gaps.rank]
    cause = np.where(alone, UNKNOWN, cause)
    cause = np.where(gaps.part == WAIT, STRAGGLER, cause)
    return Causes(
        cause,
        np.where(cause == HOST_SYNC, decided.call_name[gaps.exposure], -1),
        np.where(cause == HOST_SYNC, decided.call_action[gaps.exposure], -1),
        decided.same_stream[gaps.exposure],
        np.where(alone, _PARTNERS, np.where(cause == UNKNOWN, missing, 0)),
        decided.next_launch[gaps.exposure],
    )


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of each exposure; arrays of the same length, times on the axis."""

    length: Int64
    has_next: Bool
    launch: Int64  #: of the next activity
    in_time: Bool
    starts_when: Bool  #: the next activity begins as a collective ends
    is_pause: Bool  #: between two kernels of one stream, under a collective that runs on
    same_stream: Bool
    same_queue: Bool  #: the next activity was behind the communication in a hardware queue
    is_tail: Bool
    blocking: Int64  #: name of the call that blocked the host as the communication ended
    action: Int64  #: what that call is

    @classmethod
    def of(cls, trace: Trace, timeline: Timeline, host: HostCalls, exposures: Exposures) -> _Facts:
        """Looks everything up."""
        near = _Near(trace, timeline, exposures)
        after = exposures.after
        launch = at(host.launch, after, NONE)
        starts_when = near.ended >= 0
        delay = near.next_start - launch
        in_time = (launch <= exposures.start) | (starts_when & (delay > NEAR_NS))
        lane = at(host.lane, after, -1)
        blocking, action = blocking_call_at(host, lane, exposures.end - NEAR_NS)
        return cls(
            length=exposures.end - exposures.start,
            has_next=after >= 0,
            launch=launch,
            in_time=(launch != NONE) & in_time,
            starts_when=starts_when,
            is_pause=near.is_pause(timeline),
            same_stream=near.same("stream", np.where(starts_when, near.ended, near.running)),
            same_queue=near.shares_queue(host),
            is_tail=near.is_tail(trace, timeline, host),
            blocking=blocking,
            action=action,
        )

    def decide(self) -> Causes:
        """The cause of each exposure, without waiting; the first condition that holds."""
        no_launch = self.has_next & (self.launch == NONE)
        late = self.has_next & ~no_launch & ~self.in_time
        joined = self.in_time & self.starts_when
        conditions = (
            (self.is_pause, KERNEL_GAP),
            (late & (self.blocking >= 0), HOST_SYNC),
            (late, HOST_LATE),
            (joined & self.same_queue, ORDER),
            (self.in_time & self.same_stream, DEPENDENCY),
            (self.is_tail | ~self.has_next, TAIL),
            (joined, DEPENDENCY),
        )
        chosen = [condition for condition, _ in conditions]
        cause = np.select(chosen, [number for _, number in conditions], UNKNOWN)
        missing = np.where(cause == UNKNOWN, np.where(no_launch, _LAUNCH, _ALONE), 0)
        same = self.same_stream & (cause == DEPENDENCY)
        return Causes(cause, self.blocking, self.action, same, missing, self.launch)


class _Near:
    """The activities around each exposure, and the collective whose end comes with the next."""

    def __init__(self, trace: Trace, timeline: Timeline, exposures: Exposures) -> None:
        found = timeline.activities
        self._exposures, self._found = exposures, found
        self._start, self._end = timeline.activities_on_axis()
        self.next_start = at(self._start, exposures.after, NONE)
        self._columns = {
            name: int64(trace.events, name)[found.row] for name in ("stream", "queue", "step")
        }
        comm = np.flatnonzero(found.of(ActivityClass.COMMUNICATION))
        self.running, self.ended = self._running(comm), self._ended(comm)

    def _running(self, comm: Int64) -> Int64:
        """Of the communication that runs as each exposure begins, what ends last."""
        order = comm[np.argsort(self._start[comm], kind="stable")]
        place = np.searchsorted(self._start[order], self._exposures.start, side="right") - 1
        reach = np.maximum.accumulate(self._end[order]) if len(order) else order
        return np.asarray(order[np.searchsorted(reach, reach[place])])

    def _ended(self, comm: Int64) -> Int64:
        """The communication that ends as the next activity begins; -1 where none does."""
        order = comm[np.argsort(self._end[comm], kind="stable")]
        ends = self._end[order]
        # The end and the begin are stamped by different queues: a microsecond either way.
        place = np.searchsorted(ends, self.next_start + 1_000, side="right") - 1
        last = at(order, place, -1)
        end = at(self._end, last, 0)
        near = (last >= 0) & (self._exposures.after >= 0)
        near &= (self.next_start - end <= NEAR_NS) & (end > self._exposures.start)
        return np.where(near, last, -1)

    def is_pause(self, timeline: Timeline) -> Bool:
        """Short, between compute of one stream, while communication runs on."""
        before, after = self._exposures.before, self._exposures.after
        start, end = self._exposures.start, self._exposures.end
        stream = self._columns["stream"]
        bounded = (at(self._end, before, NONE) == start) & (self.next_start == end)
        runs_on = measure(timeline.communication, end, end + 1) > 0
        is_compute = at(self._found.of(ActivityClass.COMPUTE), after, missing=False)
        alike = is_compute & (at(stream, before, NONE) == at(stream, after, NONE))
        return np.asarray(bounded & runs_on & alike & (end - start < NEAR_NS))

    def same(self, column: str, others: Int64) -> Bool:
        """Whether the next activity has the stream or queue of these others."""
        values = self._columns[column]
        here, there = (at(values, place, NONE) for place in (self._exposures.after, others))
        return np.asarray((here == there) & (here != NONE))

    def shares_queue(self, host: HostCalls) -> Bool:
        """Whether the next activity was behind the communication without having to wait for it.

        They have one hardware queue; or the trace shows what streams are made to wait for, and
        nothing was between the launches of the two.
        """
        after, ended = self._exposures.after, self.ended
        before, later = (at(host.launch, place, NONE) for place in (ended, after))
        told = (before != NONE) & (later != NONE) & (len(host.waits) > 0)
        free = told & (before < later) & (host.waits_between(before, later) == 0)
        apart = (ended >= 0) & ~self.same("stream", ended)
        return np.asarray(apart & (self.same("queue", ended) | free))

    def is_tail(self, trace: Trace, timeline: Timeline, host: HostCalls) -> Bool:
        """Whether nothing of the step but the optimizer begins after the exposure."""
        step, rank = self._columns["step"], self._found.rank
        work = self._found.of(ActivityClass.COMPUTE) & ~_of_optimizer(trace, timeline, host)
        work |= where_word(trace.events, "name", _BUCKET_COPY.search)[self._found.row]
        known = np.asarray(at(step, self.running, NONE) != NONE)
        if not known.any():
            return known
        group, first = group_rows([rank, step])
        last = np.full(len(first), NONE)
        np.maximum.at(last, group[work], self._start[work])
        latest = at(last, at(group, self.running, -1), NONE)
        return np.asarray(known & (latest != NONE) & (latest < self._exposures.end))


def _of_optimizer(trace: Trace, timeline: Timeline, host: HostCalls) -> Bool:
    """Which activities are the optimizer's: by family, or launched inside its annotation."""
    code, _ = codes(trace.events, "name")
    is_family = np.array([family == "optimizer" for family in trace.classes.family], np.bool_)
    by_name = at(is_family, code[timeline.activities.row], missing=False)
    wanted = where_word(trace.host, "name", _OPTIMIZER.search)
    wanted &= where_equal(trace.host, "kind", "annotation")
    _, start, end = on_axis(timeline, trace.host)
    spans = union(start[wanted], end[wanted])
    launched = host.launch != NONE
    inside = measure(spans, host.launch, host.launch + 1) > 0
    return np.asarray(by_name | (launched & inside))
