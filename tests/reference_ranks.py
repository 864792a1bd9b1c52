"""The independent calculator across ranks: matching collectives, waiting, transfer.

For ranks that share one clock and one communicator, which is what the real cases hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import reference
from reference import COMMUNICATION, Activity, Recording


@dataclass(frozen=True)
class Instance:
    """One collective on all its ranks, in the order of the ranks."""

    members: tuple[Activity, ...]

    @property
    def last_arrival_ns(self) -> int:
        """When the last of its ranks came."""
        return max(one.start_ns for one in self.members)

    @property
    def transfer_ns(self) -> int:
        """The shortest time that any rank spent in it without waiting."""
        last = self.last_arrival_ns
        return min(one.end_ns - min(last, one.end_ns) for one in self.members)

    @property
    def end_skew_ns(self) -> int:
        """How far its ends lie apart."""
        ends = [one.end_ns for one in self.members]
        return max(ends) - min(ends)


def instances(recordings: list[Recording]) -> list[Instance]:
    """The collectives of ranks of one clock, matched from the end: the files end together."""
    per_rank = [
        [
            one
            for one in reference.counted(recording.activities)
            if reference.classify(one) == COMMUNICATION
        ]
        for recording in recordings
    ]
    matched = min(map(len, per_rank))
    return [
        Instance(members) for members in zip(*(one[-matched:] for one in per_rank), strict=True)
    ]


def exposed_wait_ns(recordings: list[Recording], rank: int) -> int:
    """The exposed time of one rank before the last arrival, over the matched collectives."""
    found = 0
    for instance in instances(recordings):
        own = instance.members[rank]
        until = min(instance.last_arrival_ns, own.end_ns)
        found += reference.sweep(recordings[rank].activities, (own.start_ns, until)).exposed_comm_ns
    return found
