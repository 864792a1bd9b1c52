"""Rules on the links that are used, as the logs tell: xGMI and NVLink, network devices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import pyarrow as pa

from commscope.analysis.hardware import MI300X
from commscope.columns import where_word
from commscope.findings.log_case import LogCase, Row, quotes
from commscope.findings.log_fabric import Fabric, device_names, fabric_of, words_of
from commscope.findings.log_sources import RADEON_P2P, USAGE_TIPS, XGMI_BLOG
from commscope.findings.log_transport import connections, edges_of, without_rdma
from commscope.findings.model import Advice, Measured
from commscope.findings.rule import NOTHING, Limit, LogDraft, LogRule, Outcome, Rule
from commscope.logs.tallies import tally
from commscope.wording import listed

#: Rings of more rows are not looked at one by one.
_MOST_RINGS = 200_000
#: Kinds of paths from a GPU to its NIC that cross the CPU.
_FAR = ("PHB", "SYS")
_RDMA = r"NET/(?!Socket)"
#: From MI300 on, as RCCL counts its links, all GPUs of a host are linked to each other.
_MESH_GBPS = MI300X.model_gbps
_MESH_RANKS = 8


def topology(case: LogCase) -> str | None:
    """Paths or links between GPUs."""
    if case.fabric:
        return None
    return "the logs show no topology: they need NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH"


# C5d: rings that leave the links


def look_rings(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """C5d: neighbours in a ring, on one host, that no link joins."""
    fabric = fabric_of(case)
    edges = _ring_edges(case)
    if not edges:
        return Outcome(unable="the logs show no rings: they need NCCL_DEBUG=INFO")
    astray = {edge: row for edge, row in edges.items() if _is_astray(case, fabric, *edge)}
    if not astray:
        return NOTHING
    named = listed((f"{one} -> {other}" for _, one, other in astray), most=3)
    group, one, _ = next(iter(astray))
    links = fabric.fast[case.hosts[group, one], fabric.bus[group, one]]
    shown = next(iter(links.values()))
    says = (
        f"rings leave {words_of([shown['link']])} inside a host: no link joins ranks {named}, "
        "though both GPUs have links to others"
    )
    measured = {"pairs": Measured(len(astray), "count")}
    lines = quotes(next(iter(astray.values())), shown)
    return Outcome((LogDraft(says, "medium", lines, measured=measured),))


def _ring_edges(case: LogCase) -> dict[tuple[int, int, int], Row]:
    """(group, rank, next rank) -> the first row that says so."""
    table = case.table("GRAPHS")
    table = table.append_column("group", pa.array(case.group_of(table)))
    rings = table.filter(pa.array(where_word(table, "kind", ("ring", "ring_list").__contains__)))
    edges: dict[tuple[int, int, int], Row] = {}
    for row in rings.slice(0, _MOST_RINGS).to_pylist():
        for one, other in _neighbours(row):
            edges.setdefault((row["group"], one, other), row)
    return edges


def _neighbours(row: Row) -> Iterator[tuple[int, int]]:
    ranks = row["ranks"]
    if row["kind"] == "ring":
        ranks = ranks[1:]
    pairs = pairwise(ranks)
    return ((one, other) for one, other in pairs if None not in (one, other) and one != other)


def _is_astray(case: LogCase, fabric: Fabric, group: int, one: int, other: int) -> bool:
    hosts = [case.hosts.get((group, rank)) for rank in (one, other)]
    if hosts[0] is None or hosts[0] != hosts[1]:
        return False
    devices = [fabric.bus.get((group, rank)) for rank in (one, other)]
    both_linked = all(device and (hosts[0], device) in fabric.fast for device in devices)
    return both_linked and fabric.link(hosts[0], *devices) is None


# L2: network devices


def look_nics(case: LogCase, limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L2: devices that carry more than others or nothing, or are far from their GPU."""
    loads = _loads(case)
    whole = {host: load for host, load in loads.items() if _is_whole(case, host)}
    drafts = [*_uneven(whole, limits["max_imbalance"]), *_unused(case, whole), *_far(case, loads)]
    if drafts:
        return Outcome(tuple(drafts))
    if not loads:
        return without_rdma(case)
    if not whole:
        return Outcome(unable="of no host the logs hold all ranks: its devices cannot be compared")
    return NOTHING


def _loads(case: LogCase) -> dict[str, dict[int, dict[str, Any]]]:
    """Host -> network device -> its connections."""
    table = case.connections(_RDMA)
    loads: defaultdict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for row in tally(table, ("host", "net_device"), ["channel", "rank"]):
        if row["host"] is not None and row["net_device"] is not None:
            loads[row["host"]][row["net_device"]] = row
    return loads


def _is_whole(case: LogCase, host: str) -> bool:
    """Whether the logs hold all ranks of a host, in the largest communicator."""
    mine = case.local.get(host, [])
    told: int | None = next((row["local_ranks"] for row in mine if row["local_ranks"]), None)
    if told is not None:
        return len({row["rank"] for row in mine}) == told
    return bool(mine) and case.communicators[0].missing == 0


def _uneven(loads: Mapping[str, Mapping[int, dict[str, Any]]], most: float) -> Iterator[LogDraft]:
    found = []
    for host, load in loads.items():
        counts = {device: row["count"] for device, row in load.items()}
        ratio = max(counts.values()) * len(counts) / sum(counts.values())
        if ratio > most:
            found.append((ratio, host, counts))
    if not found:
        return
    ratio, host, counts = max(found, key=lambda one: one[0])
    busy, calm = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    yield LogDraft(
        f"network devices carry unequal loads: on {host} device {busy} has {counts[busy]:,} "
        f"connections, device {calm} has {counts[calm]:,} ({len(found)} of {len(loads)} hosts)",
        "medium",
        quotes(loads[host][busy], loads[host][calm]),
        measured={"imbalance": Measured(ratio, "ratio")},
    )


def _unused(case: LogCase, loads: Mapping[str, Mapping[int, dict[str, Any]]]) -> Iterator[LogDraft]:
    """Devices that carry nothing, although there are ranks enough for all."""
    known = device_names(case)
    for host, load in loads.items():
        names = known.get((host, False), [])
        ranks = len({row["rank"] for row in case.local[host]})
        if len(load) < min(len(names), ranks):
            idle = [name for number, name in enumerate(names) if number not in load]
            shown = next(row for row in case.nics if row["host"] == host)
            yield LogDraft(
                f"{len(idle)} of {len(names)} network devices of {host} carry nothing "
                f"({listed(idle)}), with {ranks} ranks there",
                "medium",
                quotes(shown, *list(load.values())[:1]),
                measured={"idle_devices": Measured(len(idle), "count")},
            )
            return


def _far(case: LogCase, loads: Mapping[str, Any]) -> Iterator[LogDraft]:
    """A pattern whose path to the network crosses the CPU."""
    if not loads:
        return
    table = case.table("GRAPHS")
    table = table.append_column("group", pa.array(case.group_of(table)))
    patterns = table.filter(pa.array(where_word(table, "kind", "pattern".__eq__)))
    for row in patterns.slice(0, _MOST_RINGS).to_pylist():
        spans = row["group"] >= 0 and (case.communicators[row["group"]].nnodes or 1) > 1
        if spans and row["name"] == "ring" and row["inter_link"] in _FAR:
            yield LogDraft(
                f"the path between GPU and network device is {row['inter_link']}: it crosses the "
                "CPU, which PIX and PXB do not",
                "medium",
                quotes(row),
            )
            return


# L11: few GPUs of a full mesh


def look_few_gpus(case: LogCase, limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L11: communicators of 2 to 7 GPUs where each GPU has a link to each of seven others."""
    fabric = fabric_of(case)
    drafts = []
    for group, one in enumerate(case.communicators):
        ranks = one.nranks or 0
        if not 2 <= ranks < _MESH_RANKS or one.nnodes not in (None, 1):
            continue
        link = _mesh_link(case, fabric, group, one.members)
        channels = max(one.coll_channels, default=0)
        if link is None or (ranks == 2 and channels > limits["max_channels"]):
            continue
        says = (
            f"{case.group_name(group)} has {ranks} GPUs of a full mesh: each uses {ranks - 1} of "
            f"its {_MESH_RANKS - 1} xGMI links"
        )
        measured = {"channels": Measured(channels, "count")} if channels else {}
        drafts.append(LogDraft(says, "low", quotes(link), measured=measured))
    return Outcome(tuple(drafts[:1]))


def _mesh_link(case: LogCase, fabric: Fabric, group: int, members: tuple[int, ...]) -> Row | None:
    """A link of the mesh between two members."""
    if case.library != "rccl" or len(members) < 2:
        return None
    host = case.hosts.get((group, members[0]))
    row = fabric.link(host, *(fabric.bus.get((group, rank)) for rank in members[:2]))
    is_mesh = row is not None and row["link"] == "XGMI"
    return row if is_mesh and row and (row["bandwidth_gbps"] or 0) >= _MESH_GBPS else None


# C5f: P2P over PCIe


def look_pcie(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """C5f: GPUs of AMD that reach each other's memory over PCIe."""
    if case.library is None:
        return Outcome(unable="the logs do not say whether this is RCCL or NCCL")
    fabric = fabric_of(case)
    for edge in edges_of(case, case.connections("P2P"), "host"):
        ends = [fabric.bus.get((edge["group"], edge[end])) for end in ("src", "dst")]
        path = fabric.paths.get((edge["host"], *ends)) if None not in ends else None
        if case.library == "rccl" and path and not fabric.has_links(edge["host"]):
            says = (
                f"P2P goes over PCIe ({path['link']}, {path['bandwidth_gbps']:g} GB/s as the "
                "library counts it): on Radeon cards that can be slower than shared memory"
            )
            return Outcome((LogDraft(says, "low", quotes(edge, path), confidence="medium"),))
    return NOTHING


RULES: tuple[LogRule, ...] = (
    Rule(
        "C5d", "log", "Rings leave the links",
        "Do neighbours in a ring on one host have no link between them?",
        look_rings,
        (
            Advice(
                "Choose the GPUs of the group and their order (HIP_VISIBLE_DEVICES, rank order) so "
                "that neighbours are linked.",
                "A ring is as fast as its slowest hop, and PCIe is several times slower.",
                XGMI_BLOG,
            ),
        ),
        needs=(topology,),
    ),
    Rule(
        "C5f", "log", "P2P over PCIe",
        "Do GPUs reach each other over PCIe, where that may be the slow way?",
        look_pcie,
        (
            Advice(
                "Measure an all_reduce with and without NCCL_P2P_DISABLE=1.",
                "On two gfx1100 each collective took 215 ms, whatever its size, until P2P was off.",
                RADEON_P2P,
            ),
        ),
        needs=(connections, topology),
    ),
    Rule(
        "L2", "log", "Network devices unevenly used",
        "Do some network devices carry more than others, or lie far from their GPUs?",
        look_nics,
        (
            Advice(
                "Map one NIC to each GPU on its PCIe switch, and name exactly those with "
                "NCCL_IB_HCA (without bonds: ^bond).",
                "The busiest device decides how fast a collective is.",
                "https://github.com/NVIDIA/nccl/issues/676",
            ),
        ),
        {"max_imbalance": Limit(1.5, "ratio", "connections of the busiest device, over the mean")},
        needs=(connections,),
    ),
    Rule(
        "L11", "log", "Few GPUs of a full mesh",
        "Does a communicator use a part of the links of a full mesh only?",
        look_few_gpus,
        (
            Advice(
                "Prefer groups of 8; for 2 GPUs more channels help (NCCL_MIN_NCHANNELS).",
                "In a full mesh each pair has a link of its own: 2 GPUs reach 45 to 61 GB/s, and "
                "5 to 7 use their links unevenly.",
                XGMI_BLOG,
            ),
            Advice(
                "Compare with rccl-tests on the same number of GPUs before calling it slow.",
                "What can be reached depends on the size of the group.",
                USAGE_TIPS,
            ),
        ),
        {"max_channels": Limit(32, "count", "channels of two GPUs; with more they were tuned")},
        needs=(topology,),
    ),
)  # fmt: skip
