"""Carries out a schedule in exact integer time.

Hosts issue operations one after the other, streams are queues, events order streams, and the
members of a collective meet. All times follow from earlier ones, so that no clock has to tick:
each host runs as far as it can, and each stream whenever what its first activity needs is known.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from commscope.generator.costs import HostCosts, Network
from commscope.generator.meeting import Key, Meeting, Pair, meet, pair_of, shape_of
from commscope.generator.schedule import (
    Collective,
    Communication,
    Compute,
    Copy,
    DeviceOperation,
    EndStep,
    Pop,
    Push,
    Receive,
    Record,
    Schedule,
    ScheduleError,
    Send,
    Sleep,
    Step,
    Sync,
    Wait,
)
from commscope.generator.simulation import Activity, Call, RankRun, Simulation, Span

_UNKNOWN = -1
_SHOWN = 3


def simulate(
    schedule: Schedule, costs: HostCosts | None = None, network: Network | None = None
) -> Simulation:
    """What happens, in true time; equal input gives equal output.

    Raises ScheduleError where the job would hang, naming who waits for whom.
    """
    job = _Job(schedule, costs or HostCosts(), network or Network())
    job.run()
    return Simulation(
        schedule,
        tuple(host.result() for host in job.hosts),
        tuple(meeting.instance for meeting in job.meetings.values()),
    )


@dataclass(slots=True, eq=False)
class _Task:
    """An activity on its way through a stream."""

    operation: DeviceOperation
    stream: _Stream
    correlation: int
    call_ns: int
    call_end_ns: int
    step: int | None
    ready_ns: int
    after: tuple[_Task, ...]
    meeting: Meeting | None
    start_ns: int = _UNKNOWN
    end_ns: int = _UNKNOWN
    blocked: tuple[_Stream, ...] = ()  #: streams that wait for its end

    def finished(self) -> Activity:
        index = None if self.meeting is None else self.meeting.index
        return Activity(
            self.operation, self.correlation, self.call_ns, self.call_end_ns, self.step, index,
            self.start_ns, self.end_ns,
        )  # fmt: skip


@dataclass(slots=True, eq=False)
class _Stream:
    """An in-order queue; ``pending`` is what the next activity has to come after."""

    host: _Host
    queue: deque[_Task] = field(default_factory=deque)
    free_ns: int = 0  #: when the next activity may begin at the earliest
    last: _Task | None = None
    pending: tuple[_Task, ...] = ()

    def mark(self) -> tuple[_Task, ...]:
        """All that has to end until what was issued so far has."""
        return self.pending if self.last is None else (self.last, *self.pending)

    def blocked_by(self) -> Meeting | None:
        """The meeting in which the first activity waits for others."""
        return self.queue[0].meeting if self.queue and self.queue[0].start_ns >= 0 else None


class _Host:
    """One rank: where its program is, what it has issued, and when it is."""

    def __init__(self, job: _Job, rank: int) -> None:
        self.job, self.rank = job, rank
        self.now_ns = 0
        self.streams: dict[str, _Stream] = {}
        self.is_done = False
        self._program = iter(job.schedule.programs[rank])
        self._events: dict[str, tuple[_Task, ...]] = {}
        self._tasks: list[_Task] = []
        self._calls: list[Call] = []
        self._spans: list[Span] = []
        self._open: list[int] = []  #: places of spans that have not ended
        self._open_step: int | None = None
        self._step: int | None = None
        self._correlation = 0
        self._counts: defaultdict[tuple[str, Pair | None], int] = defaultdict(int)
        self._sync_ns: int | None = None

    def run(self) -> None:
        """Issues operations until the program ends, or has to wait for the device."""
        if self._sync_ns is not None and not self._end_sync():
            return
        for operation in self._program:
            if isinstance(operation, Sync):
                self._sync_ns = self.now_ns
                if not self._end_sync():
                    return
            else:
                _DO[type(operation)](self, operation)
        if self._open_step is not None or self._open:
            raise ScheduleError(f"rank {self.rank}: a step or a label does not end")
        self.is_done = True

    def result(self) -> RankRun:
        activities = tuple(task.finished() for task in self._tasks)
        return RankRun(activities, tuple(self._calls), tuple(self._spans))

    def stream(self, name: str) -> _Stream:
        if name not in self.streams:
            self.streams[name] = _Stream(self)
        return self.streams[name]

    def _end_sync(self) -> bool:
        """Lets the host go on where all streams are empty."""
        if self._sync_ns is None or any(stream.queue for stream in self.streams.values()):
            return False
        begin, self._sync_ns = self._sync_ns, None
        ends = [stream.last.end_ns for stream in self.streams.values() if stream.last]
        self._call("sync", max([begin + self.job.costs.event_ns, *ends]) - begin)
        return True

    def _call(self, kind: str, duration_ns: int) -> None:
        self._correlation += 1
        end = self.now_ns + duration_ns
        self._calls.append(Call(kind, self._correlation, self.now_ns, end))
        self.now_ns = end + self.job.costs.gap_ns

    def begin_step(self, operation: Step) -> None:
        number = operation.number
        if self._open_step is not None:
            raise ScheduleError(f"rank {self.rank}: step {number} begins inside another")
        self._step = number
        self._open_step = self._begin_span(f"step {number}", number)

    def end_step(self, _: EndStep) -> None:
        if self._open_step is None:
            raise ScheduleError(f"rank {self.rank}: a step ends that did not begin")
        self._end_span(self._open_step)
        self._step = self._open_step = None

    def _begin_span(self, label: str, step: int | None) -> int:
        """Its place: spans are in the order of their begins."""
        self._spans.append(Span(label, self.now_ns, _UNKNOWN, step))
        return len(self._spans) - 1

    def _end_span(self, place: int) -> None:
        self._spans[place] = self._spans[place]._replace(end_ns=self.now_ns)

    def sleep(self, operation: Sleep) -> None:
        self.now_ns += operation.duration_ns

    def push(self, operation: Push) -> None:
        self._open.append(self._begin_span(operation.label, None))

    def pop(self, _: Pop) -> None:
        if not self._open:
            raise ScheduleError(f"rank {self.rank}: a label ends that did not begin")
        self._end_span(self._open.pop())

    def record(self, operation: Record) -> None:
        self._events[operation.event] = self.stream(operation.stream).mark()
        self._call("record", self.job.costs.event_ns)

    def wait(self, operation: Wait) -> None:
        if operation.event not in self._events:
            raise ScheduleError(
                f"rank {self.rank}: stream {operation.stream} waits for event {operation.event}, "
                "which was not recorded"
            )
        self.stream(operation.stream).pending += self._events[operation.event]
        self._call("wait", self.job.costs.event_ns)

    def launch(self, operation: DeviceOperation) -> None:
        costs, stream = self.job.costs, self.stream(operation.stream)
        self._correlation += 1
        end = self.now_ns + costs.launch_ns
        meeting = None
        if isinstance(operation, Communication):
            meeting = self.job.meeting(self._key(operation), self.rank, operation)
        task = _Task(
            operation, stream, self._correlation, self.now_ns, end,
            self._step, end + costs.latency_ns, stream.pending, meeting,
        )  # fmt: skip
        stream.pending, stream.last = (), task
        stream.queue.append(task)
        self._tasks.append(task)
        self.now_ns = end + costs.gap_ns
        if len(stream.queue) == 1:
            self.job.ready.append(stream)

    def _key(self, operation: Communication) -> Key:
        """Which operation of its communicator this is: they are matched by their order."""
        channel = operation.communicator, pair_of(self.rank, operation)
        number = self._counts[channel]
        self._counts[channel] += 1
        return (*channel, number)


_DO: dict[type, Callable[[_Host, Any], None]] = {
    Step: _Host.begin_step,
    EndStep: _Host.end_step,
    Sleep: _Host.sleep,
    Push: _Host.push,
    Pop: _Host.pop,
    Record: _Host.record,
    Wait: _Host.wait,
    **dict.fromkeys((Compute, Copy, Collective, Send, Receive), _Host.launch),
}


class _Job:
    """All ranks, and the streams that may have something to do."""

    def __init__(self, schedule: Schedule, costs: HostCosts, network: Network) -> None:
        self.schedule, self.costs, self.network = schedule, costs, network
        self.meetings: dict[Key, Meeting] = {}
        self.ready: deque[_Stream] = deque()
        self.hosts = [_Host(self, rank) for rank in range(len(schedule.programs))]
        self._waiting: dict[tuple[int, int], _Task] = {}  #: by meeting and rank

    def run(self) -> None:
        """Runs all hosts and streams to their ends."""
        for host in self.hosts:
            host.run()
        while self.ready:
            stream = self.ready.popleft()
            self._advance(stream)
            if not stream.queue and not stream.host.is_done:
                stream.host.run()
        self._check_finished()

    def meeting(self, key: Key, rank: int, operation: Communication) -> Meeting:
        shape = shape_of(operation)
        found = self.meetings.get(key)
        if found is None:
            communicator = self.schedule.communicators[operation.communicator]
            found = meet(key, len(self.meetings), shape, communicator, self.network)
            self.meetings[key] = found
        found.check(rank, shape)
        return found

    def _advance(self, stream: _Stream) -> None:
        """Lets activities of a stream begin and end as far as their times are known."""
        while stream.queue:
            task = stream.queue[0]
            if task.start_ns == _UNKNOWN and not self._begin(task):
                return
            if task.end_ns == _UNKNOWN:
                return
            stream.queue.popleft()
            stream.free_ns = task.end_ns + self.costs.device_gap_ns
            self.ready.extend(task.blocked)

    def _begin(self, task: _Task) -> bool:
        stream = task.stream
        for other in task.after:
            if other.end_ns == _UNKNOWN:
                other.blocked += (stream,)
                return False
        ends = (other.end_ns for other in task.after)
        task.start_ns = max(stream.free_ns, task.ready_ns, *ends)
        if task.meeting is None:
            task.end_ns = task.start_ns + self._duration_ns(task.operation)
        else:
            self._arrive(task, task.meeting)
        return True

    def _arrive(self, task: _Task, meeting: Meeting) -> None:
        rank = task.stream.host.rank
        self._waiting[meeting.index, rank] = task
        for member, end_ns in meeting.arrive(rank, task.start_ns):
            other = self._waiting.pop((meeting.index, member))
            other.end_ns = end_ns
            if other is not task:
                self.ready.append(other.stream)

    def _duration_ns(self, operation: DeviceOperation) -> int:
        if isinstance(operation, Compute):
            return operation.duration_ns
        return self.network.copies.time_ns(operation.size_bytes)

    def _check_finished(self) -> None:
        """Raises ScheduleError where a stream or a host did not come to its end."""
        streams = [s for host in self.hosts for s in host.streams.values() if s.queue]
        if not streams and all(host.is_done for host in self.hosts):
            return
        stuck = {m.index: m for s in streams if (m := s.blocked_by()) is not None}
        says = [_who_waits(stuck[index]) for index in sorted(stuck)]
        more = f"; and {len(says) - _SHOWN} more" if len(says) > _SHOWN else ""
        raise ScheduleError(f"the job hangs: {'; '.join(says[:_SHOWN])}{more}")


def _who_waits(meeting: Meeting) -> str:
    here, instance = sorted(meeting.arrivals), meeting.instance
    return (
        f"ranks {here} wait in {instance.op} {instance.seq} of communicator "
        f"{instance.communicator} for ranks {meeting.missing()}"
    )
