"""Carries out a schedule in exact integer time.

Hosts issue operations one after the other, streams are queues, events order streams, and the
members of a collective meet. All times follow from earlier ones, so that no clock has to tick:
each host runs as far as it can, and each stream whenever what its first activity needs is known.
"""

from __future__ import annotations

from commscope.generator.contention import Durations, stretched
from commscope.generator.costs import Device, HostCosts, Network
from commscope.generator.host import Host
from commscope.generator.meeting import Meeting
from commscope.generator.schedule import Compute, Copy, Schedule, ScheduleError
from commscope.generator.simulation import Simulation
from commscope.generator.streams import UNKNOWN, Stream, Task
from commscope.generator.world import World

_SHOWN = 3


def simulate(
    schedule: Schedule,
    costs: HostCosts | None = None,
    network: Network | None = None,
    device: Device | None = None,
) -> Simulation:
    """What happens, in true time; equal input gives equal output.

    Raises ScheduleError where the job would hang, naming who waits for whom.
    """
    device = device or Device()
    durations: Durations = {}
    # How much a kernel is slowed down depends on what came before alone: each pass settles at
    # least the next kernel in time, and in the end nothing changes.
    while True:
        world = World(schedule, costs or HostCosts(), network or Network(), device)
        simulation = _Job(world, durations).run()
        found = stretched(simulation.ranks, device.contention)
        if found == durations:
            return simulation
        durations = found


class _Job:
    """All ranks, while they run."""

    def __init__(self, world: World, durations: Durations) -> None:
        self.world, self.durations = world, durations
        self.hosts = [Host(world, rank) for rank in range(len(world.schedule.programs))]
        self._waiting: dict[tuple[int, int], Task] = {}  #: by meeting and rank

    def run(self) -> Simulation:
        """Runs all hosts and streams to their ends."""
        for host in self.hosts:
            host.run()
        while self.world.ready:
            stream = self.world.ready.popleft()
            self._advance(stream)
            host = self.hosts[stream.rank]
            if not host.is_done:
                host.run()
        self._check_finished()
        return Simulation(
            self.world.schedule,
            tuple(host.result() for host in self.hosts),
            tuple(meeting.instance for meeting in self.world.meetings.values()),
        )

    def _advance(self, stream: Stream) -> None:
        """Lets activities of a stream begin and end as far as their times are known."""
        while stream.queue:
            task = stream.queue[0]
            if task.start_ns == UNKNOWN and not self._begin(task):
                return
            if task.end_ns == UNKNOWN:
                return
            stream.queue.popleft()
            stream.free_ns = task.end_ns + self.world.costs.device_gap_ns
            self.world.ready.extend(task.blocked)

    def _begin(self, task: Task) -> bool:
        stream = task.stream
        for other in task.after:
            if other.end_ns == UNKNOWN:
                other.blocked += (stream,)
                return False
        ends = (other.end_ns for other in task.after)
        task.start_ns = max(stream.free_ns, task.ready_ns, *ends)
        if task.meeting is None:
            task.end_ns = task.start_ns + self._duration_ns(task)
        else:
            self._arrive(task, task.meeting)
        return True

    def _arrive(self, task: Task, meeting: Meeting) -> None:
        rank = task.stream.rank
        self._waiting[meeting.index, rank] = task
        for member, end_ns in meeting.arrive(rank, task.start_ns):
            other = self._waiting.pop((meeting.index, member))
            other.end_ns = end_ns
            if other is not task:
                self.world.ready.append(other.stream)

    def _duration_ns(self, task: Task) -> int:
        operation, network = task.operation, self.world.network
        if isinstance(operation, Compute):
            given = operation.duration_ns
            return self.durations.get((task.stream.rank, task.correlation), given)
        is_pageable = isinstance(operation, Copy) and operation.memory == "pageable"
        link = network.pageable if is_pageable else network.copies
        return link.time_ns(operation.size_bytes)

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
