"""Collectives matched across ranks: who arrived when, who waited, what the transfer took.

See DEFINITIONS 4. Matching is checked: under the aligned clocks no member of a synchronising
operation can end before the last one arrived. What fails is left out and counted, never forced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from commscope.analysis.channels import Channel, Rows, channels_of, rows_of
from commscope.analysis.clocks import Clocks
from commscope.analysis.communicators import Communicators, find_communicators
from commscope.analysis.correspondence import Correspondence, correspond
from commscope.analysis.groups import group_rows
from commscope.columns import NONE, Bool, Int64

#: Members may seem to end before the last arrival by this much: times are rounded.
_CHECK_TOLERANCE_NS = 1_000
_NEVER = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class Matching:
    """The instances of a trace and their members.

    Arrays with an entry a collective (a row of ``overlap.collective_times``): ``instance`` (-1:
    not matched), ``wait_ns`` and ``transfer_ns`` (0 where not matched), ``arrival_ns`` and
    ``finish_ns`` on the common clock. Arrays with an entry an instance: ``first_row``,
    ``communicator``, ``last_arrival_ns``, ``skew_ns``, ``transfer_of_ns`` (``NONE`` without),
    ``straggler`` (index of the rank), ``members``.
    """

    communicators: Communicators
    clocks: Clocks
    instance: Int64
    wait_ns: Int64
    transfer_ns: Int64
    arrival_ns: Int64
    finish_ns: Int64
    first_row: Int64
    communicator: Int64
    last_arrival_ns: Int64
    skew_ns: Int64
    transfer_of_ns: Int64
    straggler: Int64
    members: Int64
    left_out: dict[str, int]  #: reason -> number of collectives

    def only(self, rows: Bool) -> Matching:
        """The instances of some of the collectives, numbered anew; the rest is not matched."""
        kept = np.unique(self.instance[rows & (self.instance >= 0)])
        number = np.full(len(self.first_row) + 1, -1)
        number[kept] = np.arange(len(kept))
        instance = number[self.instance]
        return replace(
            self, instance=instance,
            wait_ns=np.where(instance >= 0, self.wait_ns, 0),
            transfer_ns=np.where(instance >= 0, self.transfer_ns, 0),
            **{name: getattr(self, name)[kept] for name in _OF_INSTANCE},
        )  # fmt: skip


#: Arrays of ``Matching`` with an entry an instance.
_OF_INSTANCE = (
    "first_row",
    "communicator",
    "last_arrival_ns",
    "skew_ns",
    "transfer_of_ns",
    "straggler",
    "members",
)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Collectives that belong together unless a check fails, all on the common clock.

    ``group`` is -1 for what has no partner; ``size`` is how many members each group should have.
    """

    rows: Rows
    group: Int64
    size: Int64
    clocks: Clocks

    def is_one(self, of_rank: Int64) -> Bool:
        """Groups whose members' ranks are all alike in something."""
        of_row = of_rank[self.rows.rank]
        every = np.ones(len(of_row), np.bool_)
        low, high = (self.extreme(of, of_row, every) for of in (np.minimum, np.maximum))
        return np.asarray(low == high)

    def extreme(self, of: np.ufunc, values: Int64, chosen: Bool) -> Int64:
        """The least or greatest value of the chosen members of each group."""
        start = -_NEVER if of is np.maximum else _NEVER
        chosen = chosen & (self.group >= 0)
        return _extreme(of, start, self.group[chosen], values[chosen], len(self.size))


def match_collectives(
    times: pa.Table, ranks: Int64, streams: Int64, hosts: Sequence[str | None]
) -> Matching:
    """Matches the collectives of all ranks.

    ``times``: see ``overlap.collective_times``; ``ranks``: the numbers of all ranks, in order;
    ``streams``: of the collectives; ``hosts``: the name of each rank's host, where it is known.
    """
    communicators = find_communicators(times, streams)
    rows = rows_of(times, ranks, communicators)
    channels = channels_of(rows, communicators)
    found = correspond(rows, channels, hosts, _is_guess(communicators))
    candidates = _candidates(rows, channels, found)
    usable, left_out = _usable(candidates)
    left_out["no clear order"] = found.unclear
    left_out["peer not known"] = int(rows.peerless.sum())
    instance = _numbered(candidates, usable)
    # What is left has no partner in the files at all.
    others = int((instance < 0).sum()) - sum(left_out.values())
    left_out["partner outside the files"] += others
    return _judged(candidates.rows, (communicators, found.clocks), instance, left_out)


def _is_guess(communicators: Communicators) -> Bool:
    """Which collectives have nothing but their stream to tell their communicator.

    All ranks of a job are connected: the only stream that they have must be that of them all.
    """
    several = len(communicators.found) > 1
    by_stream = [c.by_stream and several for c in communicators.found]
    return np.array(by_stream, np.bool_)[communicators.of_row]


def _candidates(rows: Rows, channels: Sequence[Channel], found: Correspondence) -> _Candidates:
    clocks = found.clocks
    placed = np.flatnonzero(found.partner != NONE)
    group = np.full(len(rows.rank), -1, np.int64)
    group[placed], first = group_rows([found.partner[placed]])
    wanted = np.zeros(len(rows.rank), np.int64)
    for channel in channels:
        wanted[channel.lanes[channel.reference]] = channel.size
    start, end = (clocks.aligned(rows.rank, times) for times in (rows.start, rows.end))
    return _Candidates(
        replace(rows, start=start, end=end),
        group,
        wanted[found.partner[placed[first]]],
        clocks,
    )


def _usable(candidates: _Candidates) -> tuple[Bool, dict[str, int]]:
    """Which groups are complete, of one kind and possible in time; else the members left out."""
    chosen = candidates.group >= 0
    members = np.bincount(candidates.group[chosen], minlength=len(candidates.size))
    complete = members == candidates.size
    one_kind = _of_one_kind(candidates)
    possible = _possible(candidates)
    return complete & one_kind & possible, {
        "partner outside the files": int(members[~complete].sum()),
        "operations differ": int(members[complete & ~one_kind].sum()),
        "members do not overlap in time": int(members[complete & one_kind & ~possible].sum()),
    }


def _of_one_kind(candidates: _Candidates) -> Bool:
    kind = candidates.rows.kind
    low, high = (candidates.extreme(of, kind, kind >= 0) for of in (np.minimum, np.maximum))
    return np.asarray((low == high) | (low == _NEVER))


def _possible(candidates: _Candidates) -> Bool:
    """Groups in which nobody that waits for the others ends before the last of them arrives.

    In synchronising operations everybody waits for all; who receives waits for who sends. On one
    host that holds as it is; between hosts up to the error of the clocks, if they are connected.
    """
    rows, clocks = candidates.rows, candidates.clocks
    last = candidates.extreme(np.maximum, rows.start, rows.synchronises | rows.sends)
    first_end = candidates.extreme(np.minimum, rows.end, rows.synchronises | rows.receives)
    every = np.ones(len(rows.rank), np.bool_)
    error = candidates.extreme(np.maximum, clocks.error_ns[rows.rank], every)
    tolerance = np.where(candidates.is_one(clocks.host), 0, error) + _CHECK_TOLERANCE_NS
    nothing = (first_end == _NEVER) | (last == -_NEVER)
    early = np.where(nothing, 0, last) - np.where(nothing, 0, first_end)
    return np.asarray((early <= tolerance) & candidates.is_one(clocks.part))


def _extreme(of: np.ufunc, start: int, group: Int64, values: Int64, count: int) -> Int64:
    result = np.full(count, start, np.int64)
    of.at(result, group, values)
    return result


def _numbered(candidates: _Candidates, usable: Bool) -> Int64:
    """The instance of each collective, in order of first arrival; -1 for none."""
    chosen = candidates.group >= 0
    row = np.flatnonzero(chosen)[usable[candidates.group[chosen]]]
    every = np.ones(len(chosen), np.bool_)
    arrival = candidates.extreme(np.minimum, candidates.rows.start, every)
    order = np.argsort(np.where(usable, arrival, _NEVER), kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    instance = np.full(len(chosen), -1, np.int64)
    instance[row] = number[candidates.group[row]]
    return instance


def _judged(
    rows: Rows,
    among: tuple[Communicators, Clocks],
    instance: Int64,
    left_out: dict[str, int],
) -> Matching:
    """Wait, transfer and straggler of the instances."""
    communicators, clocks = among
    row = np.flatnonzero(instance >= 0)
    group = instance[row]
    count = int(group.max(initial=-1)) + 1
    first = _extreme(np.minimum, _NEVER, group, row, count)
    arrival, finish = rows.start[row], rows.end[row]
    last = _extreme(np.maximum, -_NEVER, group, arrival, count)
    earliest = _extreme(np.minimum, _NEVER, group, arrival, count)
    stayed = rows.synchronises[row] | (finish > last[group])
    wait = np.where(stayed, np.minimum(last[group], finish) - arrival, 0)
    transfer = finish - arrival - wait
    shortest = _extreme(np.minimum, _NEVER, group[stayed], transfer[stayed], count)
    latest = arrival == last[group]
    straggler = _extreme(np.minimum, _NEVER, group[latest], rows.rank[row][latest], count)
    return Matching(
        communicators, clocks, instance,
        wait_ns=_scattered(row, wait, len(instance)),
        transfer_ns=_scattered(row, transfer, len(instance)),
        arrival_ns=rows.start, finish_ns=rows.end, first_row=first,
        communicator=communicators.of_row[first], last_arrival_ns=last, skew_ns=last - earliest,
        transfer_of_ns=np.where(shortest == _NEVER, NONE, shortest), straggler=straggler,
        members=np.bincount(group, minlength=count), left_out=left_out,
    )  # fmt: skip


def _scattered(row: Int64, values: Int64, count: int) -> Int64:
    result = np.zeros(count, np.int64)
    result[row] = values
    return result
