"""Real topology files of RCCL, with what their README says of them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from topology_samples import pairs, read_case, rows, topology_of

#: file -> GPUs, gfx, CUs, device id, NUMA nodes, directed xGMI entries by count, NICs, GB/s.
_FACTS = {
    "topo_8p_940.xml": (8, "gfx942", 304, "0x74a1", [0] * 4 + [1] * 4, {1: 56}, 8, 50.0),
    "topo_16p1h.xml": (
        16, "gfx90a", 104, "0x740c", [n // 4 for n in range(16)], {4: 16, 2: 8, 1: 32}, 8, 25.0,
    ),
    "topo_8p1h_3.xml": (
        8, "gfx90a", 104, "0x7408", [3, 3, 1, 1, 0, 0, 2, 2], {4: 8, 2: 4, 1: 12}, 4, 25.0,
    ),
    "topo_8p_950.xml": (8, "gfx950", 256, "0x75a0", [0] * 4 + [1] * 4, {1: 56}, 8, 50.0),
    "topo_8p_pcie.xml": (8, "gfx906", 64, None, [0] * 8, {}, 1, 12.5),
}  # fmt: skip
_COUNTS = {
    "topo_8p_940.xml": (28, 28, {7}),
    "topo_16p1h.xml": (56, 28, {3, 4}),
    "topo_8p1h_3.xml": (26, 12, {3}),
    "topo_8p_950.xml": (28, 28, {7}),
    "topo_8p_pcie.xml": (0, 0, {0}),
}


@pytest.mark.parametrize("name", _FACTS)
def test_devices_links_and_nets_are_those_of_the_readme(name: str) -> None:
    file = read_case(f"topology/{name}")
    gpus, gfx, units, device_id, nodes, directed, nets, speed = _FACTS[name]
    assert rows(file, "DEVICES", "dump_index") == rows(file, "DEVICES", "rank") == [*range(gpus)]
    named = ("gfx", "compute_units", "device_id", "gdr", "pcie_width")
    assert set(rows(file, "DEVICES", *named)) == {(gfx, units, device_id, True, 16)}
    assert rows(file, "DEVICES", "numa_node") == nodes
    told = rows(file, "LINKS", "kind", "count")
    assert dict(Counter(count for kind, count in told if kind == "xgmi")) == directed
    assert rows(file, "NETS", "index") == list(range(nets))
    assert set(rows(file, "NETS", "speed_gbps")) == {speed}
    assert file.remarks == ()


@pytest.mark.parametrize("name", _COUNTS)
def test_undirected_links_and_neighbours(name: str) -> None:
    topology = topology_of(f"topology/{name}")
    links, joined, degrees = _COUNTS[name]
    found = pairs(topology)
    assert (sum(found.values()), len(found)) == (links, joined)
    assert {len(topology.neighbours(device)) for device in topology.devices} == degrees
    assert topology.is_mesh(topology.devices) == (joined == 28 and len(topology.devices) == 8)
    assert topology.notes == ()


def test_pairs_of_several_links() -> None:
    sixteen = pairs(topology_of("topology/topo_16p1h.xml"))
    assert {pair for pair, count in sixteen.items() if count == 4} == {
        (number, number + 1) for number in range(0, 16, 2)
    }
    assert {pair for pair, count in sixteen.items() if count == 2} == {
        (0, 4), (3, 7), (8, 12), (11, 15),
    }  # fmt: skip
    assert pairs(topology_of("topology/topo_8p1h_3.xml")) == {
        **dict.fromkeys([(0, 1), (2, 3), (4, 5), (6, 7)], 4),
        **dict.fromkeys([(0, 6), (2, 4)], 2),
        **dict.fromkeys([(0, 2), (1, 3), (1, 5), (3, 7), (4, 6), (5, 7)], 1),
    }


@pytest.mark.parametrize(
    ("name", "buses"),
    [
        ("topo_8p_940.xml", "0c 15 1e 69 9f af bf df"),
        ("topo_8p_950.xml", "08 18 68 78 88 98 e8 f9"),
    ],
)
def test_bus_ids(name: str, buses: str) -> None:
    told = rows(read_case(f"topology/{name}"), "DEVICES", "bus_id")
    assert told == [f"0000:{bus}:00.0" for bus in buses.split()]


def test_names_of_network_devices_need_not_count_through() -> None:
    names = rows(read_case("topology/topo_16p1h.xml"), "NETS", "name")
    assert names == [f"mlx5_{number}" for number in (0, 1, 2, 3, 4, 5, 7, 8)]
    nets = rows(read_case("topology/topo_8p_950.xml"), "NETS", "name", "max_connections")
    assert nets == [(f"bnxt_re{number}", 131073) for number in range(8)]


@pytest.mark.parametrize("name", ["topo_8p_940.xml", "topo_8p_950.xml"])
def test_each_gpu_has_a_network_device_of_its_own_behind_its_switch(name: str) -> None:
    topology = topology_of(f"topology/{name}")
    nearest = [topology.nearest_nets(device) for device in topology.devices]
    assert [len(nets) for nets in nearest] == [1] * 8
    assert len({nets[0].name for nets in nearest}) == 8
    for device, (net,) in zip(topology.devices, nearest, strict=True):
        assert dict(net.paths)[device.key] in ("PIX", "PXB")
        assert net.numa_node == device.numa_node


def test_pairs_of_gpus_share_the_network_device_beside_them() -> None:
    topology = topology_of("topology/topo_8p1h_3.xml")
    names = [topology.nearest_nets(device)[0].name for device in topology.devices]
    assert names == [f"net{number // 2}" for number in range(8)]


def test_without_direct_links_all_ways_are_pcie() -> None:
    topology = topology_of("topology/topo_8p_pcie.xml")
    links = [topology.link(*pair) for pair in combinations(topology.devices, 2)]
    assert {(link.kind, link.pcie_gts, link.pcie_width) for link in links if link} == {
        ("pcie", 8.0, 16)
    }
    assert {link.path for link in links if link} == {"PXB", "PHB"}


def test_two_cpus_are_farther_apart_than_one() -> None:
    paths = dict(read_paths("topology/topo_8p1h_3.xml"))
    assert paths[0, 3] == "SYS"
    assert all(path in ("PHB", "SYS") for path in paths.values())


def read_paths(path: str) -> list[tuple[tuple[int, int], str]]:
    found = rows(read_case(path), "LINKS", "src", "dst", "path")
    return [((src, dst), way) for src, dst, way in found if way and dst is not None]
