"""Agents that rocprofv3 lists in its traces, as the topology of a host."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import topology_samples as samples
from support import case

from commscope.engine.topology import find_topology, load_topology, topology_beside
from commscope.errors import UnknownFormat
from commscope.parsers.topology.agents import rows_of_agents
from commscope.topology.model import Topology

JSON = "amd/rocprofv3_json/mi350_train_908_results.json.gz"
DATABASE = "amd/rocpd/bmm_20251223_e81697c6bc31_15_results.db.gz"


def agent(node: int, *links: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": 2, "node_id": node, "location_id": node << 8, "domain": 0, "gpu_id": 1000 + node,
        "name": "gfx942", "product_name": "AMD Instinct MI300X", "device_id": 0x74A1,
        "cu_count": 304, "hive_id": 2**64 - 1, "io_links": list(links), **more,
    }  # fmt: skip


def link(begin: int, end: int, kind: int = 11, weight: int = 15, most: int = 0) -> dict[str, Any]:
    return {
        "type": kind, "node_from": begin, "node_to": end, "weight": weight,
        "min_bandwidth": 0, "max_bandwidth": most,
    }  # fmt: skip


CPU = {"type": 1, "node_id": 0, "io_links": [link(0, 1, 2, 20, 64000)]}
AGENTS = [CPU, agent(1, link(1, 0, 2, 20), link(1, 2)), agent(2, link(2, 1))]


def document(path: Path, agents: object = AGENTS, host: object = "node7.example.org") -> Path:
    process = {"metadata": {"node": {"id": 0, "hostname": host}, "pid": 1}, "agents": agents,
               "counters": [], "strings": {}}  # fmt: skip
    path.write_text(json.dumps({"rocprofiler-sdk-tool": [process]}))
    return path


def database(path: Path, *hosts: str) -> Path:
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE rocpd_info_node_r (id, hostname)")
        file.execute("CREATE TABLE rocpd_info_agent_r (id, nid, type, extdata)")
        for nid, host in enumerate(hosts):
            file.execute("INSERT INTO rocpd_info_node_r VALUES (?, ?)", (nid, host))
            for number, one in enumerate(AGENTS):
                row = (number, nid, "GPU", json.dumps(one))
                file.execute("INSERT INTO rocpd_info_agent_r VALUES (?, ?, ?, ?)", row)
    file.close()
    return path


def topology(*paths: Path) -> Topology:
    found = find_topology(paths)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "gpu", "first", "bandwidth"),
    [
        (JSON, ("AMD Instinct MI350X", "gfx950", 256), "0000:75:00.0", None),
        (DATABASE, ("AMD Instinct MI300X", "gfx942", 304), "0000:0c:00.0", "64000-64000"),
    ],
)
def test_real_traces(name: str, gpu: tuple[Any, ...], first: str, bandwidth: str | None) -> None:
    """Eight GPUs, each joined with each by one hop of xGMI."""
    found = topology(case(name))
    assert (len(found.hosts), found.notes) == (1, ())
    assert [device.hsa_node for device in found.devices] == list(range(2, 10))
    assert [device.hip_index for device in found.devices] == list(range(8))
    assert {(it.product, it.gfx, it.compute_units) for it in found.devices} == {gpu}
    assert (found.devices[0].bus_id, len({it.bus_id for it in found.devices})) == (first, 8)
    kinds = Counter((it.kind, it.weight, it.hops, it.bandwidth) for it in found.links)
    assert kinds == {("xgmi", 15, 1, bandwidth): 28}
    assert found.is_mesh(found.devices)


def test_hosts_of_one_folder_stay_apart() -> None:
    found = topology(case("amd/rocpd"))
    assert (len(found.hosts), len(found.devices), len(found.links)) == (3, 24, 84)
    assert found.notes == ()


@pytest.mark.parametrize("form", ["json", "db"])
def test_a_small_one(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{form}"
    found = topology(document(path) if form == "json" else database(path, "node7.example.org"))
    assert found.hosts == ("node7",)
    assert [(it.bus_id, it.hsa_node, it.kfd_id) for it in found.devices] == [
        ("0000:01:00.0", 1, 1001), ("0000:02:00.0", 2, 1002),
    ]  # fmt: skip
    (only,) = found.links
    assert (only.kind, only.weight, only.hops, only.ends) == (
        "xgmi", 15, 1, ("0000:01:00.0", "0000:02:00.0"),
    )  # fmt: skip


def test_ranks_of_a_host_show_one_picture(tmp_path: Path) -> None:
    for rank in range(3):
        document(tmp_path / f"{rank}.json")
    database(tmp_path / "all.db", "node7", "node8")
    found = topology(tmp_path)
    assert sorted(found.hosts) == ["node7", "node8"]
    assert (len(found.devices), len(found.links), found.notes) == (4, 2, ())


def test_they_join_what_tools_say(tmp_path: Path) -> None:
    """Both tell nodes and ids of the KFD."""
    agents = [agent(2, link(2, 3), gpu_id=51140), agent(3, link(3, 2), gpu_id=51141)]
    document(tmp_path / "a.json", agents, host="")
    (tmp_path / "smi.txt").write_bytes(samples.ROCM_MORE)
    found = topology(tmp_path)
    told = [(it.bus_id, it.rocm_smi_index, it.files) for it in found.devices]
    files = ("a.json", "smi.txt")
    assert told == [("0000:02:00.0", 0, files), ("0000:03:00.0", 1, files)]
    assert [it.kind for it in found.links] == ["xgmi"]


def test_beside_traces_and_given(tmp_path: Path) -> None:
    """What is given must be one; what lies beside it, and in traces, is found."""
    trace, smi = document(tmp_path / "a.json", host=""), tmp_path / "smi.txt"
    smi.write_bytes(samples.ROCM_MORE)
    (tmp_path / "x.txt").write_text("no topology")
    assert topology_beside(["-"], []) is None
    for beside, given, devices in (([trace], [], 2), ([trace, "-"], [smi], 4), ([], [smi], 2)):
        found = topology_beside(beside, given)
        assert found is not None
        assert len(found.devices) == devices
    with pytest.raises(UnknownFormat):
        topology_beside([trace], [tmp_path / "x.txt"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (link(1, 2, 11, 30), ("xgmi", 30, 2, None)),
        (link(1, 2, 11, 0), ("xgmi", None, None, None)),
        (link(1, 2, 11, 41, 50_000), ("xgmi", 41, None, "0-50000")),
        (link(1, 2, 2, 40), ("pcie", 40, None, None)),
        (link(1, 2, 9, 7), (None, 7, None, None)),
        ({"node_to": 2, "type": "x", "weight": None}, (None, None, None, None)),
    ],
)
def test_links(given: dict[str, Any], told: tuple[Any, ...]) -> None:
    rows = rows_of_agents([agent(1, given), agent(2)], None)
    (row,) = rows.links.values()
    assert tuple(row.get(name) for name in ("kind", "weight", "hops", "bandwidth")) == told


def test_partitions_share_their_bus_id() -> None:
    agents = [agent(node, location_id=0x0C00) for node in (1, 2)]
    rows = rows_of_agents(agents, "h")
    assert [row.get("bus_id") for row in rows.devices] == [None, None]
    assert rows.remarks == ["several GPUs have one bus id, as they are parts of one device"]


@pytest.mark.parametrize(
    "agents", [[], [CPU], [{}], [{"type": 2}], [agent(1, io_links=7), 3], "x", [agent(-1)]]
)
def test_what_lists_no_gpu_is_no_topology(agents: object, tmp_path: Path) -> None:
    path = document(tmp_path / "a.json", agents)
    assert find_topology([path]) is None
    with pytest.raises(UnknownFormat, match="on no topology of a host"):
        load_topology([path])


def test_damage_is_for_who_reads_the_trace(tmp_path: Path) -> None:
    for path in (document(tmp_path / "a.json"), database(tmp_path / "a.db", "h")):
        data = path.read_bytes()
        assert len(topology(path).devices) == 2
        for part in range(10):
            path.write_bytes(data[: len(data) * part // 10])
            found = find_topology([path])
            assert found is None or len(found.devices) == 2
    assert find_topology([document(tmp_path / "b.json", host={"x": []})]) is not None


def test_a_lone_surrogate_in_the_hosts_name_becomes_a_question_mark(tmp_path: Path) -> None:
    assert topology(document(tmp_path / "1_results.json", host="node\ud800")).hosts == ("node?",)
