"""What a window of the timeline shows at so many columns: bars where they can be seen, else shares.

An event that is at least a column wide is a rectangle. Of the rest each column tells, by category,
which share of it they cover: of what no rectangle of that category covers. So the shares of a
column never count an instant twice, whatever overlaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from commscope.columns import Int64
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.covered import Covered
from commscope.dashboards.data.lanes import Lane
from commscope.dashboards.data.searching import Found, within
from commscope.intervals import Intervals, clip, covered_until, union

FULL = 255
_MOST_BITS = 54

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class LaneView:
    """One lane in a window; ``start`` is relative to the begin of the window.

    Times are whole ns on the common clock: exact, as numbers of browsers are up to 2^53.

    ``density`` has a row a category of ``categories``, of one byte a column: 255 is all of it.
    ``hit`` marks rectangles whose name was searched for, ``hits`` counts in each column the other
    events found that begin in it (255 and more alike); both null where nothing was searched for.
    """

    lane: int
    rows: int
    start: npt.NDArray[np.float64]
    duration: npt.NDArray[np.float64]
    name: npt.NDArray[np.uint32]
    event: npt.NDArray[np.uint32]
    category: Bytes
    row: Bytes
    categories: tuple[int, ...]
    density: Bytes
    hit: Bytes | None = None
    hits: Bytes | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A window on the common clock, cut into columns, and where their edges are on a rank's."""

    t0: int
    t1: int
    px: int
    clock: RankClock
    edges: Int64
    _measured: dict[int, Int64] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, t0: int, t1: int, px: int, clock: RankClock) -> Window:
        """The window as a rank sees it."""
        return cls(t0, t1, px, clock, clock.to_own(edges_of(t0, t1, px)))

    @property
    def least(self) -> int:
        """How long an event must be to be a column wide."""
        return -(-(self.t1 - self.t0) // self.px)

    @property
    def own(self) -> tuple[int, int]:
        """The window on the clock of the rank."""
        return int(self.edges[0]), int(self.edges[-1])

    def covered(self, of: Covered) -> Int64:
        """How much of a set each column holds; lanes share sets, which are measured once."""
        if id(of) not in self._measured:
            self._measured[id(of)] = of.between(self.edges)
        return self._measured[id(of)]


def edges_of(t0: int, t1: int, px: int) -> Int64:
    """Where columns begin, and the last ends: whole ns, exact for any window."""
    whole, rest = divmod(t1 - t0, px)
    column = np.arange(px + 1, dtype=np.int64)
    return t0 + whole * column + rest * column // px


def lane_view(lane: Lane, window: Window, found: Found | None = None) -> LaneView:
    """What a lane shows in a window."""
    place = lane.wide(*window.own, window.least)
    event = lane.places(place)
    start, end = lane.events.start[event], lane.events.ends(event)
    category = lane.events.category[event]
    name = lane.events.name[event]
    shares = _shares(lane, window, (start, end, category))
    begin = window.clock.to_common(start)
    return LaneView(
        lane.id, lane.depth,
        start=(begin - window.t0).astype(np.float64),
        duration=(window.clock.to_common(end) - begin).astype(np.float64),
        name=name.astype(np.uint32), event=event.astype(np.uint32),
        category=category, row=lane.row[place],
        categories=tuple(shares), density=_stacked(shares, window.px),
        hit=None if found is None else found.hits(lane, event).astype(np.uint8),
        hits=None if found is None else _hits(lane, window, found),
    )  # fmt: skip


def _shares(lane: Lane, window: Window, wide: tuple[Int64, Int64, Bytes]) -> dict[int, Bytes]:
    """By category, the share of each column that is covered, but by rectangles."""
    start, end, category = wide
    shares = {}
    for number, of in lane.covered.items():
        mine = category == number
        bars = _set_of(start[mine], end[mine], is_disjoint=lane.depth == 1)
        if of.within(*window.own) == clip(bars, *window.own).total:
            continue
        left = window.covered(of)
        if len(bars):
            left = left - np.diff(covered_until(bars, window.edges))
        shares[number] = share_of_columns(left, np.diff(window.edges))
    return shares


def _set_of(start: Int64, end: Int64, *, is_disjoint: bool) -> Intervals:
    """The set that rectangles make, which are in order and may be known to be disjoint."""
    return Intervals(start, end) if is_disjoint else union(start, end)


def share_of_columns(covered: Int64, width: Int64) -> Bytes:
    """Shares as bytes, rounded up: what is there is never shown as nothing."""
    # Of all ranks together it may take more bits than leave room for the factor.
    spare = max(int(width.max(initial=0)).bit_length() - _MOST_BITS, 0)
    covered, width = covered >> spare, np.maximum(width >> spare, 1)
    return np.asarray(np.minimum(-(-covered * FULL // width), FULL), np.uint8)


def _stacked(shares: Mapping[int, Bytes], px: int) -> Bytes:
    return np.stack(list(shares.values())) if shares else np.empty((0, px), np.uint8)


def _hits(lane: Lane, window: Window, found: Found) -> Bytes:
    """How many narrow events that were found begin in each column."""
    first, last = (lane.begun_before(time) for time in window.own)
    event = lane.places(within(found.places(lane), first, last))
    event = event[lane.events.duration[event] < window.least]
    column = np.searchsorted(window.edges, lane.events.start[event], side="right") - 1
    counts = np.bincount(np.minimum(column, window.px - 1), minlength=window.px)
    return np.minimum(counts, FULL).astype(np.uint8)


def minimap(
    ranks: Sequence[tuple[Window, tuple[tuple[Covered, ...], ...]]], categories: tuple[int, ...]
) -> LaneView:
    """The lane of all ranks: by category the mean share of the sets that each rank has of it."""
    px = ranks[0][0].px
    shares = {}
    for number, category in enumerate(categories):
        covered, width = np.zeros(px, np.int64), np.zeros(px, np.int64)
        for window, sets in ranks:
            covered += sum((window.covered(of) for of in sets[number]), np.zeros_like(width))
            width += np.diff(window.edges)
        if covered.any():
            shares[category] = share_of_columns(covered, width)
    return LaneView(0, 1, **_nothing(), categories=tuple(shares), density=_stacked(shares, px))


def _nothing() -> dict[str, Any]:
    return {
        "start": np.empty(0, np.float64),
        "duration": np.empty(0, np.float64),
        "name": np.empty(0, np.uint32),
        "event": np.empty(0, np.uint32),
        "category": np.empty(0, np.uint8),
        "row": np.empty(0, np.uint8),
    }
