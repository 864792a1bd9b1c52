"""The topology of the hosts of a job, where one file often stands for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from functools import cached_property

from commscope.topology.model import Topology


def for_hosts(topology: Topology, buses: Mapping[str, Set[str]]) -> Topology:
    """The topology under the names of the job's hosts.

    ``buses`` has the bus ids that the job uses on each host. A host that no file names is taken to
    be like the one whose devices have all of these bus ids, which a note says; where there is none,
    or there are several that differ, nothing is known of it.
    """
    known = _Known(topology)
    found = {host: known.like(host, used) for host, used in buses.items()}
    parts = [_renamed(topology, like, host) for host, like in found.items() if like is not None]
    notes = [
        f"{host}: taken to be joined like {like}, as no file names it"
        for host, like in found.items()
        if like not in (None, host)
    ]
    return Topology(
        hosts=tuple(host for host, like in found.items() if like is not None),
        devices=tuple(row for part in parts for row in part.devices),
        links=tuple(row for part in parts for row in part.links),
        nets=tuple(row for part in parts for row in part.nets),
        rings=tuple(row for part in parts for row in part.rings),
        facts=tuple(row for part in parts for row in part.facts),
        files=topology.files,
        notes=(*topology.notes, *notes),
    )


class _Known:
    """The hosts of a topology, each looked at once however many others may be like it."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._buses = {
            host: {device.bus_id for device in topology.devices_of(host)} for host in topology.hosts
        }

    def like(self, host: str, used: Set[str]) -> str | None:
        """The name under which the topology knows the host, or one like it."""
        if host in self._buses:
            return host
        fitting = [name for name, buses in self._buses.items() if used and used <= buses]
        shapes = {self._shapes[name] for name in fitting}
        return fitting[0] if len(shapes) == 1 else None

    @cached_property
    def _shapes(self) -> dict[str, frozenset[tuple[object, ...]]]:
        """How the devices of each host are joined, without its name."""
        links: dict[str, set[tuple[object, ...]]] = {host: set() for host in self._buses}
        for link in self._topology.links:
            links.setdefault(link.host, set()).add((link.ends, link.kind, link.path, link.count))
        return {host: frozenset(found) for host, found in links.items()}


def _renamed(topology: Topology, host: str, name: str) -> Topology:
    """What the topology says of one host, under another name; facts are its own only."""
    return Topology(
        devices=tuple(replace(row, host=name) for row in topology.devices_of(host)),
        links=tuple(replace(row, host=name) for row in topology.links if row.host == host),
        nets=tuple(replace(row, host=name) for row in topology.nets if row.host == host),
        rings=tuple(replace(row, host=name) for row in topology.rings if row.host == host),
        facts=tuple(row for row in topology.facts if row.host == host == name),
    )
