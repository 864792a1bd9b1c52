"""Every other form that the tools write: small outputs by hand."""

from __future__ import annotations

import pytest
import topology_samples as samples
from topology_samples import known, read, rows

from commscope.schema import conform
from commscope.topology_schema import TOPOLOGY_TABLES

_XGMI = {"kind": "xgmi", "hops": 1, "weight": 15}


def test_rocm_smi_json_behind_a_warning() -> None:
    file = read(samples.ROCM_JSON)
    assert known(file, "LINKS") == [{"src": 0, "dst": 1, **_XGMI, "status": "enabled"}]
    first, second = known(file, "DEVICES")
    assert first["bus_id"] == "0000:0c:00.0"
    # Some builds swap series and model.
    assert (second["product"], second["device_id"]) == ("AMD Instinct MI300X", "0x74a1")
    assert (second["hsa_node"], second["kfd_id"], second["numa_node"]) == (3, 41, 1)
    assert rows(file, "FACTS", "name", "value") == [("amdgpu driver", "6.8.5")]


def test_rocm_smi_tells_numbers_in_short_and_access_between_gpus() -> None:
    file = read(samples.ROCM_MORE)
    assert rows(file, "DEVICES", "smi_index", "hsa_node", "device_id", "kfd_id") == [
        (0, 2, "0x74a1", 51140),
        (1, 3, "0x74a1", 51141),
    ]
    assert set(rows(file, "LINKS", "kind", "status")) == {(None, "disabled")}
    assert file.remarks == ()
    older = read(samples.ROCM_OLD_CONCISE)
    assert known(older, "DEVICES") == [{"smi_index": 0, "device_id": "0x74a1"}]


def test_rocm_smi_csv() -> None:
    file = read(samples.ROCM_CSV)
    assert known(file, "LINKS") == [{"src": 0, "dst": 1, "kind": "pcie", "hops": 2, "weight": 40}]
    assert rows(file, "DEVICES", "smi_index", "numa_node", "bus_id") == [
        (0, 0, "0000:0c:00.0"),
        (1, 1, "0000:22:00.0"),
    ]


def test_amd_smi_list_tells_the_numbers_of_hip_and_hsa() -> None:
    first, second = known(read(samples.AMD_LIST), "DEVICES")
    assert (first["smi_index"], first["hip_index"], first["hsa_node"]) == (0, 1, 9)
    assert (second["smi_index"], second["hip_index"], second["kfd_id"]) == (1, 0, 27976)
    assert second["bus_id"] == "0000:8b:00.0"


def test_amd_smi_static_says_the_same_as_text_and_as_json() -> None:
    text, document = read(samples.AMD_STATIC), read(samples.AMD_STATIC_JSON)
    expected = {
        "smi_index": 0,
        "bus_id": "0000:83:00.0",
        "product": "AMD Instinct MI325X",
        "device_id": "0x74a5",
        "gfx": "gfx942",
        "compute_units": 304,
        "numa_node": 1,
        "pcie_gts": 32.0,
        "pcie_width": 16,
    }
    assert known(text, "DEVICES") == [{**expected, "oam_id": 6}]
    assert known(document, "DEVICES") == [expected]
    for file in (text, document):
        assert rows(file, "FACTS", "name", "value") == [("amdgpu driver", "6.12.12")]


def test_amd_smi_csv_flattens_the_old_tables() -> None:
    file = read(samples.AMD_CSV)
    assert known(file, "LINKS") == [
        {"src": 0, "dst": 1, **_XGMI},
        {"src": 1, "dst": 0, **_XGMI},
    ]


def test_amd_smi_xgmi_tells_bus_ids_and_rates() -> None:
    file = read(samples.AMD_XGMI)
    assert rows(file, "DEVICES", "bus_id") == ["0000:0c:00.0", "0000:22:00.0"]
    assert rows(file, "FACTS", "value") == ["32 Gb/s", "512 Gb/s"]


def test_nvidia_topology_with_network_devices() -> None:
    file = read(samples.NVIDIA_TOPO)
    assert rows(file, "NETS", "name", "index") == [("mlx5_0", 0), ("mlx5_3", 1)]
    told = rows(file, "LINKS", "src", "dst", "net", "kind", "count", "path")
    assert told == [
        (0, 1, None, "nvlink", 12, None),
        (0, None, 0, "pcie", None, "PIX"),
        (0, None, 1, "pcie", None, "SYS"),
        (1, 0, None, "nvlink", 12, None),
        (1, None, 0, "pcie", None, "SYS"),
        (1, None, 1, "pcie", None, "PXB"),
    ]
    assert rows(file, "DEVICES", "numa_affinity") == [0, 1]


def test_nvidia_lists() -> None:
    listed, queried = read(samples.NVIDIA_LIST), read(samples.NVIDIA_QUERY)
    assert rows(listed, "DEVICES", "product") == ["NVIDIA A100-SXM4-80GB"] * 2
    assert rows(queried, "DEVICES", "nvml_index", "bus_id") == [
        (0, "0000:00:06.0"),
        (1, "0000:00:07.0"),
    ]
    assert rows(listed, "DEVICES", "uuid") == rows(queried, "DEVICES", "uuid")


def test_rocminfo_tells_gpus_only_and_unpacks_bus_ids() -> None:
    file = read(samples.ROCMINFO)
    assert known(file, "DEVICES") == [
        {
            "hip_index": 0,
            "hsa_node": 1,
            "bus_id": "0000:83:00.0",
            "uuid": "gpu-45d0c32dfea52974",
            "product": "AMD Instinct MI300X VF",
            "device_id": "0x74b5",
            "gfx": "gfx942",
            "compute_units": 304,
        }
    ]
    facts = [("rocr version", "1.14"), ("dmabuf support", "YES")]
    assert rows(file, "FACTS", "name", "value") == facts


def test_rocminfo_does_not_trust_bus_ids_without_domains_that_are_shared() -> None:
    agent = samples.ROCMINFO.partition(b"Agent 2")[2].partition(b"*** Done")[0]
    again = b"*******\nAgent 3" + agent.replace(b"Node:                    1", b"Node:  2")
    file = read(samples.ROCMINFO.replace(b"*** Done ***\n", again))
    assert rows(file, "DEVICES", "hsa_node", "bus_id") == [(1, None), (2, None)]
    assert file.remarks


def test_hipconfig_tells_versions() -> None:
    facts = dict(rows(read(samples.HIPCONFIG), "FACTS", "name", "value"))
    assert facts["hip version"] == "6.4.43484-123eb5128"
    assert facts["rocm path"] == "/opt/rocm-6.4.2"


def test_links_to_a_switch_join_all_that_have_some() -> None:
    file = read(samples.SWITCHED_XML)
    assert rows(file, "LINKS", "src", "dst", "net", "kind", "count") == [
        (0, 1, None, "nvlink", 18),
        (1, 0, None, "nvlink", 18),
        (0, None, 0, "pcie", None),
        (1, None, 0, "pcie", None),
    ]
    assert (
        rows(file, "DEVICES", "gfx", "compute_units", "numa_node", "pcie_width")
        == [("sm_90", None, None, None)] * 2
    )
    assert rows(file, "NETS", "bus_id", "speed_gbps", "gdr") == [(None, 1.25, False)]


def test_graphs_tell_rings_with_numbers_in_either_base() -> None:
    file = read(samples.GRAPH_XML)
    told = rows(file, "RINGS", "graph", "name", "channel", "devices", "nets")
    assert told == [
        (0, "ring", 0, [0, 1], ["0", "0"]),
        (0, "ring", 1, [1, 0], []),
        (3, "nvls", 0, [0], []),
    ]
    assert rows(file, "RINGS", "intra_gbps", "inter_gbps", "intra_link")[0] == (30.0, 20.5, "NVL")


def test_a_manifest_tells_the_host_and_no_secret() -> None:
    file = read(samples.MANIFEST)
    assert file.host == "node7"
    told = rows(file, "FACTS", "name", "value")
    assert told == [("numa balancing", "1"), ("kernel flags", "iommu=pt"), ("NCCL_DEBUG", "INFO")]
    assert file.remarks == ("amd-smi list: did not end within 20 s and was ended",)
    assert "hunter2" not in repr(file)


def test_a_console_with_several_outputs_holds_them_all() -> None:
    data = samples.AMD_LIST + b"$ rocminfo\n" + samples.ROCMINFO + b"\n" + samples.HIPCONFIG
    found = samples.read_topology(data, "console", samples.formats_of(data))
    assert [file.tool for file in found] == ["amd-smi", "rocminfo", "hipconfig"]


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_tables_are_those_that_are_declared(name: str) -> None:
    for table, schema in TOPOLOGY_TABLES.items():
        conform(read(samples.SAMPLES[name]).tables[table], schema, table)
