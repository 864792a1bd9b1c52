"""The topology of the hosts of a job, where one file often stands for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from commscope.topology.model import Topology


def for_hosts(topology: Topology, buses: Mapping[str, Set[str]]) -> Topology:
    """The topology under the names of the job's hosts.

    ``buses`` has the bus ids that the job uses on each host. A host that no file names is taken to
    be like the one whose devices have all of these bus ids, which a note says; where there is none,
    or there are several that differ, nothing is known of it.
    """
    found = {host: _like(topology, host, used) for host, used in buses.items()}
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


def _like(topology: Topology, host: str, used: Set[str]) -> str | None:
    """The name under which the topology knows the host, or one like it."""
    if host in topology.hosts:
        return host
    fitting = [
        name
        for name in topology.hosts
        if used and used <= {device.bus_id for device in topology.devices_of(name)}
    ]
    shapes = {_shape(topology, name) for name in fitting}
    return fitting[0] if len(shapes) == 1 else None


def _shape(topology: Topology, host: str) -> frozenset[tuple[object, ...]]:
    """How the devices of a host are joined, without its name."""
    return frozenset(
        (link.ends, link.kind, link.path, link.count)
        for link in topology.links
        if link.host == host
    )


def _renamed(topology: Topology, host: str, name: str) -> Topology:
    """What the topology says of one host, under another name; facts are its own only."""
    return Topology(
        devices=tuple(replace(row, host=name) for row in topology.devices_of(host)),
        links=tuple(replace(row, host=name) for row in topology.links if row.host == host),
        nets=tuple(replace(row, host=name) for row in topology.nets if row.host == host),
        rings=tuple(replace(row, host=name) for row in topology.rings if row.host == host),
        facts=tuple(row for row in topology.facts if row.host == host == name),
    )
