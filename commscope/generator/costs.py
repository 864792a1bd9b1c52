"""What operations cost: calls of the host, transfers over links, copies. All exact integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HostCosts:
    """How long the host takes; in ns.

    A launch that begins at t lets the next call begin at ``t + launch_ns + gap_ns``, and its
    activity at ``t + launch_ns + latency_ns`` at the earliest.
    """

    launch_ns: int = 4_000
    gap_ns: int = 1_000  #: between the end of any call and the begin of the next
    event_ns: int = 500  #: recording an event, or making a stream wait for one
    latency_ns: int = 3_000  #: from the end of a launch to the device
    device_gap_ns: int = 0  #: between activities of one stream
    wake_ns: int = 0  #: from the end of what the host waits for until it knows


#: Nothing costs anything: for expected values that are sums of what the schedule says.
FREE = HostCosts(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Device:
    """How the device runs what several streams hold.

    ``queues`` is the hardware queue of a stream: what streams of the same one hold runs in the
    order in which it was issued, one after the other. A stream that is not in it has its own.
    While a collective runs, compute takes ``contention`` (numerator, denominator) times as long.
    """

    queues: Mapping[str, int] = field(default_factory=dict)
    contention: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Link:
    """A latency, and a bandwidth in bytes a microsecond (1 GB/s is 1000)."""

    latency_ns: int
    bytes_per_us: int

    def time_ns(self, size_bytes: int, factor: tuple[int, int] = (1, 1)) -> int:
        """Time for the bytes times a factor (numerator, denominator), rounded up."""
        numerator, denominator = factor
        return self.latency_ns - (
            -size_bytes * 1000 * numerator // (self.bytes_per_us * denominator)
        )


@dataclass(frozen=True, slots=True)
class Network:
    """How long transfers take, and how exactly the members of a collective end together.

    ``end_skew_ns`` is by rank: how much later than the others its kernels end. Operations that
    need not synchronise (broadcast, send, ...) do so where they are larger than ``eager_bytes``.
    """

    link: Link = Link(latency_ns=12_000, bytes_per_us=300_000)
    by_communicator: Mapping[str, Link] = field(default_factory=dict)
    copies: Link = Link(latency_ns=2_000, bytes_per_us=50_000)
    pageable: Link = Link(latency_ns=10_000, bytes_per_us=8_000)
    end_skew_ns: Mapping[int, int] = field(default_factory=dict)
    eager_bytes: int = 1 << 20

    def transfer_ns(self, communicator: str, op: str, size_bytes: int, members: int) -> int:
        """Time from the arrival of the last member to the end."""
        link = self.by_communicator.get(communicator, self.link)
        return link.time_ns(size_bytes, bus_factor(op, members))


def bus_factor(op: str, members: int) -> tuple[int, int]:
    """What busbw is algbw multiplied by, as a fraction."""
    if op == "all_reduce":
        return 2 * (members - 1), members
    if op in ("all_gather", "reduce_scatter", "all_to_all"):
        return members - 1, members
    return 1, 1
