"""One event of a lane with everything that is known of it, and where its arrow leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.analysis.result import Analysis
from commscope.classify import ActivityClass
from commscope.columns import Int64, int64
from commscope.dashboards.data.archive import Archive
from commscope.dashboards.data.categories import CATEGORIES
from commscope.dashboards.data.checks import require
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.gaps import GapBook, GapDetails
from commscope.dashboards.data.instances import InstanceBook
from commscope.dashboards.data.lanes import Lane
from commscope.dashboards.data.moments import first_from
from commscope.dashboards.data.names import NameBook
from commscope.dashboards.data.narrow import Narrow

#: A device lags behind its host by no more activities than this.
_MOST_BEHIND = 1 << 17
_FACTS = ("stream", "queue", "step", "correlation", "bytes", "workgroups")
#: The lanes of activities, by the numbers of their classes.
_CLASSES = tuple(kind.name.lower() for kind in ActivityClass)


@dataclass(frozen=True, slots=True)
class Launch:
    """The call of a host that launched an activity; times on the common clock."""

    lane: int
    event: int
    start: int
    dur: int
    thread: str
    name: str


@dataclass(frozen=True, slots=True)
class Flow:
    """Where the arrow of an event leads: from a launch to what it launched, or back."""

    lane: int
    event: int
    start: int


@dataclass(frozen=True, slots=True)
class EventDetails:
    """An event; null is what the trace does not tell, or what such events do not have.

    ``kind`` is that of the lane: steps, compute, communication, copy, exposed or thread; ``family``
    the category. Times are on the common clock.
    """

    lane: int
    event: int
    rank: int
    kind: str
    name: str
    family: str
    start: int
    dur: int
    stream: int | None = None
    queue: int | None = None
    step: int | None = None
    correlation: int | None = None
    bytes: int | None = None
    workgroups: int | None = None
    thread: str | None = None
    launch: Launch | None = None
    instance: int | None = None
    gap: GapDetails | None = None
    flow: Flow | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; a correlation is text, as it may have 64 bits."""
        correlation = None if self.correlation is None else str(self.correlation)
        return {**asdict(self), "correlation": correlation}


@dataclass(frozen=True, slots=True)
class EventBook:
    """The packed tables of a trace, and the lanes that their rows are on."""

    lanes: Sequence[Lane]
    clocks: Sequence[RankClock]
    ranks: Sequence[int]
    names: NameBook
    events: Archive
    host: Archive
    origin: int
    steps: Narrow  #: the number of the step of each row that the lanes of steps name
    ends: Int64  #: of each rank, the row of EVENTS behind its last

    @staticmethod
    def packed(analysis: Analysis) -> tuple[Archive, Archive]:
        """The tables of activities (with their class) and calls."""
        trace = analysis.trace
        kind = pa.array(trace.classes.of_event)
        return Archive.of(trace.events.append_column("class", kind)), Archive.of(trace.host)

    def details(
        self, lane: Lane, event: int, gaps: GapBook, instances: InstanceBook
    ) -> EventDetails:
        """An event of a lane; UsageError where there is none."""
        count = len(lane.events)
        require(0 <= event < count, f"event {event}: lane {lane.id} has {count:,}")
        row = int(lane.events.source[event])
        if lane.kind in (*_CLASSES, "stream"):
            return self._activity(lane, event, row, instances)
        if lane.kind == "thread":
            return self._call(lane, event, row)
        clock = self.clocks[lane.rank]
        start = clock.common_time(int(lane.events.start[event]))
        if lane.kind == "exposed":
            return self._plain(lane, event, gap=gaps.at(lane.rank, clock, start))
        return self._plain(lane, event, step=int(self.steps[row]))

    def placed(self, rows: Sequence[int]) -> dict[int, tuple[int, int]]:
        """(Lane, event) of communication, by rows of EVENTS."""
        lanes = [lane for lane in self.lanes if lane.kind == "communication"]
        return {row: self._place_of(row, lanes) for row in rows}

    def _place_of(self, row: int, lanes: Sequence[Lane]) -> tuple[int, int]:
        rank = int(np.searchsorted(self.ends, row, side="right"))
        lane = lanes[rank]
        return lane.id, int(np.flatnonzero(lane.events.source == row)[0])

    def _plain(self, lane: Lane, event: int, **more: Any) -> EventDetails:
        clock = self.clocks[lane.rank]
        start = int(lane.events.start[event])
        end = start + int(lane.events.duration[event])
        begin = clock.common_time(start)
        return EventDetails(
            lane.id, event, self.ranks[lane.rank], self._kind(lane),
            self.names.shown(int(lane.events.name[event])),
            CATEGORIES[int(lane.events.category[event])].name,
            begin, clock.common_time(end) - begin, **more,
        )  # fmt: skip

    def _kind(self, lane: Lane) -> str:
        """The kind of a lane, of a stream that of the lane of which it is a part."""
        return (
            self.lanes[lane.parent - 1].kind if lane.kind == "stream" and lane.parent else lane.kind
        )

    def _activity(self, lane: Lane, event: int, row: int, instances: InstanceBook) -> EventDetails:
        told = self.events.row(row)
        launch = self._launch_of(lane, told)
        return self._plain(
            lane, event, **{name: told[name] for name in _FACTS},
            launch=launch, instance=instances.number_at(row),
            flow=None if launch is None else Flow(launch.lane, launch.event, launch.start),
        )  # fmt: skip

    def _call(self, lane: Lane, event: int, row: int) -> EventDetails:
        told = self.host.row(row)
        return self._plain(
            lane, event, step=told["step"], correlation=told["correlation"], thread=lane.label,
            flow=self._launched_by(lane, told),
        )  # fmt: skip

    def _launch_of(self, lane: Lane, told: dict[str, Any]) -> Launch | None:
        """The call with the same correlation that began when the activity was launched."""
        if told["launch_ns"] is None or told["correlation"] is None:
            return None
        own = told["launch_ns"] - self.origin
        for thread in self._of_rank(lane.rank, "thread"):
            for event in first_from(thread, own).tolist():
                call = self.host.row(int(thread.events.source[event]))
                if call["correlation"] == told["correlation"]:
                    found = self._plain(thread, event)
                    return Launch(
                        thread.id, event, found.start, found.dur, thread.label, found.name
                    )
        return None

    def _launched_by(self, lane: Lane, told: dict[str, Any]) -> Flow | None:
        """The first activity that a call launched."""
        if told["kind"] != "launch" or told["correlation"] is None:
            return None
        lanes = {of.kind: of for of in self._of_rank(lane.rank, *_CLASSES)}
        own = told["start_ns"] - self.origin
        first = min(self._first_row(of, own) for of in lanes.values())
        table = self.events.slice(first, min(int(self.ends[lane.rank]), first + _MOST_BEHIND))
        found = np.flatnonzero(int64(table, "correlation") == told["correlation"])
        if not len(found):
            return None
        place = int(found[0])
        of_class = lanes[_CLASSES[int(table.column("class")[place].as_py())]]
        event = np.flatnonzero(of_class.events.source == first + place)
        return self._flow(of_class, event)

    def _first_row(self, lane: Lane, own: int) -> int:
        """The row of EVENTS of the first activity to begin from then on."""
        place = lane.begun_before(own)
        return int(lane.events.source[place]) if place < len(lane) else int(self.ends[lane.rank])

    def _flow(self, lane: Lane, event: Int64) -> Flow | None:
        """The arrow to an event; null where it does not count and is on no lane."""
        if not len(event):
            return None
        start = self.clocks[lane.rank].common_time(int(lane.events.start[event[0]]))
        return Flow(lane.id, int(event[0]), start)

    def _of_rank(self, rank: int, *kinds: str) -> Iterator[Lane]:
        return (lane for lane in self.lanes if lane.rank == rank and lane.kind in kinds)
