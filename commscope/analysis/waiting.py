"""Exposed communication told apart: waiting for a late member, or transferring (DEFINITIONS 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import group_rows, group_sums
from commscope.analysis.instances import Matching
from commscope.analysis.timeline import Timeline, on_axis
from commscope.columns import Bool, Int64, int64, nullable
from commscope.intervals import Intervals, difference, intersection, measure, union

#: The parts of ``exposed_comm_ns`` that several ranks together tell apart.
EXPOSED_PARTS = ("exposed_wait_ns", "exposed_transfer_ns", "exposed_unmatched_ns")


@dataclass(frozen=True, slots=True)
class Waiting:
    """Exposed communication on the axis of the timeline, and the three disjoint parts of it.

    In ``transfers`` a collective moves data whose members are all there; in ``unmatched`` none
    does, but one without partners runs; in ``waits`` every running collective waits for a member.
    """

    exposed: Intervals
    waits: Intervals
    transfers: Intervals
    unmatched: Intervals
    has_matches: Bool  #: for each rank (index): whether any of its collectives has its partners


def waiting_of(timeline: Timeline, times: pa.Table, matching: Matching) -> Waiting:
    """When each rank moved data, and when it only waited."""
    every = np.ones(times.num_rows, np.bool_)
    return _told_apart(timeline, times, matching, every, timeline.exposed_comm)


def waiting_among(timeline: Timeline, times: pa.Table, matching: Matching, chosen: Bool) -> Waiting:
    """The same as if the chosen collectives were all the communication there is."""
    _, start, end = on_axis(timeline, times)
    exposed = difference(union(start[chosen], end[chosen]), timeline.compute)
    return _told_apart(timeline, times, matching, chosen, exposed)


def _told_apart(
    timeline: Timeline, times: pa.Table, matching: Matching, chosen: Bool, exposed: Intervals
) -> Waiting:
    rank, start, end = on_axis(timeline, times)
    matched = chosen & (matching.instance >= 0)
    alone = chosen & (matching.instance < 0)
    moving = union((start + matching.wait_ns)[matched], end[matched])
    unmoved = difference(exposed, moving)
    without = union(start[alone], end[alone])
    has_matches = np.zeros(len(timeline.ranks), np.bool_)
    has_matches[rank[matched]] = True
    return Waiting(
        exposed,
        waits=difference(unmoved, without),
        transfers=intersection(exposed, moving),
        unmatched=intersection(unmoved, without),
        has_matches=has_matches,
    )


def split_exposed(
    timeline: Timeline, waiting: Waiting, rank: Int64, start_ns: Int64, end_ns: Int64
) -> dict[str, pa.Array]:
    """The parts of ``exposed_comm_ns`` of windows, each on one rank (an index), in its clock.

    ``exposed_wait_ns + exposed_transfer_ns + exposed_unmatched_ns`` is the exposed communication,
    exactly; wait and transfer are null on ranks none of whose collectives has its partners.
    """
    start, end = (t + timeline.shift_ns[rank] for t in (start_ns, end_ns))
    waits, transfers, unmatched = (
        measure(of, start, end) for of in (waiting.waits, waiting.transfers, waiting.unmatched)
    )
    unknown = ~waiting.has_matches[rank]
    return {
        "exposed_wait_ns": pa.array(waits, mask=unknown),
        "exposed_transfer_ns": pa.array(transfers, mask=unknown),
        "exposed_unmatched_ns": pa.array(unmatched),
    }


def with_split(table: pa.Table, timeline: Timeline, waiting: Waiting) -> pa.Table:
    """A table of ranks or steps with PARTITION, and its exposed communication told apart."""
    is_step = "start_ns" in table.column_names
    rank = timeline.index_of(int64(table, "rank"))
    if is_step:
        start, end = int64(table, "start_ns"), int64(table, "end_ns")
        active = table.column("start_ns").is_valid().to_numpy()
    else:
        start, end = timeline.first_ns[rank], timeline.last_ns[rank]
        active = np.ones(len(rank), np.bool_)
    split = split_exposed(timeline, waiting, rank[active], start[active], end[active])
    place = pa.array(np.where(active, np.cumsum(active) - 1, 0), mask=~active)
    for name, values in split.items():
        table = table.append_column(name, values.take(place))
    return table


def call_waits(
    times: pa.Table, timeline: Timeline, matching: Matching, waiting: Waiting
) -> pa.Table:
    """The collectives with their ``communicator`` (an index) and what only partners tell.

    ``instance``, ``wait_ns``, ``transfer_ns`` and ``exposed_wait_ns`` are null where a collective
    has no partners.
    """
    _, start, _ = on_axis(timeline, times)
    exposed = measure(waiting.waits, start, start + matching.wait_ns)
    missing = matching.instance < 0
    return (
        times.append_column("communicator", pa.array(matching.communicators.of_row))
        .append_column("instance", pa.array(matching.instance, mask=missing))
        .append_column("wait_ns", pa.array(matching.wait_ns, mask=missing))
        .append_column("transfer_ns", pa.array(matching.transfer_ns, mask=missing))
        .append_column("exposed_wait_ns", pa.array(exposed, mask=missing))
    )


def waiting_table(calls: pa.Table, timeline: Timeline, matching: Matching) -> pa.Table:
    """Who waited for whom, most waiting first: one row a pair and communicator (an index).

    Columns: ``waiter``, ``straggler``, ``communicator``, ``wait_ns``, ``exposed_wait_ns``. The
    straggler of an instance is its last member to arrive.
    """
    waited = np.flatnonzero(matching.wait_ns > 0)
    instance = matching.instance[waited]
    waiter = int64(calls, "rank")[waited]
    straggler = timeline.ranks[matching.straggler[instance]]
    communicator = matching.communicator[instance]
    group, first = group_rows([waiter, straggler, communicator])
    wait, exposed = (
        group_sums(group, times[waited], len(first))
        for times in (matching.wait_ns, int64(calls, "exposed_wait_ns"))
    )
    return pa.table(
        {
            "waiter": waiter[first],
            "straggler": straggler[first],
            "communicator": communicator[first],
            "wait_ns": wait,
            "exposed_wait_ns": exposed,
        }
    ).sort_by([("wait_ns", "descending"), ("waiter", "ascending"), ("straggler", "ascending")])


def instance_table(times: pa.Table, timeline: Timeline, matching: Matching) -> pa.Table:
    """One row an instance: what it is, when it was complete, and what it cost."""
    rows = pa.array(_described_rows(times, matching))
    facts = times.select(["seq", "op", "dtype", "bytes", "group_size", "step"]).take(rows)
    return (
        facts.append_column("communicator", pa.array(matching.communicator))
        .append_column("last_arrival_ns", pa.array(matching.last_arrival_ns))
        .append_column("skew_ns", pa.array(matching.skew_ns))
        .append_column("transfer_ns", nullable(matching.transfer_of_ns))
        .append_column("straggler", pa.array(timeline.ranks[matching.straggler]))
        .append_column("members", pa.array(matching.members))
    )


def _described_rows(times: pa.Table, matching: Matching) -> Int64:
    """For each instance a member whose file tells the size, else any."""
    described = times.column("bytes").is_valid().to_numpy() & (matching.instance >= 0)
    rows: Int64 = matching.first_row.copy()
    known = np.flatnonzero(described)[::-1]
    rows[matching.instance[known]] = known
    return rows
