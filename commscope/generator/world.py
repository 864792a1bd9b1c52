"""What the ranks of a simulated job share: costs, meetings, and the streams that may go on."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from commscope.generator.costs import Device, HostCosts, Network
from commscope.generator.meeting import Key, Meeting, meet, shape_of
from commscope.generator.schedule import Communication, Schedule
from commscope.generator.streams import Stream


@dataclass(slots=True)
class World:
    """All that is outside of one rank."""

    schedule: Schedule
    costs: HostCosts
    network: Network
    device: Device
    meetings: dict[Key, Meeting] = field(default_factory=dict)
    ready: deque[Stream] = field(default_factory=deque)

    def meeting(self, key: Key, rank: int, operation: Communication) -> Meeting:
        """Where the rank meets the other members in an operation.

        Raises ScheduleError where it means another operation than they do.
        """
        shape = shape_of(operation)
        found = self.meetings.get(key)
        if found is None:
            communicator = self.schedule.communicators[operation.communicator]
            found = meet(key, len(self.meetings), shape, communicator, self.network)
            self.meetings[key] = found
        found.check(rank, shape)
        return found
