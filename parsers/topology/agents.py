"""The agents that rocprofv3 lists in its traces: the processors of a host and their links.

They are what the KFD tells, so all of the host, whichever of them the process used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from commscope.parsers.rocprof_agents import is_gpu
from commscope.parsers.topology.rows import Row, Rows
from commscope.parsers.topology.values import gfx_of, integer, long_integer, text_of, weight_of

TOOL = "rocprofv3"

#: Types of links of the KFD; links of CPUs (HyperTransport is 1, QPI is 5) join no GPUs.
_KINDS = {2: "pcie", 11: "xgmi"}
#: The driver weighs a link of xGMI by so much a hop.
_WEIGHT_OF_HOP = 15

Agent = Mapping[str, Any]


def rows_of_agents(agents: Iterable[Agent], host: str | None) -> Rows:
    """The GPUs and the links between them. HIP counts GPUs in the order of their nodes."""
    rows = Rows(TOOL)
    rows.host = (host or "").partition(".")[0] or None
    gpus = {
        node: agent
        for agent in agents
        if is_gpu(agent) and (node := integer(agent.get("node_id"))) is not None
    }
    for number, (node, agent) in enumerate(sorted(gpus.items())):
        rows.device(node, hip_index=number, hsa_node=node, **_values(agent))
    for node, agent in gpus.items():
        links = agent.get("io_links")
        for link in links if isinstance(links, list) else ():
            end = integer(link.get("node_to")) if isinstance(link, dict) else None
            if end in gpus:
                rows.link(node, end, **_link(link))
    rows.drop_shared_bus_ids("they are parts of one device")
    rows.remark_kinds()
    rows.remark_weights()
    return rows


def _values(agent: Agent) -> Row:
    chip = integer(agent.get("device_id"))
    return {
        "bus_id": _bus_id(agent),
        "kfd_id": long_integer(agent.get("gpu_id")) or None,
        "product": text_of(agent.get("product_name")),
        "gfx": gfx_of(agent.get("name")),
        "compute_units": integer(agent.get("cu_count")) or None,
        "device_id": f"0x{chip:04x}" if chip else None,
    }


def _bus_id(agent: Agent) -> str | None:
    """The bus id from the number in which it is packed, whose high bits may name a partition."""
    packed, domain = long_integer(agent.get("location_id")), long_integer(agent.get("domain"))
    if not packed or domain is None or domain > 0xFFFF:
        return None
    return f"{domain:04x}:{packed >> 8 & 0xFF:02x}:{packed >> 3 & 31:02x}.{packed & 7}"


def _link(link: Mapping[str, Any]) -> Row:
    kind, weight = _KINDS.get(link.get("type", 0)), weight_of(link.get("weight"))
    hops = None
    if kind == "xgmi" and weight and not weight % _WEIGHT_OF_HOP:
        hops = weight // _WEIGHT_OF_HOP
    least, most = (long_integer(link.get(f"{which}_bandwidth")) for which in ("min", "max"))
    return {
        "kind": kind,
        "weight": weight,
        "hops": hops,
        "bandwidth": f"{least or 0}-{most}" if most else None,
    }
