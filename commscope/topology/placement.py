"""Where ranks are placed: which groups leave a host or its links, and an order that avoids it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from commscope.topology.model import Device, Topology

#: How many steps a search may take; hosts have few devices, so it seldom ends early.
_MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rank runs."""

    host: str
    bus_id: str | None = None


@dataclass(frozen=True, slots=True)
class Crossings:
    """Numbers of the groups that leave something, in the order they were given."""

    nodes: tuple[int, ...]  #: groups with members on several hosts
    links: tuple[int, ...]  #: groups on one host that no ring over xGMI or NVLink joins
    unknown: tuple[int, ...]  #: groups on one host whose links are not known

    @property
    def count(self) -> int:
        """How many groups leave their host or its links."""
        return len(self.nodes) + len(self.links)


@dataclass(frozen=True, slots=True)
class Order:
    """Another order of ranks, and what it changes."""

    places: Mapping[int, Place]
    before: Crossings
    after: Crossings

    def ranks_of(self, host: str) -> list[int]:
        """The ranks to run on a host, in the order of its devices."""
        placed = [(place.bus_id or "", rank) for rank, place in self.places.items()
                  if place.host == host]  # fmt: skip
        return [rank for _, rank in sorted(placed)]


def crossings(
    groups: Sequence[Sequence[int]], places: Mapping[int, Place], topology: Topology
) -> Crossings:
    """Which groups of ranks leave their host, or the xGMI or NVLink links within it.

    Groups with a rank that has no place are unknown.
    """
    found: dict[str, list[int]] = {"nodes": [], "links": [], "unknown": []}
    for number, group in enumerate(groups):
        leaves = _leaves([places.get(rank) for rank in group], topology)
        if leaves is not None:
            found[leaves].append(number)
    return Crossings(**{name: tuple(numbers) for name, numbers in found.items()})


def order_inside(
    groups: Sequence[Sequence[int]], places: Mapping[int, Place], topology: Topology
) -> Order | None:
    """An order of ranks that keeps more of the heaviest groups inside hosts and links.

    ``groups`` begins with the heaviest. Each rank keeps the host and device of some other rank, so
    nothing but the order changes. Null where no better order was found.
    """
    before = crossings(groups, places, topology)
    if not before.count:
        return None
    found = _Slots(places, topology).filled(groups)
    after = crossings(groups, found, topology)
    if _flags(after, len(groups)) >= _flags(before, len(groups)):
        return None
    return Order(found, before, after)


def has_ring(topology: Topology, devices: Sequence[Device]) -> bool:
    """Whether a ring over direct links visits all the devices, two of them or more."""
    is_mesh = topology.is_mesh(devices)
    if is_mesh or len(devices) < 3:
        return is_mesh
    peers = {it: [peer for peer in topology.neighbours(it) if peer in devices] for it in devices}
    pending: list[tuple[Device, ...]] = [(devices[0],)]
    steps = 0
    while pending and steps < _MOST_STEPS:
        way, steps = pending.pop(), steps + 1
        if len(way) == len(devices) and way[0] in peers[way[-1]]:
            return True
        pending += [(*way, peer) for peer in peers[way[-1]] if peer not in way]
    return False


def _leaves(members: Sequence[Place | None], topology: Topology) -> str | None:
    known = [place for place in members if place is not None]
    if len({place.host for place in known}) > 1:
        return "nodes"
    if len(members) < 2:
        return None
    devices = [_device(place, topology) for place in known]
    told = [device for device in devices if device is not None]
    if len(told) < len(members) or not _links_are_known(topology, told):
        return "unknown"
    return None if has_ring(topology, told) else "links"


def _links_are_known(topology: Topology, devices: Sequence[Device]) -> bool:
    links = (topology.link(*pair) for pair in combinations(devices, 2))
    return all(link is not None and link.kind is not None for link in links)


def _device(place: Place, topology: Topology) -> Device | None:
    return topology.device(place.bus_id, place.host) if place.bus_id else None


def _flags(found: Crossings, groups: int) -> list[bool]:
    """For each group whether it leaves something: lists compare by the heaviest first."""
    leaving = {*found.nodes, *found.links}
    return [number in leaving for number in range(groups)]


class _Slots:
    """The places that ranks have, to be given out anew."""

    def __init__(self, places: Mapping[int, Place], topology: Topology) -> None:
        self._places, self._topology = places, topology
        self._free: dict[str, list[Place]] = defaultdict(list)
        for rank in sorted(places):
            self._free[places[rank].host].append(places[rank])

    def filled(self, groups: Sequence[Sequence[int]]) -> dict[int, Place]:
        """All ranks placed: groups as a whole where there is room, the other ranks in order."""
        found: dict[int, Place] = {}
        for group in groups:
            ranks = [rank for rank in group if rank in self._places]
            if not any(rank in found for rank in ranks):
                found.update(zip(ranks, self._taken(ranks)))
        rest = [rank for rank in sorted(self._places) if rank not in found]
        free = [place for places in self._free.values() for place in places]
        untaken = set(free)
        # A rank keeps its own place where nobody took it.
        found.update({rank: self._places[rank] for rank in rest if self._places[rank] in untaken})
        taken = set(found.values())
        left = [place for place in free if place not in taken]
        found.update(zip((rank for rank in rest if rank not in found), left))
        return found

    def _taken(self, ranks: Sequence[int]) -> list[Place]:
        """Places for a group on one host, taken from the free ones; none where it has no room."""
        own = [self._places[rank] for rank in ranks]
        fitting = [host for host, free in self._free.items() if len(free) >= len(ranks)]
        at_home = sorted(fitting, key=lambda host: (-sum(it.host == host for it in own),
                                                    len(self._free[host])))  # fmt: skip
        for host in at_home:
            chosen = self._joined(host, own)
            if chosen:
                self._free[host] = [place for place in self._free[host] if place not in chosen]
                return chosen
        return []

    def _joined(self, host: str, own: Sequence[Place]) -> list[Place]:
        """Free places of the host that a ring joins, own ones first; any where none is joined."""
        free = sorted(self._free[host], key=lambda place: place not in own)
        choices = islice(combinations(free, len(own)), _MOST_STEPS // 10)
        first: list[Place] = []
        for choice in map(list, choices):
            first = first or choice
            if _leaves(choice, self._topology) != "links":
                return choice
        return first
