"""A run as the app serves it: everything of it, in few bytes an event, without its trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from commscope.analysis.result import Analysis
from commscope.columns import int64
from commscope.dashboards.data.building import build_lanes, has_steps, lanes_of_kind
from commscope.dashboards.data.categories import COMPUTE, EXPOSED_PARTS
from commscope.dashboards.data.checks import require
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.events import EventBook, EventDetails
from commscope.dashboards.data.exporting import Exporter
from commscope.dashboards.data.gaps import GapBook, GapDetails
from commscope.dashboards.data.idle import (
    IdleDetails,
    host_part,
    idle_stretch,
    on_own_clock,
    recorded_in,
    steps_in,
)
from commscope.dashboards.data.instances import InstanceBook, InstanceDetails
from commscope.dashboards.data.lanes import Lane
from commscope.dashboards.data.layout import Layout, layout_of
from commscope.dashboards.data.level_of_detail import LaneView, Window, lane_view, minimap
from commscope.dashboards.data.moments import Aim, Near, between, nearest, next_event, next_interval
from commscope.dashboards.data.names import NameBook
from commscope.dashboards.data.narrow import narrow
from commscope.dashboards.data.searching import (
    Collectives,
    Found,
    Match,
    Matches,
    Searcher,
    matches_of,
    next_match,
)
from commscope.dashboards.data.selection import Selection, rank_part, top_kernels
from commscope.dashboards.data.sets import RankSets, rank_sets
from commscope.dashboards.data.span import span_of
from commscope.report.model import Report

MINIMAP = 0
MOST_COLUMNS = 16_384
MOST_LANES = 2_048
MOST_TEXT = 200
#: Browsers hold whole numbers up to here; it is a hundred days.
MOST_NS = 2**53

Moves = Literal["exposed", "step", "slice"]
_ACTIVITIES = ("compute", "communication", "copy")
#: Lanes whose events are the recording: of steps and gaps the ends are inferred.
_RECORDED = (*_ACTIVITIES, "thread")


@dataclass(frozen=True, slots=True)
class RunView:
    """All that the app serves of one run; times are ns since the origin, on the common clock.

    Ranks are given by their numbers. What does not exist raises UsageError, in every method.
    """

    ranks: tuple[int, ...]
    layout: Layout
    lanes: tuple[Lane, ...]
    clocks: tuple[RankClock, ...]
    sets: tuple[RankSets, ...]
    book: NameBook
    gaps: GapBook
    instances: InstanceBook
    events: EventBook
    exporter: Exporter
    searcher: Searcher
    has_steps: bool

    @classmethod
    def of(cls, analysis: Analysis, report: Report, name: str) -> RunView:
        """Takes what is needed out of an analysis, which can be freed then."""
        origin, timeline = report.origin_ns, analysis.timeline
        ranks = tuple(timeline.ranks.tolist())
        lanes, book = build_lanes(analysis, origin)
        corrections = analysis.across.matching.clocks.corrections
        clocks = tuple(RankClock.of(correction, origin) for correction in corrections)
        span = span_of(timeline, lanes, clocks, origin)
        events = EventBook(
            lanes, clocks, ranks, book, *EventBook.packed(analysis), origin,
            steps=narrow(int64(analysis.trace.all_steps, "step")), ends=_ends(analysis),
        )  # fmt: skip
        return cls(
            ranks,
            layout_of(analysis, report, name, lanes, span),
            lanes,
            clocks,
            _sets(analysis, origin, lanes),
            book,
            GapBook.of(report, ranks),
            InstanceBook.of(analysis, report),
            events,
            Exporter.of(analysis.trace, events),
            Searcher(book, Collectives.of(analysis.across.calls, analysis.across.labels)),
            has_steps(analysis),
        )

    def numbered(self, run: int) -> RunView:
        """The same as a certain one of the runs that are shown."""
        return replace(self, layout=replace(self.layout, run=run))

    def query(
        self, t0: int, t1: int, px: int, lanes: Sequence[int], text: str = ""
    ) -> list[LaneView]:
        """What lanes show in a window, at so many columns; see ``level_of_detail``.

        With a text, also what of it has that in its name.
        """
        _require_window(t0, t1)
        require(1 <= px <= MOST_COLUMNS, f"px {px}: from 1 to {MOST_COLUMNS:,} columns")
        require(len(lanes) <= MOST_LANES, f"{len(lanes)} lanes: at most {MOST_LANES:,}")
        windows = _Windows(t0, t1, px, self.clocks, {})
        found = self._found(text) if text else None
        return [self._lane_view(number, windows, found) for number in lanes]

    def names(self, numbers: Iterable[int]) -> dict[int, str]:
        """Names by number, harmless and of 500 characters at most."""
        found = {}
        for number in numbers:
            require(0 <= number < len(self.book.texts), f"name {number}: there is none")
            found[number] = self.book.shown(number)
        return found

    def lane(self, number: int) -> Lane:
        """A lane by its number, but the minimap, which has no events."""
        require(1 <= number <= len(self.lanes), f"lane {number}: there is none")
        return self.lanes[number - 1]

    def event(self, lane: int, event: int) -> EventDetails:
        """Everything that is known of an event of a lane."""
        found = self.events.details(self.lane(lane), event, self.gaps, self.instances)
        if self.has_steps:
            return found
        return replace(found, step=None, gap=found.gap and _without_steps(found.gap))

    def instance(self, number: int) -> InstanceDetails:
        """One collective on all of its members."""
        found = self.instances.details(number, self.events.placed)
        return found if self.has_steps else replace(found, step=None)

    def gap_at(self, rank: int, t: int) -> GapDetails | None:
        """Why communication was exposed on a rank then; null where none was, or it is withheld."""
        index = self._index(rank)
        _require_time(t)
        found = self.gaps.at(index, self.clocks[index], t)
        return found and (found if self.has_steps else _without_steps(found))

    def idle_at(self, rank: int, t: int) -> IdleDetails | None:
        """The stretch in which a rank's device runs nothing then; null where something runs."""
        index = self._index(rank)
        _require_time(t)
        clock, lanes = self.clocks[index], [of for of in self.lanes if of.rank == index]
        sets = [s for of in lanes if of.kind in _ACTIVITIES for s in of.covered.values()]
        whole = on_own_clock(clock, (self.layout.t0, self.layout.t1))
        recorded = recorded_in((of for of in lanes if of.kind in _RECORDED), whole)
        own = idle_stretch(sets, clock.own_time(t), recorded)
        if own is None or not own[0] <= clock.own_time(t) < own[1]:
            return None
        t0, t1 = (clock.common_time(time) for time in own)
        return IdleDetails(
            rank, t0, t1,
            steps_in(lanes_of_kind(lanes, "steps")[index], self.events.steps, own),
            host_part([of for of in lanes if of.kind == "thread"], self.book, own),
            self.instances.waiters(index, t0, t1),
        )  # fmt: skip

    def near(self, lane: int, aim: Aim) -> Near | None:
        """The event of a lane that a click is meant for; null where none is near."""
        chosen = self.lane(lane)
        _require_time(aim.t)
        require(0 <= aim.slack <= MOST_NS, f"slack {aim.slack}: from 0 to 2^53 ns")
        return nearest(chosen, self.clocks[chosen.rank], aim)

    def between(self, lane: int, t0: int, t1: int) -> Near | None:
        """The event of a lane that begins and ends then; null where there is none."""
        chosen = self.lane(lane)
        _require_time(t0)
        _require_time(t1)
        return between(chosen, self.clocks[chosen.rank], t0, t1)

    def select(self, t0: int, t1: int, ranks: Sequence[int]) -> Selection:
        """What ranks did in a window; all of them, where none is given."""
        _require_window(t0, t1)
        indices = self._indices(ranks)
        known = {rank.rank: rank.exposed_share is not None for rank in self.layout.ranks}
        parts = tuple(
            rank_part(
                self.ranks[index], self.sets[index], self.clocks[index], (t0, t1),
                known[self.ranks[index]],
            )
            for index in indices
        )  # fmt: skip
        lanes = (of for of in self.lanes if of.rank in indices and of.kind in _ACTIVITIES)
        return Selection(t0, t1, parts, top_kernels(lanes, self.clocks, (t0, t1), self.book))

    def next(
        self, rank: int, t: int, what: Moves, direction: int, lane: int | None = None
    ) -> tuple[int, int] | None:
        """Begin and end of what comes after a time (direction 1), or came before it (-1).

        That is exposed communication or a step of the rank, or an event (``slice``) of a lane.
        """
        index = self._index(rank)
        _require_time(t)
        require(direction in (-1, 1), f"direction {direction}: 1 or -1")
        require(what in ("exposed", "step", "slice"), f"what {what!r}: exposed, step or slice")
        if what == "exposed":
            return next_interval(self.sets[index].exposed, self.clocks[index], t, direction)
        if what == "step":
            chosen = lanes_of_kind(self.lanes, "steps")[index]
        else:
            require(lane is not None, "lane: a slice is one of a lane")
            chosen = self.lane(lane or 0)
        return next_event(chosen, self.clocks[chosen.rank], t, direction)

    def matches(self, text: str) -> Matches:
        """The events that have a text in their names, in upper or lower case."""
        return matches_of(text, self._found(text), self._whole_lanes(), self.clocks)

    def next_match(
        self, text: str, t: int, direction: int, lanes: Sequence[int] = ()
    ) -> Match | None:
        """The next such event to begin after a time (direction 1), or the last before it (-1).

        Where lanes are given it is in one of them.
        """
        _require_time(t)
        require(direction in (-1, 1), f"direction {direction}: 1 or -1")
        meant = {self.lane(number).id for number in lanes}
        whole = [lane for lane in self._whole_lanes() if not meant or lane.id in meant]
        return next_match(self._found(text), whole, self.clocks, t, direction)

    def export(self, t0: int, t1: int, ranks: Sequence[int], kind: str) -> tuple[str, bytes]:
        """Name and content of a file with what ranks did in a window: csv, parquet, perfetto."""
        _require_window(t0, t1)
        return self.exporter.file((t0, t1), self._indices(ranks), kind)

    def on_common_clock(self, rank: int, t: int) -> int:
        """A time of a rank's own clock, as reports have it for gaps and findings, on the common."""
        return self.clocks[self._index(rank)].common_time(t)

    def _lane_view(self, number: int, windows: _Windows, found: Found | None) -> LaneView:
        if number == MINIMAP:
            shown = [
                (windows.of(rank), ((sets.compute,), *((part,) for part in sets.exposed)))
                for rank, sets in enumerate(self.sets)
            ]
            return minimap(shown, (COMPUTE, *EXPOSED_PARTS))
        lane = self.lane(number)
        return lane_view(lane, windows.of(lane.rank), found)

    def _found(self, text: str) -> Found:
        require(0 < len(text) <= MOST_TEXT, f"text to search for: 1 to {MOST_TEXT} characters")
        return self.searcher.found(text)

    def _whole_lanes(self) -> list[Lane]:
        """The lanes that are no part of another one's events."""
        return [lane for lane in self.lanes if lane.kind != "stream"]

    def _index(self, rank: int) -> int:
        require(rank in self.ranks, f"rank {rank}: the run has no such rank")
        return self.ranks.index(rank)

    def _indices(self, ranks: Sequence[int]) -> list[int]:
        return sorted({self._index(rank) for rank in ranks}) or list(range(len(self.ranks)))


@dataclass(frozen=True, slots=True)
class _Windows:
    """One window as each rank sees it, made when first asked for."""

    t0: int
    t1: int
    px: int
    clocks: Sequence[RankClock]
    made: dict[int, Window]

    def of(self, rank: int) -> Window:
        """The window of a rank (an index)."""
        if rank not in self.made:
            self.made[rank] = Window.of(self.t0, self.t1, self.px, self.clocks[rank])
        return self.made[rank]


def _without_steps(gap: GapDetails) -> GapDetails:
    """The same of a trace without steps, in which the one window has a number all the same."""
    return replace(gap, parts=tuple(replace(part, step=None) for part in gap.parts))


def _sets(analysis: Analysis, origin: int, lanes: Sequence[Lane]) -> tuple[RankSets, ...]:
    kinds = ("compute", "communication", "exposed")
    of_kind = [lanes_of_kind(lanes, kind) for kind in kinds]
    return tuple(
        rank_sets(analysis.timeline, origin, *(of_rank[rank] for of_rank in of_kind))
        for rank in range(len(analysis.timeline.ranks))
    )


def _ends(analysis: Analysis) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Of each rank the row of EVENTS behind its last."""
    rank = int64(analysis.trace.events, "rank")
    return np.searchsorted(rank, analysis.timeline.ranks, side="right")


def _require_time(t: int) -> None:
    require(abs(t) <= MOST_NS, f"time {t}: further than 2^53 ns away")


def _require_window(t0: int, t1: int) -> None:
    require(t0 < t1, f"window {t0} to {t1}: it has to end after it begins")
    _require_time(t0)
    _require_time(t1)
