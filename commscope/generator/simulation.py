"""What a simulation gives: the activities and calls of every rank, and the collectives' instances.

Times are int ns of one true clock, from 0 where all hosts begin. Of activities and calls there are
hundreds of thousands: named tuples are made several times faster than frozen dataclasses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from commscope.generator.schedule import DeviceOperation, Schedule


class Activity(NamedTuple):
    """What ran on a stream in ``[start_ns, end_ns)``, and the call that launched it.

    ``step`` is the one in which it was launched; ``instance`` the index of its collective's
    instance. Both are null where there is none.
    """

    operation: DeviceOperation
    correlation: int
    call_ns: int
    call_end_ns: int
    step: int | None
    instance: int | None
    start_ns: int
    end_ns: int


class Call(NamedTuple):
    """A call of the host that launches nothing.

    ``kind`` is record, wait, sync, stream_sync, event_sync, query, malloc or free.
    """

    kind: str
    correlation: int
    start_ns: int
    end_ns: int
    size_bytes: int | None = None


class Span(NamedTuple):
    """A labelled range of the host, or with ``step`` a step."""

    label: str
    start_ns: int
    end_ns: int
    step: int | None = None
    category: str = "user_annotation"


@dataclass(frozen=True, slots=True)
class RankRun:
    """What one rank did; activities in the order of their launches."""

    activities: tuple[Activity, ...]
    calls: tuple[Call, ...]
    spans: tuple[Span, ...]

    @property
    def steps(self) -> tuple[Span, ...]:
        """The steps, in order."""
        return tuple(span for span in self.spans if span.step is not None)


@dataclass(frozen=True, slots=True)
class Instance:
    """One operation on all its members; ``seq`` counts from 0 on the communicator.

    Messages have two members, the op ``send_recv`` and a count of their own for each direction
    between two members.
    """

    communicator: str
    op: str
    seq: int
    size_bytes: int
    members: tuple[int, ...]
    synchronises: bool


@dataclass(frozen=True, slots=True)
class Simulation:
    """A schedule and what came of it; ``ranks[r]`` is what rank r did."""

    schedule: Schedule
    ranks: tuple[RankRun, ...]
    instances: tuple[Instance, ...]
