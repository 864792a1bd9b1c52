"""All that a trace and the logs of its job tell together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from commscope.analysis.across import Across
from commscope.analysis.groups import group_rows
from commscope.analysis.result import Analysis
from commscope.columns import Int64, codes, int64
from commscope.joined.classes import Classes, Logged, classes_of, logged_sizes
from commscope.joined.groups import Group, LoggedGroups, match_groups
from commscope.joined.order import Aligned, align
from commscope.joined.places import Places
from commscope.joined.transports import UNKNOWN, Route, Routes
from commscope.normalize.logged_communicators import Grouped, group_communicators
from commscope.normalize.logged_processes import Processes, match_processes
from commscope.normalize.stretches import ANY
from commscope.topology import Topology

if TYPE_CHECKING:
    from commscope.parsers.rccl_log import Logs


@dataclass(frozen=True, slots=True)
class Stretch:
    """One rank's collectives on one communicator, compared with its logged calls in order.

    ``shifts`` is how many stretches of the log fit: with one, each collective has its call.
    ``lacking`` are rows of CALLS between them that the trace lacks, and ``before`` the collectives
    (rows of ``Across.calls``) that each of these follows; empty where several stretches fit.
    """

    rank: int
    communicator: int
    shown: int
    logged: int
    shifts: int
    lacking: Int64
    before: Int64


@dataclass(frozen=True, slots=True)
class Joined:
    """Arrays have an entry a collective of a rank (a row of ``Across.calls``)."""

    logs: Logs
    grouped: Grouped
    places: Places
    processes: Processes
    groups: tuple[Group, ...]  #: one a communicator of the trace
    classes: Classes
    routes: tuple[Route, ...]
    route: Int64  #: place in ``routes``; 0: not told
    call: Int64  #: row of CALLS, -1 where it is not known which
    stretches: tuple[Stretch, ...]

    @property
    def is_joined(self) -> bool:
        """Whether any communicator of the trace is one of the logs."""
        return any(group.number is not None for group in self.groups)


def join(analysis: Analysis, logs: Logs, topology: Topology | None = None) -> Joined:
    """Joins a trace with the logs of its job, as far as they are of the same run."""
    comms, grouped = logs.tables["COMMS"], group_communicators(logs.tables["COMMS"])
    trace, across, of_row = analysis.trace, analysis.across, grouped.of_row
    processes = match_processes(trace, comms, np.flatnonzero(np.array(of_row) == 0).tolist())
    logged = Logged(logs.tables["CALLS"], logs.tables["TUNING"], of_row)
    ranks = analysis.timeline.ranks.tolist()
    told = LoggedGroups(comms, of_row, logged_sizes(logged))
    groups = match_groups(across, ranks, told, processes)
    classes = classes_of(across, groups, logged)
    places = Places.of(comms, of_row, topology)
    table = Routes(logs.tables["CHANNELS"], logs.tables["GRAPHS"], places)
    routes, route = _routes(across, analysis.timeline.ranks, groups, table)
    lanes = list(_lanes(across, analysis.timeline.ranks, groups, classes, logs.tables["CALLS"]))
    call = np.full(across.calls.num_rows, -1)
    for lane in lanes:
        known = lane.aligned.place >= 0
        call[lane.rows[known]] = lane.calls[lane.aligned.place[known]]
    return Joined(
        logs, grouped, places, processes, groups, classes, routes, route, call,
        tuple(lane.stretch(ranks) for lane in lanes),
    )  # fmt: skip


def _routes(
    across: Across, ranks: Int64, groups: Sequence[Group], table: Routes
) -> tuple[tuple[Route, ...], Int64]:
    """The distinct routes, the first of them not told, and which one each collective takes."""
    op, words = codes(across.calls, "op")
    place = np.searchsorted(ranks, int64(across.calls, "rank"))
    keys = place, int64(across.calls, "communicator"), op
    of_row, first = group_rows(keys)
    known: dict[Route, int] = {UNKNOWN: 0}
    numbers = []
    for rank, communicator, code in zip(*(key[first].tolist() for key in keys)):
        row = groups[communicator].rows.get(rank)
        word = words[code] if code >= 0 else None
        route = UNKNOWN if row is None else table.of(row, word)
        numbers.append(known.setdefault(route, len(known)))
    return tuple(known), np.array(numbers, np.int64)[of_row]


@dataclass(frozen=True, slots=True)
class _Lane:
    rank: int  #: its place
    communicator: int
    rows: Int64
    calls: Int64
    aligned: Aligned

    def stretch(self, ranks: Sequence[int]) -> Stretch:
        lacking, place = self.aligned.lacking, self.aligned.place
        known = lacking if self.aligned.shifts == 1 else lacking[:0]
        before = np.searchsorted(place, known) - 1
        return Stretch(
            ranks[self.rank], self.communicator, len(self.rows), len(self.calls),
            self.aligned.shifts, self.calls[lacking], self.rows[before],
        )  # fmt: skip


def _lanes(
    across: Across, ranks: Int64, groups: Sequence[Group], classes: Classes, calls: pa.Table
) -> list[_Lane]:
    """The collectives of each rank on each communicator with those that its process logged."""
    kinds = _kinds(classes, calls)
    comm = int64(calls, "comm")
    by_comm = np.argsort(comm, kind="stable")
    ordered = comm[by_comm]
    found = []
    for communicator, rank, rows in _in_turn(across, ranks):
        row = groups[communicator].rows.get(rank)
        if row is not None:
            begin, end = (np.searchsorted(ordered, row, side) for side in ("left", "right"))
            logged = by_comm[begin:end]
            shown = kinds.of_class[classes.of_row[rows]]
            aligned = align(shown, kinds.of_call[logged])
            found.append(_Lane(rank, communicator, rows, logged, aligned))
    return found


def _in_turn(across: Across, ranks: Int64) -> Iterator[tuple[int, int, Int64]]:
    """(Communicator, place of the rank, its collectives in order of start)."""
    calls = across.calls
    place = np.searchsorted(ranks, int64(calls, "rank"))
    communicator = int64(calls, "communicator")
    order = np.lexsort((int64(calls, "start_ns"), place, communicator))
    keys = np.stack((communicator[order], place[order]))
    bounds = np.flatnonzero((np.diff(keys) != 0).any(axis=0)) + 1
    for rows in np.split(order, bounds):
        if len(rows):
            yield int(communicator[rows[0]]), int(place[rows[0]]), rows


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Numbers for operation and size, equal in trace and log for what is the same."""

    of_class: Int64
    of_call: Int64


def _kinds(classes: Classes, calls: pa.Table) -> _Kinds:
    known: dict[tuple[str, int], int] = {}
    of_class = np.array(
        [
            ANY
            if one.op is None or one.bytes is None
            else known.setdefault((one.op, one.bytes), len(known))
            for one in classes.found
        ],
        np.int64,
    )
    op, words = codes(calls, "op")
    keys = op, int64(calls, "bytes")
    of_row, first = group_rows(keys)
    numbers = [
        known.setdefault((words[code], size), len(known))
        for code, size in zip(*(key[first].tolist() for key in keys))
    ]
    return _Kinds(of_class, np.array(numbers, np.int64)[of_row])
