"""Several files of a host become one picture; files of several machines stay apart."""

from __future__ import annotations

import pytest
import topology_samples as samples
from topology_samples import read, topology_of

from commscope.topology import Device, Topology, bus_id_of_log
from commscope.topology.merge import merge
from commscope.topology.summary import differing_numbers, sentence

_TOPO = b"""\
=============================== Link Type between two GPUs ===============================
       GPU0         GPU1
GPU0   0            XGMI
GPU1   XGMI         0
"""
_BUS = b"GPU[0]\t\t: PCI Bus: 0000:83:00.0\nGPU[1]\t\t: PCI Bus: 0000:8B:00.0\n"


def merged(**files: bytes) -> Topology:
    return merge([read(data, name.replace("__", "/")) for name, data in files.items()])


def test_devices_are_the_same_by_bus_id_whatever_number_a_tool_gives_them() -> None:
    topology = merged(list=samples.AMD_LIST, bus=_BUS, topo=_TOPO)
    assert len(topology.hosts) == 1
    first, second = topology.devices
    assert (first.amd_smi_index, first.rocm_smi_index, first.hip_index) == (0, 0, 1)
    assert (second.amd_smi_index, second.rocm_smi_index, second.hip_index) == (1, 1, 0)
    assert topology.is_mesh(topology.devices)
    assert first.files == ("list", "bus", "topo")


def test_numbers_that_differ_are_said() -> None:
    topology = merged(list=samples.AMD_LIST)
    says = differing_numbers(topology, topology.hosts[0])
    assert says is not None
    assert "device 1 of HIP is 0 of amd-smi (0000:83:00.0)" in says
    assert differing_numbers(merged(bus=_BUS), "bus") is None


def test_order_of_files_does_not_matter() -> None:
    files = {"list": samples.AMD_LIST, "bus": _BUS, "topo": _TOPO}
    one = merged(**files)
    other = merged(**dict(reversed(files.items())))
    assert one.devices[0].bus_id == other.devices[0].bus_id
    assert one.is_mesh(one.devices)
    assert other.is_mesh(other.devices)
    assert len(other.hosts) == 1


def test_a_bus_id_alone_does_not_join_machines() -> None:
    other = samples.AMD_LIST.replace(b"0000:8b", b"0000:9b").replace(b"27976", b"1").replace(
        b"43855", b"2"
    ).replace(b"NODE_ID: 9", b"NODE_ID: 5")  # fmt: skip
    topology = merged(one=samples.AMD_LIST, two=other)
    assert topology.hosts == ("one", "two")


def test_what_contradicts_itself_stays_apart() -> None:
    other = samples.AMD_LIST.replace(b"43855", b"43856")
    assert len(merged(one=samples.AMD_LIST, two=other).hosts) == 2


def test_numbers_of_a_tool_that_fit_two_machines_join_none() -> None:
    second = b"GPU[0]\t\t: PCI Bus: 0000:11:00.0\nGPU[1]\t\t: PCI Bus: 0000:12:00.0\n"
    topology = merged(one=_BUS, two=second, topo=_TOPO)
    assert len(topology.hosts) == 3


def test_real_files_of_several_machines_in_one_folder_stay_apart() -> None:
    names = (
        *("amd_smi_topology_4x_mi300x_vf.json", "amd_smi_topology_8x_mi355x_rocm702.txt"),
        *("rocm_smi_a_4x_mi300x_driver670.txt", "rocm_smi_showbus_24x_overlap.txt"),
        "rocm_smi_showtopo_8x_0x74a2_rocm72.txt",
    )
    topology = topology_of(*(f"amd/smi/{name}" for name in names))
    assert sorted(len(topology.devices_of(host)) for host in topology.hosts) == [4, 4, 8, 8, 24]


def test_product_names_and_links_of_one_machine_are_joined_by_number() -> None:
    topology = topology_of(
        "amd/smi/rocm_smi_showtopo_4x_mi300x_vf.txt",
        "amd/smi/rocm_smi_showproductname_4x_mi300x_vf.txt",
    )
    (host,) = topology.hosts
    assert [device.hsa_node for device in topology.devices] == [4, 5, 6, 7]
    assert [device.numa_node for device in topology.devices] == [3, 2, 1, 0]
    expected = "4 GPUs AMD Instinct MI300X VF; all joined to all by xGMI (6 links)"
    assert sentence(topology, host) == expected


def test_partitions_of_a_gpu_are_devices_of_their_own() -> None:
    topology = topology_of(
        "amd/smi/rocm_smi_showhw_12x_mi300a_tpx.txt",
        "amd/smi/rocm_smi_showtopo_12x_mi300a_tpx_broken.txt",
    )
    assert len(topology.hosts) == 1
    assert topology.devices[4].key == "0001:01:00.0/1"
    assert topology.device("0001:01:00.0") is None
    assert len(topology.neighbours(topology.devices[0])) == 11
    assert len(topology.neighbours(topology.devices[1])) == 8


def test_a_manifest_names_the_host_of_its_folder() -> None:
    topology = merged(
        a__collected=samples.MANIFEST,
        a__list=samples.AMD_LIST,
        b__collected=samples.MANIFEST.replace(b"node7", b"node8"),
        b__list=samples.AMD_LIST,
    )
    assert sorted(topology.hosts) == ["node7", "node8"]
    assert [len(topology.devices_of(host)) for host in topology.hosts] == [2, 2]
    assert ("node7", "numa balancing", "1") in [(f.host, f.name, f.value) for f in topology.facts]


def test_devices_of_a_named_host_that_match_none_are_left_out_with_a_note() -> None:
    topology = merged(
        a__collected=samples.MANIFEST,
        a__info=samples.ROCMINFO,
        a__rocm=samples.ROCM_CSV,
    )
    assert topology.hosts == ("node7",)
    assert len(topology.devices) == 2
    assert any("a/info" in note and "left out" in note for note in topology.notes)


def test_directions_that_differ_are_noted() -> None:
    lame = samples.dump(2).replace(b'count="1"', b'count="3"', 1)
    notes = merged(topo=lame).notes
    assert notes == ("topo (topology dump): 1 links differ between their two directions",)


def test_link_needs_one_host() -> None:
    topology = merged(one=samples.dump(2))
    one, other = topology.devices
    link = topology.link(one, other)
    assert link is not None
    assert link.is_direct
    assert topology.link(one, Device("elsewhere", other.key)) is None
    assert topology.device(samples.bus_id(1)) == other
    assert topology.device(samples.bus_id(9)) is None


@pytest.mark.parametrize(
    ("printed", "bus"),
    [
        ("c1000", "0000:c1:00.0"),
        ("0x60", "0000:00:06.0"),
        ("101b020", "0010:1b:02.0"),
        ("zz", None),
        ("", None),
    ],
)
def test_bus_ids_of_logs(printed: str, bus: str | None) -> None:
    assert bus_id_of_log(printed) == bus
