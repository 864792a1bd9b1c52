"""One collective over all of its members: who came when, who waited, and how fast it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.analysis.costs import Costs
from commscope.analysis.result import Analysis
from commscope.columns import NONE, Int64, int64
from commscope.dashboards.data.archive import Archive
from commscope.dashboards.data.checks import require
from commscope.dashboards.data.idle import Waiter
from commscope.dashboards.data.narrow import Narrow, count_below, narrow
from commscope.intervals import clip, union
from commscope.report.model import Report
from commscope.sanitize import plain, shortened

_NAME = 200
#: Tells the lane, and the event on it, of rows of EVENTS.
Places = Callable[[Sequence[int]], Mapping[int, tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Member:
    """One rank's part in a collective; times on the common clock, ``event`` one of ``lane``."""

    rank: int
    lane: int
    event: int
    arrival: int
    end: int
    wait: int
    transfer: int
    exposed_wait: int
    exposed: int


@dataclass(frozen=True, slots=True)
class InstanceDetails:
    """A matched collective.

    ``straggler`` is null where the clocks are not exact enough to tell who came last; ``facts``
    are what the log says of collectives like this one, as (word, value).
    """

    number: int
    communicator: str
    role: str | None
    op: str | None
    dtype: str | None
    bytes: int | None
    group_size: int | None
    seq: int | None
    step: int | None
    members: tuple[Member, ...]
    last_arrival: int
    skew: int
    straggler: int | None
    clock_error: int
    transfer: int | None
    algbw_gbps: float | None
    busbw_gbps: float | None
    expected_busbw_gbps: float | None
    expected_from: str | None
    bandwidth_note: str | None
    facts: tuple[tuple[str, str], ...]
    previous: int | None
    next: int | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class InstanceBook:
    """All collectives of a run; ``event`` is the row in EVENTS of each, ``by_event`` their order.

    ``costs`` has the matching: arrays with an entry a collective, or an instance.
    """

    paths: pa.Table | None  #: see ``report.model.LogSection``; null without logs
    origin: int
    ranks: Sequence[int]
    costs: Costs
    calls: Archive
    labels: Sequence[str]
    roles: Sequence[str | None]
    event: Narrow
    by_event: Narrow

    @classmethod
    def of(cls, analysis: Analysis, report: Report) -> InstanceBook:
        """What is needed of an analysis."""
        across, calls = analysis.across, analysis.across.calls
        event = int64(calls, "event")
        order = np.argsort(event, kind="stable")
        kept = [name for name in calls.column_names if not pa.types.is_list(calls.field(name).type)]
        return cls(
            None if report.log is None else report.log.paths.arrow,
            report.origin_ns, tuple(analysis.timeline.ranks.tolist()), analysis.costs,
            Archive.of(calls.select(kept)), across.labels, across.roles,
            narrow(event[order]), narrow(order),
        )  # fmt: skip

    def number_at(self, event: int) -> int | None:
        """The instance of the collective in a row of EVENTS; null where it is not matched."""
        row = self.call_at(event)
        number = -1 if row is None else int(self.costs.matching.instance[row])
        return None if number < 0 else number

    def call_at(self, event: int) -> int | None:
        """The collective in a row of EVENTS, null where it is none."""
        place = count_below(self.event, event)
        is_it = place < len(self.event) and int(self.event[place]) == event
        return int(self.by_event[place]) if is_it else None

    def count(self) -> int:
        """How many instances there are."""
        return len(self.costs.matching.first_row)

    def rows_of(self, number: int) -> Int64:
        """The collectives (rows) that are one instance; UsageError where there is none."""
        require(0 <= number < self.count(), f"instance {number}: there are {self.count():,}")
        return np.flatnonzero(self.costs.matching.instance == number)

    def waiters(self, rank: int, t0: int, t1: int) -> tuple[Waiter, ...]:
        """The ranks that wait for one (an index) in a stretch of the common clock, most first.

        Where the clocks cannot tell who comes last, nobody waits.
        """
        matching = self.costs.matching
        late = (matching.straggler == rank) & (matching.last_arrival_ns > t0 + self.origin)
        row = np.flatnonzero((matching.instance >= 0) & (matching.arrival_ns < t1 + self.origin))
        row = row[late[matching.instance[row]] & (matching.wait_ns[row] > 0)]
        if not len(row):
            return ()
        of_rank = int64(self.calls.take(row), "rank")
        found = (
            self._waiter(number, row[of_rank == number], (t0, t1))
            for number in np.unique(of_rank).tolist()
        )
        return tuple(sorted(filter(None, found), key=lambda of: (-of.wait_ns, of.rank)))

    def _waiter(self, rank: int, row: Int64, stretch: tuple[int, int]) -> Waiter | None:
        """What of the waits of a rank in these collectives lies in a stretch."""
        matching = self.costs.matching
        errors = matching.clocks.error_ns
        late = matching.straggler[matching.instance[row]]
        error = np.maximum(errors[late], errors[self.ranks.index(rank)])
        row = row[matching.skew_ns[matching.instance[row]] > error]
        start = matching.arrival_ns[row] - self.origin
        end = start + matching.wait_ns[row]
        wait_ns = clip(union(start, end), *stretch).total
        if not wait_ns:
            return None
        first = int(np.argmin(start))
        since, instance = int(start[first]), int(matching.instance[row[first]])
        return Waiter(rank, since, wait_ns, instance, len(row))

    def details(self, number: int, place: Places) -> InstanceDetails:
        """All that is known of one instance; ``place`` tells where rows of EVENTS are shown."""
        matching, rows = self.costs.matching, self.rows_of(number)
        calls: list[dict[str, Any]] = self.calls.take(rows).to_pylist()
        # A member whose file tells the size, else any.
        told = next((call for call in calls if call["bytes"] is not None), calls[0])
        communicator = int(matching.communicator[number])
        cost = self.costs.of_kind(rows)
        skew, error = int(matching.skew_ns[number]), self._clock_error(calls)
        transfer = int(matching.transfer_of_ns[number])
        previous, following = self._around(number, communicator)
        role = self.roles[communicator]
        members = self._members(rows, calls, place([call["event"] for call in calls]))
        return InstanceDetails(
            number, shortened(self.labels[communicator], _NAME), role and plain(role),
            op=_word(told["op"]), dtype=_word(told["dtype"]),
            bytes=told["bytes"], seq=told["seq"], step=told["step"],
            group_size=cost["group_size"],
            members=tuple(sorted(members, key=lambda member: (member.arrival, member.rank))),
            last_arrival=int(matching.last_arrival_ns[number]) - self.origin,
            skew=skew, clock_error=error,
            straggler=self.ranks[int(matching.straggler[number])] if skew > error else None,
            transfer=None if transfer == NONE else transfer,
            **{name: cost[name] for name in _BANDWIDTH},
            facts=tuple(self._facts(told, self.labels[communicator])),
            previous=previous, next=following,
        )  # fmt: skip

    def _members(
        self,
        rows: Int64,
        calls: Sequence[Mapping[str, Any]],
        placed: Mapping[int, tuple[int, int]],
    ) -> Iterator[Member]:
        matching = self.costs.matching
        for row, call in zip(rows.tolist(), calls):
            lane, event = placed[call["event"]]
            yield Member(
                call["rank"], lane, event,
                arrival=int(matching.arrival_ns[row]) - self.origin,
                end=int(matching.finish_ns[row]) - self.origin,
                wait=int(matching.wait_ns[row]), transfer=int(matching.transfer_ns[row]),
                exposed_wait=call["exposed_wait_ns"] or 0, exposed=call["exposed_ns"],
            )  # fmt: skip

    def _clock_error(self, calls: Sequence[Mapping[str, Any]]) -> int:
        ranks = [self.ranks.index(call["rank"]) for call in calls]
        return int(self.costs.matching.clocks.error_ns[ranks].max())

    def _around(self, number: int, communicator: int) -> tuple[int | None, int | None]:
        """The instances of the communicator before and after it."""
        own = np.flatnonzero(self.costs.matching.communicator == communicator)
        place = int(np.searchsorted(own, number))
        return (
            int(own[place - 1]) if place else None,
            int(own[place + 1]) if place + 1 < len(own) else None,
        )

    def _facts(self, told: Mapping[str, Any], label: str) -> Iterator[tuple[str, str]]:
        """What the log says of collectives of this kind."""
        wanted = (label, told["op"], told["bytes"])
        for row in [] if self.paths is None else self.paths.to_pylist():
            if (row["communicator"], row["op"], row["bytes"]) == wanted:
                for name in _LOGGED:
                    if row[name] not in (None, []):
                        yield name, shortened(_shown(row[name]), _NAME)


_BANDWIDTH = (
    "algbw_gbps",
    "busbw_gbps",
    "expected_busbw_gbps",
    "expected_from",
    "bandwidth_note",
)
_LOGGED = (
    *("algorithm", "protocol", "channels", "transport", "link"),
    *("net_devices", "gpu_direct", "note"),
)


def _word(text: str | None) -> str | None:
    return None if text is None else shortened(text, _NAME)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
