"""Real outputs of the SMI tools, with what their README says of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from topology_samples import read_case, rows

_SMI = "amd/smi"

#: file -> devices, directed links, kinds, hops, weights, NUMA nodes, bus ids.
_FACTS = {
    "rocm_smi_showtopo_4x_mi300x_vf.txt": (
        4, 12, {"xgmi"}, {1}, {15}, [3, 2, 1, 0], None,
    ),
    "rocm_smi_showtopo_8x_0x74a2_rocm72.txt": (
        8, 56, {"xgmi"}, {1}, {15}, [0] * 4 + [1] * 4, None,
    ),
    "rocm_smi_showtopo_12x_mi300a_tpx_broken.txt": (
        12, 132, {"xgmi", None}, {None}, {None}, [0] * 9 + [1, 2, 3], None,
    ),
    "amd_smi_topology_4x_mi300x_vf.json": (
        4, 12, {"xgmi"}, {1}, {15}, None, ["f9", "fb", "fd", "ff"],
    ),
    "amd_smi_topology_8x_mi355x_rocm702.txt": (
        8, 56, {"xgmi"}, {1}, {None}, None, ["0d", "26", "5d", "75", "8e", "a7", "dc", "f4"],
    ),
    "amd_smi_topology_2gpu_old_schema.json": (
        2, 2, {"pcie"}, {2}, {40}, None, None,
    ),
    "amd_smi_topology_2gpu_new_schema_a_t.json": (
        2, 2, {"pcie"}, {None}, {None}, None, ["08", "44"],
    ),
    "rocm_smi_a_4x_mi300x_driver670.txt": (
        4, 0, set(), set(), set(), None, ["26", "46", "65", "85"],
    ),
    "rocm_smi_showproductname_4x_mi300x_vf.txt": (
        4, 0, set(), set(), set(), None, None,
    ),
    "rocm_smi_showhw_12x_mi300a_tpx.txt": (
        12, 0, set(), set(), set(), None, ["01"] * 12,
    ),
    "rocm_smi_showbus_24x_overlap.txt": (
        24, 0, set(), set(), set(), None, ["01"] * 24,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _FACTS)
def test_devices_and_links_are_those_of_the_readme(name: str) -> None:
    file = read_case(f"{_SMI}/{name}")
    devices, links, kinds, hops, weights, nodes, buses = _FACTS[name]
    assert rows(file, "DEVICES", "smi_index") == list(range(devices))
    assert len(rows(file, "LINKS", "src")) == links
    assert set(rows(file, "LINKS", "kind")) == kinds
    assert set(rows(file, "LINKS", "hops")) == hops
    assert set(rows(file, "LINKS", "weight")) == weights
    assert rows(file, "DEVICES", "numa_node") == (nodes or [None] * devices)
    told = [None if bus is None else bus[5:7] for bus in rows(file, "DEVICES", "bus_id")]
    assert told == (buses or [None] * devices)


@pytest.mark.parametrize("name", _FACTS)
def test_every_link_is_told_in_both_directions(name: str) -> None:
    pairs = rows(read_case(f"{_SMI}/{name}"), "LINKS", "src", "dst")
    assert {(dst, src) for src, dst in pairs} == set(pairs)


@pytest.mark.parametrize(
    ("name", "remarks"),
    [
        ("rocm_smi_showtopo_4x_mi300x_vf.txt", []),
        ("rocm_smi_showtopo_8x_0x74a2_rocm72.txt", []),
        ("rocm_smi_showbus_24x_overlap.txt", []),
        ("amd_smi_topology_2gpu_new_schema_a_t.json", []),
        (
            "rocm_smi_showtopo_12x_mi300a_tpx_broken.txt",
            [
                "rocm-smi says: Cannot read Link Weight: Not supported on this machine",
                "link types stand under the title 'Weight between two GPUs'",
                "NUMA node and NUMA affinity of 6 devices differ",
                "the kind of 24 of 132 links is not told",
                "no weight is told: it is 0 or missing for every link",
            ],
        ),
        (
            "amd_smi_topology_8x_mi355x_rocm702.txt",
            ["no weight is told: it is 0 or missing for every link"],
        ),
    ],
)
def test_what_is_broken_is_remarked_on(name: str, remarks: list[str]) -> None:
    file = read_case(f"{_SMI}/{name}")
    assert list(file.remarks) == remarks


def test_reported_bandwidth_is_kept_as_text_and_access_as_status() -> None:
    file = read_case(f"{_SMI}/amd_smi_topology_4x_mi300x_vf.json")
    assert set(rows(file, "LINKS", "bandwidth", "status")) == {("64000-64000", "enabled")}
    old = read_case(f"{_SMI}/amd_smi_topology_2gpu_old_schema.json")
    assert set(rows(old, "LINKS", "bandwidth", "status")) == {(None, "disabled")}


def test_product_names_come_with_the_numbers_that_bridge_to_traces() -> None:
    file = read_case(f"{_SMI}/rocm_smi_showproductname_4x_mi300x_vf.txt")
    assert rows(file, "DEVICES", "hsa_node") == [4, 5, 6, 7]
    assert rows(file, "DEVICES", "kfd_id") == [5656, 30617, 54554, 46235]
    same = {("AMD Instinct MI300X VF", "0x74b5", "gfx942")}
    assert set(rows(file, "DEVICES", "product", "device_id", "gfx")) == same


def test_older_versions_write_keys_in_lower_case() -> None:
    file = read_case(f"{_SMI}/rocm_smi_a_4x_mi300x_driver670.txt")
    expected = {("AMD Instinct MI300X OAM", "0x74a1", "SPX", "NPS1")}
    names = ("product", "device_id", "compute_partition", "memory_partition")
    assert set(rows(file, "DEVICES", *names)) == expected
    assert rows(file, "FACTS", "name", "value") == [("amdgpu driver", "6.7.0")]


def test_partitions_tell_devices_of_one_bus_id_apart() -> None:
    file = read_case(f"{_SMI}/rocm_smi_showhw_12x_mi300a_tpx.txt")
    keys = rows(file, "DEVICES", "bus_id", "partition")
    assert len(set(keys)) == 12
    assert keys[:4] == [*(("0000:01:00.0", n) for n in range(3)), ("0001:01:00.0", 0)]
    assert rows(file, "DEVICES", "hsa_node") == list(range(4, 16))


def test_bus_ids_that_several_gpus_share_are_kept_as_printed() -> None:
    buses = rows(read_case(f"{_SMI}/rocm_smi_showbus_24x_overlap.txt"), "DEVICES", "bus_id")
    assert (buses.count("0000:01:00.0"), buses.count("0000:01:00.1")) == (1, 4)
    assert buses[-3:] == ["0001:01:00.0", "0002:01:00.0", "0003:01:00.0"]
    assert sum(one == other for one, other in pairwise(buses)) == 15


def test_nvidia_topology_of_the_h200_host() -> None:
    file = read_case("h200/nvidia_smi_topo.txt")
    assert rows(file, "LINKS", "src", "dst", "kind", "count") == [
        (0, 1, "nvlink", 18),
        (1, 0, "nvlink", 18),
    ]
    assert rows(file, "DEVICES", "nvml_index", "numa_affinity") == [(0, 0), (1, 0)]
    assert file.remarks == ()
