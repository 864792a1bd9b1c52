"""Which groups leave their host or its links, and orders of ranks that avoid it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from topology_samples import bus_id, dump, read, topology_of

from commscope.topology import Crossings, Place, Topology, crossings, order_inside
from commscope.topology.merge import merge
from commscope.topology.placement import has_ring


def mesh(hosts: int, gpus: int) -> Topology:
    """This many hosts of GPUs that are all joined."""
    parts = [merge([read(dump(gpus), f"n{n}/topo")]) for n in range(hosts)]
    return Topology(
        hosts=tuple(host for part in parts for host in part.hosts),
        devices=tuple(device for part in parts for device in part.devices),
        links=tuple(link for part in parts for link in part.links),
    )


def placed(topology: Topology, order: Sequence[int] | None = None) -> dict[int, Place]:
    """Rank r on the r-th device, or as the order says."""
    devices = topology.devices
    numbers = order or range(len(devices))
    return {
        rank: Place(devices[n].host, devices[n].bus_id) for rank, n in enumerate(numbers)
    }  # fmt: skip


def test_groups_of_one_host_cross_nothing() -> None:
    topology = mesh(2, 4)
    groups = [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert crossings(groups, placed(topology), topology) == Crossings((), (), ())
    assert order_inside(groups, placed(topology), topology) is None


def test_groups_across_hosts_are_counted() -> None:
    topology = mesh(2, 4)
    found = crossings([[0, 4], [0, 1], [1, 5, 6]], placed(topology), topology)
    assert (found.nodes, found.links, found.unknown, found.count) == ((0, 2), (), (), 2)


def test_an_order_that_keeps_the_heaviest_groups_on_their_host() -> None:
    topology = mesh(2, 4)
    heavy = [[0, 2, 4, 6], [1, 3, 5, 7]]
    light = [[0, 1], [2, 3], [4, 5], [6, 7]]
    places = placed(topology)
    found = order_inside([*heavy, *light], places, topology)
    assert found is not None
    assert found.before.nodes == (0, 1)
    assert not {0, 1} & set(found.after.nodes)
    assert sorted(found.places) == list(range(8))
    assert set(found.places.values()) == set(places.values())
    assert sorted(found.ranks_of(topology.hosts[0])) in ([0, 2, 4, 6], [1, 3, 5, 7])


def test_no_order_helps_a_group_larger_than_a_host() -> None:
    topology = mesh(2, 4)
    assert order_inside([list(range(8))], placed(topology), topology) is None


def test_a_group_that_leaves_the_links_of_its_host_moves_to_others() -> None:
    topology = topology_of("topology/topo_8p1h_3.xml")
    groups = [[0, 3], [1, 2], [4, 7], [5, 6]]
    places = placed(topology)
    before = crossings(groups, places, topology)
    assert before.links == (0, 1, 2, 3)
    found = order_inside(groups, places, topology)
    assert found is not None
    assert found.after.count == 0


def test_a_ring_must_close_over_direct_links() -> None:
    topology = topology_of("topology/topo_8p1h_3.xml")
    devices = topology.devices
    assert has_ring(topology, devices)
    assert has_ring(topology, devices[:4])
    assert not has_ring(topology, devices[:3])
    assert not has_ring(topology, [devices[0], devices[3]])
    assert not has_ring(topology, devices[:1])


@pytest.mark.parametrize(
    "places",
    [
        {0: Place("elsewhere", "0000:01:00.0"), 1: Place("elsewhere", "0000:02:00.0")},
        {0: Place("n0/topo"), 1: Place("n0/topo")},
        {0: Place("n0/topo", bus_id(0))},
    ],
)
def test_groups_whose_links_are_not_known_are_said_to_be(places: dict[int, Place]) -> None:
    found = crossings([[0, 1]], places, mesh(1, 2))
    assert found == Crossings((), (), (0,))


def test_a_host_without_topology_still_shows_what_crosses_hosts() -> None:
    places = {rank: Place(f"n{rank % 2}") for rank in range(4)}
    found = order_inside([[0, 1], [2, 3]], places, Topology())
    assert found is not None
    assert found.before.nodes == (0, 1)
    assert found.after.nodes == ()


@given(st.permutations(range(8)), st.integers(1, 4))
def test_orders_are_permutations_that_are_never_worse(order: list[int], size: int) -> None:
    topology = mesh(2, 4)
    groups = [list(range(first, first + size)) for first in range(0, 8 - size + 1, size)]
    places = placed(topology, order)
    found = order_inside(groups, places, topology)
    if found is None:
        return
    assert sorted(found.places) == list(range(8))
    assert sorted(map(repr, found.places.values())) == sorted(map(repr, places.values()))
    assert found.after.count < found.before.count
