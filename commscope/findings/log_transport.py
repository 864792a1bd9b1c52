"""Rules on how ranks are connected, as the logs tell: shared memory, sockets, no GPUDirect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from commscope.findings.log_case import LogCase, Row, quotes, version_of
from commscope.findings.log_fabric import (
    Fabric,
    device_names,
    fabric_of,
    is_rdma,
    words_of,
)
from commscope.findings.log_sources import (
    KERNEL_6_8,
    MI300A_NOTES,
    NCCL_ENV,
    NCCL_TROUBLE,
    NO_GDR,
    RADEON_P2P,
    SLINGSHOT,
)
from commscope.findings.model import Advice, Grade, Measured
from commscope.findings.rule import NOTHING, LogDraft, LogRule, Outcome, Rule
from commscope.logs.tallies import tally
from commscope.wording import counted, listed

#: Levels of NCCL_P2P_LEVEL that keep P2P from some GPUs.
_P2P_LIMITS = {"LOC", "NVL", "XGMI", "PIX", "PXB", "0", "1", "2", "3"}
_REFUSED = r"Could not enable P2P|P2P is disabled between NVLINK|(?:hip|cuda)Ipc\w+ failed"
_NO_MEMORY_PEERS = r"GDRDMA not enabled|GPU Direct RDMA Disabled for (?:GPU|HCA)"
#: From this kernel on, RCCL up to the version below loses GPUDirect RDMA.
_KERNEL, _LAST_WITHOUT = (6, 8), (2, 20, 5)


def connections(case: LogCase) -> str | None:
    """Connections between ranks."""
    if case.table("CHANNELS").num_rows:
        return None
    return "the logs show no connection between ranks: they need NCCL_DEBUG=INFO"


def edges_of(case: LogCase, table: pa.Table, *more: str) -> list[dict[str, Any]]:
    """Connected pairs of ranks with the number of their channels, and where they first are."""
    group = pa.array(case.group_of(table))
    keys = ("group", "src", "dst", *more)
    return tally(table.append_column("group", group), keys, ["channel"])


def _pairs(edges: Sequence[Row]) -> str:
    """``2 pairs of ranks (0 -> 1, 1 -> 0)``."""
    named = listed((f"{row['src']} -> {row['dst']}" for row in edges), most=3)
    return f"{counted(len(edges), 'pair')} of ranks ({named})"


def _on(rows: Sequence[Row]) -> str:
    hosts = sorted({row["host"] for row in rows if row["host"] is not None})
    return f" on {listed(hosts)}" if hosts else ""


# C5a: shared memory between GPUs of one host


def look_shared_memory(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """C5a: host memory between GPUs of one host."""
    edges = edges_of(case, case.connections("SHM"), "host")
    if not edges:
        return NOTHING
    fabric = fabric_of(case)
    links = [link for edge in edges if (link := _link(fabric, edge)) is not None]
    why, shown, advice = _why_no_p2p(case)
    peers, severity = _peers(fabric, edges, links)
    what = f"shared memory between {peers}: {_pairs(edges)}{_on(edges)}"
    says = f"{why}, {what}" if why else f"{what}; the logs do not say why"
    draft = LogDraft(
        says,
        severity,
        quotes(*shown[:2], edges[0], *links[:1]),
        measured={"pairs": Measured(len(edges), "count")},
        confidence="high" if links or severity == "low" else "medium",
        advice=(_RADEON,) if severity == "low" else (advice, _RADEON),
    )
    return Outcome((draft,))


def _link(fabric: Fabric, edge: Row) -> Row | None:
    one, other = (fabric.bus.get((edge["group"], edge[end])) for end in ("src", "dst"))
    return fabric.link(edge["host"], one, other)


def _peers(fabric: Fabric, edges: Sequence[Row], links: Sequence[Row]) -> tuple[str, Grade]:
    """What the ends of the connections are to each other, and how bad it is."""
    if links:
        return f"{words_of(row['link'] for row in links)} peers", "high"
    if {row["host"] for row in edges} <= fabric.known_hosts:
        return "GPUs that only PCIe links", "low"
    return "peers on one host (the logs do not tell their links)", "medium"


_ALLOW_P2P = Advice(
    "Unset NCCL_P2P_DISABLE; NCCL_P2P_LEVEL=SYS permits most, LOC nothing.",
    "Host memory carries a third of what the links do: 80 against 240 GB/s on four MI300A.",
    MI300A_NOTES,
)
_ENABLE_P2P = Advice(
    "Find what keeps P2P off: a kernel without iommu=pt, ACS, a container without /dev/kfd and the "
    "render devices of all GPUs.",
    "Host memory carries a third of what the links do: 80 against 240 GB/s on four MI300A.",
    MI300A_NOTES,
)
_RADEON = Advice(
    "On Radeon cards over PCIe measure both: there P2P itself may be the slow way.",
    "On two gfx1100 each collective took 215 ms until P2P was turned off.",
    RADEON_P2P,
)


def _why_no_p2p(case: LogCase) -> tuple[str, list[Row], Advice]:
    """Why GPUs do not reach each other, the rows that say so, and what to do."""
    off = case.switched_on("NCCL_P2P_DISABLE")
    if off:
        return "P2P disabled by NCCL_P2P_DISABLE", [off], _ALLOW_P2P
    for level in case.variables.get("NCCL_P2P_LEVEL", ()):
        if str(level["value"]).upper() in _P2P_LIMITS:
            return f"P2P limited by NCCL_P2P_LEVEL={level['value']}", [level], _ALLOW_P2P
    refused, iommu = case.said(_REFUSED), case.said('Missing "iommu=pt"')
    if refused:
        return "P2P could not be enabled", [*refused[:1], *iommu[:1]], _ENABLE_P2P
    return "no P2P, and iommu=pt is missing" if iommu else "", iommu, _ENABLE_P2P


# C5b: sockets between hosts


def look_sockets(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """C5b: TCP between hosts."""
    if case.spans_hosts and not case.table("CHANNELS").num_rows and not _networks(case):
        return Outcome(unable="the logs show neither connections nor networks between hosts")
    edges = [e for e in edges_of(case, case.connections("NET/Socket")) if _crosses(case, e)]
    told = [row for row in case.members if row["network"] == "Socket" and (row["nnodes"] or 1) > 1]
    if not edges and (not told or case.connections("NET/").num_rows):
        return NOTHING
    why, shown, severity, advice = _why_sockets(case)
    where = f"{_pairs(edges)}{_interfaces(case)}" if edges else "as the communicators say"
    draft = LogDraft(
        f"TCP sockets carry the traffic between hosts ({where}): {why}",
        severity,
        quotes(*edges[:1], *told[: not edges], *shown[:2]),
        measured={"pairs": Measured(len(edges), "count")} if edges else {},
        confidence="high" if severity == "high" else "medium",
        advice=advice,
    )
    return Outcome((draft,))


def _networks(case: LogCase) -> set[str]:
    return {name for one in case.communicators for name in one.networks}


def _crosses(case: LogCase, edge: Row) -> bool:
    """Whether a connection leaves its host; where nothing tells, as the network is for that."""
    ends = [case.hosts.get((edge["group"], edge[end])) for end in ("src", "dst")]
    if None not in ends:
        return ends[0] != ends[1]
    known = edge["group"] is not None and edge["group"] >= 0
    return not known or case.communicators[edge["group"]].nnodes != 1


def _interfaces(case: LogCase) -> str:
    """Over which interfaces the sockets go."""
    names = device_names(case)
    used = tally(case.connections("NET/Socket"), ("host", "net_device"))
    found = {
        of_host[row["net_device"]]
        for row in used
        if (of_host := names.get((row["host"], True))) is not None
        and row["net_device"] is not None
        and 0 <= row["net_device"] < len(of_host)
    }
    return f" over {listed(sorted(found))}" if found else ""


_PLUGIN = Advice(
    "Make the network plugin loadable in the job (aws-ofi-rccl on Slingshot, or the one of the "
    "NIC's vendor), and the interface known: NCCL_SOCKET_IFNAME, FI_MR_CACHE_MONITOR.",
    "Without its plugin the library has only TCP, and the CPU copies all data.",
    SLINGSHOT,
)
_VERBS = Advice(
    "Install libibverbs and the NIC's provider library in the container, and give it "
    "/dev/infiniband.",
    "The library opens RDMA devices through libibverbs; without it they do not exist.",
    "https://github.com/ROCm/ROCm/issues/5656",
)
_CHOOSE = Advice(
    "Unset what turns RDMA off (NCCL_IB_DISABLE, NCCL_NET), and name the devices with NCCL_IB_HCA.",
    "TCP reaches a fraction of the NIC's rate and takes CPU time from the job.",
    NCCL_ENV,
)
_LOOK_FOR = Advice(
    "If the hosts have InfiniBand or RoCE, look in the log for why it was not found (NET/IB, "
    "NET/Plugin); else this is the network there is.",
    "TCP reaches a fraction of what RDMA does, and the CPU copies all data.",
    NCCL_TROUBLE,
)


def _why_sockets(case: LogCase) -> tuple[str, Sequence[Row], Grade, tuple[Advice, ...]]:
    off = case.switched_on("NCCL_IB_DISABLE")
    chosen = [r for r in case.variables.get("NCCL_NET", ()) if r["value"] == "Socket"]
    rdma = [row for row in case.nics if is_rdma(row)]
    slingshot = [row for row in case.nics if row["name"].startswith("hsn")]
    verbs = case.said("Failed to open libibverbs")
    if off:
        return "RDMA is disabled by NCCL_IB_DISABLE", [off], "high", (_CHOOSE,)
    if chosen:
        return "NCCL_NET=Socket asks for them", chosen, "high", (_CHOOSE,)
    if rdma:
        names = listed(sorted({row["name"] for row in rdma}))
        return f"although there are RDMA devices ({names})", rdma, "high", (_CHOOSE,)
    if slingshot:
        names = listed(sorted({row["name"] for row in slingshot}))
        why = f"there are Slingshot interfaces ({names}), but no plugin for them was loaded"
        return why, slingshot, "high", (_PLUGIN,)
    if verbs:
        return "libibverbs could not be opened", verbs, "high", (_VERBS,)
    return "the logs list no RDMA device", (), "medium", (_LOOK_FOR,)


# C5c: no GPUDirect RDMA


def look_gpu_direct(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """C5c: network connections that go through host memory."""
    table = case.connections(r"(?:COLL)?NET/(?!Socket)")
    rows = tally(table, ("gpu_direct", "direction"), ["rank"])
    indirect = [row for row in rows if not row["gpu_direct"]]
    if not table.num_rows:
        return without_rdma(case)
    if not indirect:
        return NOTHING
    what, severity = _how_indirect(rows, indirect)
    why, shown, advice = _why_indirect(case)
    draft = LogDraft(
        f"{what}: the data goes through host memory{why}",
        severity,
        quotes(indirect[0], *shown[:2]),
        measured={"connections": Measured(sum(row["count"] for row in indirect), "count")},
        advice=advice,
    )
    return Outcome((draft,))


def without_rdma(case: LogCase) -> Outcome[LogDraft]:
    """What rules on RDMA say where no connection goes over it."""
    if not case.spans_hosts:
        return NOTHING
    return Outcome(unable="no connection in the logs goes over a network with RDMA")


def _how_indirect(rows: Sequence[Row], indirect: Sequence[Row]) -> tuple[str, Grade]:
    if len(indirect) == len(rows):
        return "no network connection uses GPUDirect RDMA", "high"
    directions = {row["direction"] for row in indirect}
    if len(directions) == 1 and not any(
        row["gpu_direct"] for row in rows if row["direction"] in directions
    ):
        verb = {"send": "sending", "receive": "receiving"}.get(directions.pop() or "", "one end")
        return f"{verb} does not use GPUDirect RDMA, the other direction does", "medium"
    count, every = (sum(row["count"] for row in of) for of in (indirect, rows))
    return f"{count:,} of {every:,} network connections do not use GPUDirect RDMA", "medium"


_PEER_MEMORY = Advice(
    "Load the peer-memory driver or use DMA-BUF (NCCL_DMABUF_ENABLE=1), turn ACS off, and check "
    "NCCL_NET_GDR_LEVEL against the distance of GPU and NIC.",
    "Without it each message is copied to host memory first: half the rate or less.",
    NO_GDR,
)
_NEWER = Advice(
    "RCCL from 2.21.5 (ROCm 6.3) on, or a kernel before 6.8.",
    "RCCL up to 2.20.5 does not find GPUDirect RDMA on newer kernels.",
    KERNEL_6_8,
)


def kernel_without_gdr(case: LogCase) -> list[Row]:
    """The rows that name the kernel and RCCL, where these two lose GPUDirect RDMA."""
    kernel = [r for r in case.versions("kernel") if version_of(r["version"])[:2] >= _KERNEL]
    rccl = [r for r in case.versions("rccl") if version_of(r["version"]) <= _LAST_WITHOUT]
    return [kernel[0], rccl[0]] if kernel and rccl else []


def _why_indirect(case: LogCase) -> tuple[str, Sequence[Row], tuple[Advice, ...]]:
    known = kernel_without_gdr(case)
    if known:
        kernel, rccl = (row["version"] for row in known)
        why = f" (RCCL {rccl} is known to lose GPUDirect RDMA on Linux {kernel})"
        return why, known, (_NEWER,)
    level = case.variables.get("NCCL_NET_GDR_LEVEL", ())
    said = case.said(_NO_MEMORY_PEERS)
    if level:
        return f" (NCCL_NET_GDR_LEVEL={level[0]['value']})", level, (_PEER_MEMORY,)
    return "", said, (_PEER_MEMORY,)


RULES: tuple[LogRule, ...] = (
    Rule(
        "C5a", "log", "Shared memory between GPUs of a host",
        "Do GPUs of one host exchange data through host memory?",
        look_shared_memory,
        (_ALLOW_P2P, _ENABLE_P2P, _RADEON),
        needs=(connections,),
    ),
    Rule(
        "C5b", "log", "Sockets between hosts",
        "Does TCP carry what RDMA could?",
        look_sockets,
        (_CHOOSE, _PLUGIN, _VERBS, _LOOK_FOR),
    ),
    Rule(
        "C5c", "log", "No GPUDirect RDMA",
        "Do network connections go through host memory?",
        look_gpu_direct,
        (_PEER_MEMORY, _NEWER),
        needs=(connections,),
    ),
)  # fmt: skip
