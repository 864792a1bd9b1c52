"""What some ranks did in a window: the exact partition, and the kernels that took the time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import Int64
from commscope.dashboards.data.categories import CATEGORIES
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.lanes import Lane
from commscope.dashboards.data.names import NameBook
from commscope.dashboards.data.sets import RankSets

MOST_KERNELS = 20


@dataclass(frozen=True, slots=True)
class RankPart:
    """One rank in a window, in ns; compute, both exposed parts and idle add up to the window.

    ``overlap_known`` is false where a rule of trust withholds what is hidden and exposed of the
    rank's time: the sums are then those of an incomplete trace.
    """

    rank: int
    window_ns: int
    compute_ns: int
    communication_ns: int
    hidden_comm_ns: int
    exposed_comm_ns: int
    exposed_wait_ns: int
    exposed_transfer_ns: int
    exposed_unmatched_ns: int
    exposed_copy_ns: int
    idle_ns: int
    overlap_known: bool


@dataclass(frozen=True, slots=True)
class KernelPart:
    """Activities of one name, as far as they are inside the window, on all ranks chosen."""

    name: str
    kind: str  #: compute, communication or copy
    family: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What was selected, on the common clock, and what the ranks did in it."""

    t0: int
    t1: int
    ranks: tuple[RankPart, ...]
    kernels: tuple[KernelPart, ...]  #: most time first

    @property
    def table(self) -> pa.Table:
        """One row a rank."""
        columns = [field.name for field in fields(RankPart)]
        return pa.table({name: [getattr(rank, name) for rank in self.ranks] for name in columns})

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def rank_part(
    rank: int, sets: RankSets, clock: RankClock, window: tuple[int, int], known: bool
) -> RankPart:
    """The partition of a window on a rank, measured on its own clock (DEFINITIONS 2)."""
    start, end = (clock.own_time(time) for time in window)
    compute, communication, copy = (
        of.within(start, end) for of in (sets.compute, sets.communication, sets.exposed_copy)
    )
    wait, transfer, unmatched = (of.within(start, end) for of in sets.exposed)
    exposed = wait + transfer + unmatched
    length = end - start
    return RankPart(
        rank, length, compute, communication, communication - exposed, exposed, wait, transfer,
        unmatched, copy, length - compute - exposed - copy, known,
    )  # fmt: skip


def top_kernels(
    lanes: Iterable[Lane],
    clocks: Sequence[RankClock],
    window: tuple[int, int],
    names: NameBook,
) -> tuple[KernelPart, ...]:
    """The names on lanes of activities that took most of the time inside the window."""
    of_kind: dict[str, _Sums] = {}
    for lane in lanes:
        clock = clocks[lane.rank]
        start, end = (clock.own_time(time) for time in window)
        sums = of_kind.setdefault(lane.kind, _Sums.nothing(len(names.texts)))
        sums.add(lane, start, end)
    found = [part for kind, sums in of_kind.items() for part in sums.top(kind, names)]
    found.sort(key=lambda part: (-part.total_ns, part.name))
    return tuple(found[:MOST_KERNELS])


@dataclass(frozen=True, slots=True)
class _Sums:
    """Time and number of activities by name."""

    total: Int64
    count: Int64
    category: Int64

    @classmethod
    def nothing(cls, names: int) -> _Sums:
        return cls(*(np.zeros(names, np.int64) for _ in range(3)))

    def add(self, lane: Lane, start: int, end: int) -> None:
        """Adds what of a lane is inside a window."""
        longest = int(lane.longest.max(initial=0))
        # A slice, as lanes of whole classes hold all of their events: nothing is copied.
        event = slice(lane.begun_before(start - longest), lane.begun_before(end))
        begin, name = lane.events.start[event], lane.events.name[event]
        inside = np.minimum(begin + lane.events.duration[event], end) - np.maximum(begin, start)
        runs = inside > 0
        if not runs.all():
            inside, name = inside[runs], name[runs]
        # Sums of doubles are exact up to 2^53 ns, which is longer than any window.
        self.total[:] += np.bincount(name, inside, len(self.total)).astype(np.int64)
        self.count[:] += np.bincount(name, minlength=len(self.count))
        self.category[name] = lane.events.category[event][runs]

    def top(self, kind: str, names: NameBook) -> list[KernelPart]:
        """The names with most time."""
        order = np.argsort(-self.total, kind="stable")[:MOST_KERNELS]
        return [
            KernelPart(
                names.shown(number), kind, CATEGORIES[int(self.category[number])].name,
                int(self.count[number]), int(self.total[number]),
            )
            for number in order.tolist() if self.count[number]
        ]  # fmt: skip
