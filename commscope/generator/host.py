"""One simulated rank: it issues what its program says, and waits where it has to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from commscope.generator.meeting import Key, Pair, pair_of
from commscope.generator.schedule import (
    Allocate,
    Collective,
    Communication,
    Compute,
    Copy,
    DeviceOperation,
    EndStep,
    EventSync,
    Free,
    Pop,
    Push,
    Query,
    Receive,
    Record,
    ScheduleError,
    Send,
    Sleep,
    Step,
    StreamSync,
    Sync,
    Wait,
)
from commscope.generator.simulation import Call, RankRun, Span
from commscope.generator.streams import UNKNOWN, Stream, Task
from commscope.generator.world import World


@dataclass(slots=True)
class _Block:
    """What the host waits for, and what it does when it knows the end of it."""

    tasks: tuple[Task, ...]
    go_on: Callable[[int], None]


class Host:
    """Where the program of a rank is, what it has issued, and when it is."""

    def __init__(self, world: World, rank: int) -> None:
        self.world, self.rank = world, rank
        self.now_ns = 0
        self.streams: dict[str, Stream] = {}
        self.is_done = False
        self._program = iter(world.schedule.programs[rank])
        self._events: dict[str, tuple[Task, ...]] = {}
        self._tasks: list[Task] = []
        self._calls: list[Call] = []
        self._spans: list[Span] = []
        self._open: list[int] = []  #: places of spans that have not ended
        self._open_step: int | None = None
        self._step: int | None = None
        self._correlation = 0
        self._counts: defaultdict[tuple[str, Pair | None], int] = defaultdict(int)
        self._last_of_queue: dict[int, Task] = {}
        self._block: _Block | None = None

    def run(self) -> None:
        """Issues operations until the program ends, or has to wait for the device."""
        if not self._may_go_on():
            return
        for operation in self._program:
            _DO[type(operation)](self, operation)
            if self._block is not None and not self._may_go_on():
                return
        if self._open_step is not None or self._open:
            raise ScheduleError(f"rank {self.rank}: a step or a label does not end")
        self.is_done = True

    def result(self) -> RankRun:
        """All that was issued."""
        activities = tuple(task.finished() for task in self._tasks)
        return RankRun(activities, tuple(self._calls), tuple(self._spans))

    def begin_step(self, operation: Step) -> None:
        """Begins a step; they do not nest."""
        number = operation.number
        if self._open_step is not None:
            raise ScheduleError(f"rank {self.rank}: step {number} begins inside another")
        self._step = number
        self._open_step = self._begin_span(Span(f"step {number}", self.now_ns, UNKNOWN, number))

    def end_step(self, _: EndStep) -> None:
        """Ends the step."""
        if self._open_step is None:
            raise ScheduleError(f"rank {self.rank}: a step ends that did not begin")
        self._end_span(self._open_step)
        self._step = self._open_step = None

    def push(self, operation: Push) -> None:
        """Begins a label."""
        span = Span(operation.label, self.now_ns, UNKNOWN, None, operation.category)
        self._open.append(self._begin_span(span))

    def pop(self, _: Pop) -> None:
        """Ends the label begun last."""
        if not self._open:
            raise ScheduleError(f"rank {self.rank}: a label ends that did not begin")
        self._end_span(self._open.pop())

    def sleep(self, operation: Sleep) -> None:
        """Does what no trace shows."""
        self.now_ns += operation.duration_ns

    def record(self, operation: Record) -> None:
        """Records an event."""
        self._events[operation.event] = self._stream(operation.stream).mark()
        self._call("record", self.world.costs.event_ns)

    def wait(self, operation: Wait) -> None:
        """Makes a stream wait for an event."""
        recorded = self._recorded(operation.event, f"stream {operation.stream}")
        self._stream(operation.stream).pending += recorded
        self._call("wait", self.world.costs.event_ns)

    def sync(self, _: Sync) -> None:
        """Waits for the device."""
        self._wait_for("sync", self._all_issued())

    def stream_sync(self, operation: StreamSync) -> None:
        """Waits for a stream."""
        self._wait_for("stream_sync", self._stream(operation.stream).mark())

    def event_sync(self, operation: EventSync) -> None:
        """Waits for an event."""
        self._wait_for("event_sync", self._recorded(operation.event, "the host"))

    def query(self, operation: Query) -> None:
        """Asks for an event until it has happened."""

        def go_on(end_ns: int) -> None:
            asked_ns = UNKNOWN
            while asked_ns < end_ns:
                asked_ns = self.now_ns
                self._call("query", self.world.costs.event_ns)
                self.now_ns = max(self.now_ns, asked_ns + operation.every_ns)

        self._block = _Block(self._recorded(operation.event, "the host"), go_on)

    def allocate(self, operation: Allocate) -> None:
        """Gets memory."""
        self._call("malloc", operation.duration_ns, operation.size_bytes)

    def free(self, operation: Free) -> None:
        """Gives memory back when the device has nothing left to do."""

        def go_on(end_ns: int) -> None:
            waits_ns = max(end_ns - self.now_ns, 0)
            self._call("free", waits_ns + operation.duration_ns)

        self._block = _Block(self._all_issued(), go_on)

    def launch(self, operation: DeviceOperation) -> None:
        """Issues an activity."""
        task = self._task(operation, self._stream(operation.stream))
        task.stream.add(task)
        self._tasks.append(task)
        self.now_ns = task.call_end_ns + self.world.costs.gap_ns
        if len(task.stream.queue) == 1:
            self.world.ready.append(task.stream)

    def copy(self, operation: Copy) -> None:
        """Issues a copy, and waits for its end where the memory is pageable."""
        self.launch(operation)
        if operation.memory == "pageable":
            task, costs = self._tasks[-1], self.world.costs

            def go_on(end_ns: int) -> None:
                task.call_end_ns = max(task.call_end_ns, end_ns + costs.wake_ns)
                self.now_ns = task.call_end_ns + costs.gap_ns

            self._block = _Block((task,), go_on)

    def _may_go_on(self) -> bool:
        block = self._block
        if block is None:
            return True
        if any(task.end_ns == UNKNOWN for task in block.tasks):
            return False
        self._block = None
        block.go_on(max((task.end_ns for task in block.tasks), default=0))
        return True

    def _wait_for(self, kind: str, tasks: tuple[Task, ...]) -> None:
        costs = self.world.costs

        def go_on(end_ns: int) -> None:
            self._call(kind, max(costs.event_ns, end_ns + costs.wake_ns - self.now_ns))

        self._block = _Block(tasks, go_on)

    def _all_issued(self) -> tuple[Task, ...]:
        return tuple(stream.last for stream in self.streams.values() if stream.last)

    def _recorded(self, event: str, who: str) -> tuple[Task, ...]:
        if event not in self._events:
            raise ScheduleError(
                f"rank {self.rank}: {who} waits for event {event}, which was not recorded"
            )
        return self._events[event]

    def _stream(self, name: str) -> Stream:
        if name not in self.streams:
            self.streams[name] = Stream(self.rank)
        return self.streams[name]

    def _call(self, kind: str, duration_ns: int, size_bytes: int | None = None) -> None:
        end = self.now_ns + duration_ns
        self._calls.append(Call(kind, self._next_correlation(), self.now_ns, end, size_bytes))
        self.now_ns = end + self.world.costs.gap_ns

    def _next_correlation(self) -> int:
        self._correlation += 1
        return self._correlation

    def _begin_span(self, span: Span) -> int:
        """Its place: spans are in the order of their begins."""
        self._spans.append(span)
        return len(self._spans) - 1

    def _end_span(self, place: int) -> None:
        self._spans[place] = self._spans[place]._replace(end_ns=self.now_ns)

    def _task(self, operation: DeviceOperation, stream: Stream) -> Task:
        costs = self.world.costs
        end = self.now_ns + costs.launch_ns
        meeting = None
        if isinstance(operation, Communication):
            meeting = self.world.meeting(self._key(operation), self.rank, operation)
        task = Task(
            operation, stream, self._next_correlation(), self.now_ns, end,
            self._step, end + costs.latency_ns, stream.pending, meeting,
        )  # fmt: skip
        self._queue_up(task)
        return task

    def _queue_up(self, task: Task) -> None:
        """In a hardware queue that streams share, an activity comes after the one before."""
        queue = self.world.device.queues.get(task.operation.stream)
        if queue is not None:
            earlier = self._last_of_queue.get(queue)
            if earlier is not None and earlier.stream is not task.stream:
                task.after = (*task.after, earlier)
            self._last_of_queue[queue] = task

    def _key(self, operation: Communication) -> Key:
        """Which operation of its communicator this is: they are matched by their order."""
        channel = operation.communicator, pair_of(self.rank, operation)
        number = self._counts[channel]
        self._counts[channel] += 1
        return (*channel, number)


_DO: dict[type, Callable[[Host, Any], None]] = {
    Step: Host.begin_step,
    EndStep: Host.end_step,
    Sleep: Host.sleep,
    Push: Host.push,
    Pop: Host.pop,
    Record: Host.record,
    Wait: Host.wait,
    Sync: Host.sync,
    StreamSync: Host.stream_sync,
    EventSync: Host.event_sync,
    Query: Host.query,
    Allocate: Host.allocate,
    Free: Host.free,
    Copy: Host.copy,
    **dict.fromkeys((Compute, Collective, Send, Receive), Host.launch),
}
