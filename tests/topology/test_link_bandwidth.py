"""What links allow against published results, and where nothing can be told."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
import topology_samples as samples
from hypothesis import given
from hypothesis import strategies as st
from topology_samples import dump, read, topology_of

from commscope.topology import Device, Expectation, Link, Topology, expected_allreduce
from commscope.topology.merge import merge


def of_dump(gpus: int, **given: object) -> Topology:
    return merge([read(dump(gpus, **given))])  # type: ignore[arg-type]


def whole(topology: Topology, product: str | None = None) -> Expectation:
    return expected_allreduce(topology, topology.devices, product)


def test_eight_mi300x_reach_what_was_published_at_large_sizes() -> None:
    topology = topology_of("topology/topo_8p_940.xml")
    found = whole(topology)
    assert found.busbw_gbps is not None
    assert 305 <= found.busbw_gbps <= 318
    assert (found.limit, found.is_bound) == ("xgmi", False)
    # 256 MiB, 1 GiB and 8 GiB: published are 305.6, 314.7 and 318.0.
    sized = [found.at(size << 20, 8) for size in (256, 1024, 8192)]
    assert all(gbps is not None and 305 <= gbps <= 318 for gbps in sized)


def test_two_mi300x_use_one_link() -> None:
    topology = topology_of("topology/topo_8p_940.xml")
    for pair in combinations(topology.devices, 2):
        found = expected_allreduce(topology, pair)
        assert found.busbw_gbps is not None
        assert 45 <= found.busbw_gbps <= 61
        assert not found.is_bound


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7])
def test_groups_in_between_are_bounds(size: int) -> None:
    topology = topology_of("topology/topo_8p_940.xml")
    found = expected_allreduce(topology, topology.devices[:size])
    assert found.busbw_gbps == 45 * (size - 1)
    assert found.is_bound


def test_eight_mi355x_reach_what_was_published() -> None:
    found = whole(topology_of("topology/topo_8p_950.xml"))
    assert found.busbw_gbps == pytest.approx(406.8, rel=0.01)


def test_four_mi300a_reach_what_was_measured() -> None:
    found = whole(of_dump(4, device="0x74a0"))
    assert found.busbw_gbps is not None
    assert 222 <= found.busbw_gbps <= 248


def test_pcie_only_divides_by_no_count_of_links() -> None:
    topology = topology_of("topology/topo_8p_pcie.xml")
    found = whole(topology)
    assert (found.busbw_gbps, found.limit) == (12.0, "pcie")
    assert "PCIe only" in found.reason
    unknown = whole(topology_of("amd/smi/amd_smi_topology_2gpu_old_schema.json"))
    assert unknown.busbw_gbps is None
    assert unknown.reason == "PCIe only, and the speed of its links is not told"


def test_a_group_that_is_no_mesh_is_bound_by_its_weakest_cut() -> None:
    topology = topology_of("topology/topo_8p1h_3.xml")
    assert whole(topology).busbw_gbps == 5 * 36
    one, other = topology.devices[0], topology.devices[1]
    assert expected_allreduce(topology, [one, other]).busbw_gbps == 4 * 36
    apart = expected_allreduce(topology, [topology.devices[0], topology.devices[3]])
    assert (apart.limit, apart.busbw_gbps) == ("pcie", 16.0)


@pytest.mark.parametrize(
    ("product", "gbps"),
    [("NVIDIA H200", 18 * 20.6), ("NVIDIA B200", 18 * 40.1), (None, None), ("Tesla T4", None)],
)
def test_nvlink_needs_the_product(product: str | None, gbps: float | None) -> None:
    topology = topology_of("h200/nvidia_smi_topo.txt")
    found = whole(topology, product).busbw_gbps
    assert found == (None if gbps is None else pytest.approx(gbps))


def test_links_to_a_switch_are_not_shared_out_between_peers() -> None:
    switched = of_dump(4, kind="nvlink", count=12)
    shared = of_dump(4, kind="nvlink", count=4)
    assert whole(switched, "A100-SXM4-80GB").busbw_gbps == 12 * 20
    assert whole(shared, "A100-SXM4-80GB").busbw_gbps == 3 * 4 * 20


def test_a_group_of_one_sends_nothing() -> None:
    topology = of_dump(2)
    assert expected_allreduce(topology, topology.devices[:1]).busbw_gbps is None
    assert expected_allreduce(topology, []).busbw_gbps is None
    assert expected_allreduce(topology, [topology.devices[0]] * 2).busbw_gbps is None


def test_an_unknown_product_or_link_has_no_number() -> None:
    named = topology_of("amd/smi/amd_smi_topology_4x_mi300x_vf.json")
    assert whole(named).busbw_gbps is None
    assert whole(named, "AMD Instinct MI300X VF").busbw_gbps == 135
    lost = replace(of_dump(3), links=())
    assert whole(lost).reason == "what joins some of the devices is not known"


def test_partitions_of_one_gpu_have_no_number() -> None:
    found = whole(topology_of("amd/smi/rocm_smi_showhw_12x_mi300a_tpx.txt"))
    assert found.reason == "some of the devices are partitions of one GPU"


def test_groups_too_large_or_of_several_kinds_have_no_number() -> None:
    devices = tuple(Device("h", str(number), gfx="gfx942") for number in range(130))
    chain = [Link("h", (str(n), str(n + 1)), "xgmi") for n in range(129)]
    large = Topology(hosts=("h",), devices=devices, links=tuple(chain))
    assert whole(large).reason == "the group has more than 128 devices"
    mixed = replace(large, devices=devices[:3], links=(chain[0], replace(chain[1], kind="nvlink")))
    assert whole(mixed).reason == "the group has links of several kinds"


def two_hosts() -> Topology:
    one = topology_of("topology/topo_8p_940.xml")
    name = one.hosts[0]
    moved = {
        rows: tuple(replace(row, host="b") for row in getattr(one, rows))
        for rows in ("devices", "links", "nets")
    }
    return Topology(
        hosts=(name, "b"),
        devices=(*one.devices, *moved["devices"]),
        links=(*one.links, *moved["links"]),
        nets=(*one.nets, *moved["nets"]),
    )


def test_between_hosts_the_slower_of_links_and_network_decides() -> None:
    topology = two_hosts()
    both = whole(topology)
    assert (both.limit, both.busbw_gbps) == ("xgmi", 315)
    ends = [topology.devices_of(host)[0] for host in topology.hosts]
    rail = expected_allreduce(topology, ends)
    assert (rail.limit, rail.busbw_gbps) == ("network", 50)
    unknown = expected_allreduce(replace(topology, nets=()), ends)
    assert unknown.busbw_gbps is None


def test_small_messages_are_slower_and_none_has_no_number() -> None:
    found = Expectation(315.0, "xgmi", False, "")
    small, large = found.at(1 << 20, 8), found.at(1 << 30, 8)
    assert small is not None
    assert large is not None
    assert small < large < 315
    assert found.at(0, 8) is None
    assert found.at(1, 1) is None
    assert Expectation(None, None, True, "").at(1 << 20, 8) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 4)), max_size=14))
def test_weakest_cut_is_that_of_trying_all(edges: list[tuple[int, int, int]]) -> None:
    devices = tuple(Device("h", str(n), gfx="gfx90a") for n in range(6))
    counts = {(min(a, b), max(a, b)): count for a, b, count in edges if a != b}
    links = tuple(
        Link("h", (str(a), str(b)), "xgmi", count=count) for (a, b), count in counts.items()
    )
    topology = Topology(hosts=("h",), devices=devices, links=links)
    cut = min(
        sum(count for (a, b), count in counts.items() if (a in side) != (b in side))
        for size in range(1, 6)
        for side in combinations(range(6), size)
    )
    found = expected_allreduce(topology, devices)
    assert found.busbw_gbps == (36.0 * cut if cut else None)


def test_rates_are_those_of_the_product_the_files_tell() -> None:
    file = read(samples.dump(2, gfx="910"))
    assert whole(merge([file])).busbw_gbps == 36
    assert whole(of_dump(2, gfx="gfx1100")).busbw_gbps is None
