"""Activities on their way through the in-order queues of a device, and what they come after."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from commscope.generator.meeting import Meeting
from commscope.generator.schedule import DeviceOperation
from commscope.generator.simulation import Activity

UNKNOWN = -1


@dataclass(slots=True, eq=False)
class Task:
    """An activity on its way through a stream."""

    operation: DeviceOperation
    stream: Stream
    correlation: int
    call_ns: int
    call_end_ns: int
    step: int | None
    ready_ns: int
    after: tuple[Task, ...]
    meeting: Meeting | None
    start_ns: int = UNKNOWN
    end_ns: int = UNKNOWN
    blocked: tuple[Stream, ...] = ()  #: streams that wait for its end

    def finished(self) -> Activity:
        """What there is to say of it in the end."""
        index = None if self.meeting is None else self.meeting.index
        return Activity(
            self.operation, self.correlation, self.call_ns, self.call_end_ns, self.step, index,
            self.start_ns, self.end_ns,
        )  # fmt: skip


@dataclass(slots=True, eq=False)
class Stream:
    """An in-order queue; ``pending`` is what the next activity has to come after."""

    rank: int
    queue: deque[Task] = field(default_factory=deque)
    free_ns: int = 0  #: when the next activity may begin at the earliest
    last: Task | None = None
    pending: tuple[Task, ...] = ()

    def mark(self) -> tuple[Task, ...]:
        """All that has to end until what was issued so far has."""
        return self.pending if self.last is None else (self.last, *self.pending)

    def add(self, task: Task) -> None:
        """Lets a task queue up."""
        self.pending, self.last = (), task
        self.queue.append(task)

    def blocked_by(self) -> Meeting | None:
        """The meeting in which the first activity waits for others."""
        return self.queue[0].meeting if self.queue and self.queue[0].start_ns >= 0 else None
