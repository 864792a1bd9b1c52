"""Links between devices, as the tree and the paths of the subsystem GRAPH show them."""

from __future__ import annotations

from typing import Any

import pytest
from log_samples import joined, read_text
from support import case

from commscope.engine.logs import load_logs

TREE = (
    "=== System : maxBw 48.0 totalBw 336.0 ===",
    "CPU/0-0 (1/2/6)",
    "+ PCI[24.0] - PCI/0-1000 (1002147800000000)",
    "              + PCI[24.0] - GPU/0-3000 (0)",
    "                            + XGMI[48.0] - GPU/0-b000",
    "                            + NVL[370.8] - NVS/0",
    "              + PCI[24.0] - NIC/0-4000",
    "+ PCI[24.0] - GPU/0-b000 (1)",
    "              + XGMI[48.0] - GPU/0-3000",
    "==========================================",
)


def _rows(kind: str, *lines: str) -> list[tuple[Any, ...]]:
    table = read_text(joined(lines)).tables["GRAPHS"]
    return [
        (row["name"], row["peer"], row["link"], row["bandwidth_gbps"])
        for row in table.to_pylist()
        if row["kind"] == kind
    ]


def _said(*messages: str, pid: int = 1, host: str = "n1") -> list[str]:
    return [f"{host}:{pid}:{pid} [0] NCCL INFO {message}" for message in messages]


def test_what_is_below_a_gpu_is_linked_to_it() -> None:
    assert _rows("link", *_said(*TREE)) == [
        ("GPU/0-3000", "GPU/0-b000", "XGMI", 48.0),
        ("GPU/0-3000", "NVS/0", "NVL", 370.8),
        ("GPU/0-b000", "GPU/0-3000", "XGMI", 48.0),
    ]


def test_processes_of_a_host_tell_the_same_tree_once() -> None:
    both = [line for pair in zip(_said(*TREE), _said(*TREE, pid=2)) for line in pair]
    assert len(_rows("link", *both)) == 3
    assert len(_rows("link", *both, *_said(*TREE, host="n2"))) == 6


@pytest.mark.parametrize("line", ["+ XGMI[48.0] - GPU/0-b000", " + NVL[x] - NVS/0", "+ nothing"])
def test_a_tree_without_its_gpu_tells_nothing(line: str) -> None:
    assert _rows("link", *_said(line)) == []


def test_paths_lead_to_switches_and_networks_too() -> None:
    line = (
        "GPU/0-60 :GPU/0-60 (0/5000.0/LOC) GPU/0-70 (2/48.0/PHB) NVS/0-0 (1/370.8/NVL) "
        "NET/0-0 (3/1.2/PHB) "
    )
    assert _rows("path", *_said(line)) == [
        ("GPU/0-60", "GPU/0-70", "PHB", 48.0),
        ("GPU/0-60", "NVS/0-0", "NVL", 370.8),
        ("GPU/0-60", "NET/0-0", "PHB", 1.2),
    ]


def test_links_of_a_run_without_p2p() -> None:
    table = load_logs([case("h200/ddp_shm_stdout")]).logs.tables["GRAPHS"]
    links = [row for row in table.to_pylist() if row["kind"] == "link"]
    assert [(row["name"], row["peer"], row["link"]) for row in links] == [
        ("GPU/0-60", "NVS/0-0", "NVL"),
        ("GPU/0-70", "NVS/0-0", "NVL"),
    ]
