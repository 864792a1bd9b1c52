"""Times of packets: each is told by some clock, and often as the distance from the last one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.columns import Int64, parts

#: The clock that a trace is told by unless it says otherwise (that of the host, since boot).
BOOTTIME = 6
#: Clocks from here on are those of one sequence.
_FIRST_OWN = 64
#: What is larger is damage.
_MOST_NS, _MOST_UNIT_NS = 1 << 62, 10**9


@dataclass(slots=True)
class _Own:
    """A sequence's own clock."""

    unit_ns: int
    is_incremental: bool
    last_ns: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a clock showed when a packet was written."""

    packet: int
    sequence: int
    clock: int
    timestamp: int
    unit_ns: int
    is_incremental: bool

    @property
    def key(self) -> tuple[int, int]:
        """Which sequence's clock it is of."""
        return self.sequence, self.clock


class Clocks:
    """The clocks of a trace, block after block."""

    def __init__(self) -> None:
        self._own: dict[tuple[int, int], _Own] = {}
        self._offsets: dict[int, int] = {}

    def tell_offsets(self, shown: dict[int, int]) -> None:
        """Learns what to add to times of the host's other clocks, from what they showed at once."""
        if BOOTTIME in shown:
            boot = shown[BOOTTIME]
            offsets = {clock: boot - at for clock, at in shown.items() if clock < _FIRST_OWN}
            self._offsets |= {c: by for c, by in offsets.items() if abs(by) < _MOST_NS}

    def times(
        self, sequence: Int64, clock: Int64, timestamp: Int64, snapshots: list[Snapshot]
    ) -> Int64:
        """The time of each packet in ns on the host's clock since boot."""
        times = timestamp.copy()
        shown: dict[tuple[int, int], list[Snapshot]] = {}
        for snapshot in snapshots:
            shown.setdefault(snapshot.key, []).append(snapshot)
        for number, rows in parts(clock):
            if number < _FIRST_OWN:
                times[rows] += self._offsets.get(number, 0)
                continue
            for one, some in parts(sequence[rows]):
                mine, key = rows[some], (one, number)
                times[mine] = self._own_times(mine, timestamp[mine], key, shown.pop(key, []))
        self._own |= {key: _set(of_clock[-1]) for key, of_clock in shown.items()}
        return np.asarray(times)

    def _own_times(
        self, rows: Int64, timestamp: Int64, key: tuple[int, int], snapshots: list[Snapshot]
    ) -> Int64:
        """Times of one sequence's own clock, which each snapshot sets anew."""
        times = np.empty(len(rows), np.int64)
        cuts = np.searchsorted(rows, [s.packet for s in snapshots]).tolist()
        begins = [0, *cuts]
        for begin, end, snapshot in zip(begins, [*cuts, len(rows)], [None, *snapshots]):
            own = self._own.setdefault(key, _Own(1, False, 0))
            if snapshot is not None:
                own = self._own[key] = _set(snapshot)
            part = timestamp[begin:end] * own.unit_ns
            times[begin:end] = own.last_ns + np.cumsum(part) if own.is_incremental else part
            if end > begin:
                own.last_ns = int(times[end - 1])
        return times


def _set(snapshot: Snapshot) -> _Own:
    unit = min(max(snapshot.unit_ns, 1), _MOST_UNIT_NS)
    return _Own(unit, snapshot.is_incremental, min(snapshot.timestamp * unit, _MOST_NS))
