"""What is shown of a topology: hosts in a sentence, and what their links allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from commscope.topology.bandwidth import Expectation, expected_allreduce
from commscope.topology.model import LINK_NAMES, Device, Link, Topology
from commscope.wording import counted

#: Numbers of devices by the tool that counts so.
NUMBERS = {
    "rocm_smi_index": "rocm-smi",
    "amd_smi_index": "amd-smi",
    "nvml_index": "nvidia-smi",
    "hip_index": "HIP",
    "hsa_node": "node",
    "dump_index": "dump",
    "rank": "rank",
}
_MOST_PAIRS = 2048


@dataclass(frozen=True, slots=True)
class Expected:
    """What groups of one kind may reach: how many there are, and the first of them."""

    host: str
    what: str  #: all GPUs, or pair
    groups: int
    devices: tuple[str, ...]
    expectation: Expectation

    def to_dict(self) -> dict[str, Any]:
        """As what JSON can hold."""
        return {
            "host": self.host,
            "what": self.what,
            "groups": self.groups,
            "devices": list(self.devices),
            **asdict(self.expectation),
        }


def expectations(topology: Topology, product: str | None = None) -> list[Expected]:
    """Of each host all its devices, and pairs by what they may reach."""
    return [
        found for host in topology.hosts for found in _expectations(topology, host, product)
    ]  # fmt: skip


def _expectations(topology: Topology, host: str, product: str | None) -> Iterator[Expected]:
    devices = topology.devices_of(host)
    if len(devices) > 2:
        whole = expected_allreduce(topology, devices, product)
        yield Expected(host, "all GPUs", 1, tuple(it.key for it in devices), whole)
    pairs: dict[Expectation, list[tuple[Device, Device]]] = {}
    for pair in list(combinations(devices, 2))[:_MOST_PAIRS]:
        pairs.setdefault(expected_allreduce(topology, pair, product), []).append(pair)
    for found, alike in sorted(pairs.items(), key=lambda it: -(it[0].busbw_gbps or 0.0)):
        yield Expected(host, "pair", len(alike), tuple(it.key for it in alike[0]), found)


def sentence(topology: Topology, host: str) -> str:
    """The host in one sentence."""
    devices = topology.devices_of(host)
    if not devices:
        return "no GPU is told"
    nets = [net for net in topology.nets if net.host == host]
    parts = [f"{counted(len(devices), 'GPU')}{_products(devices)}", _joined(topology, devices)]
    if nets:
        speeds = Counter(net.speed_gbps for net in nets)
        each = ", ".join(f"{speed:g} GB/s" for speed in speeds if speed is not None)
        parts.append(counted(len(nets), "network device") + (f" of {each}" if each else ""))
    return "; ".join(parts)


def differing_numbers(topology: Topology, host: str) -> str | None:
    """A sentence where tools count the devices differently; null where they agree."""
    devices = topology.devices_of(host)
    names = ("hip_index", "amd_smi_index", "rocm_smi_index", "nvml_index")
    known = [n for n in names if all(getattr(it, n) is not None for it in devices)]
    for one, other in combinations(known, 2):
        differ = [it for it in devices if getattr(it, one) != getattr(it, other)]
        if differ:
            it = differ[0]
            return (
                f"The tools count differently: device {getattr(it, one)} of {NUMBERS[one]} is "
                f"{getattr(it, other)} of {NUMBERS[other]} ({it.key}); match by bus id"
            )
    return None


def link_label(link: Link | None) -> str:
    """A link in a few characters: XGMI, XGMI*4, NV18, PIX, PCIE; a question mark is not known."""
    if link is None or link.kind is None:
        return "?"
    if link.kind == "xgmi":
        return "XGMI" if (link.count or 1) == 1 else f"XGMI*{link.count}"
    if link.kind == "nvlink":
        return f"NV{link.count or ''}"
    return link.path or "PCIE"


def _products(devices: Sequence[Device]) -> str:
    names = Counter(it.product or it.gfx for it in devices)
    told = [name for name in names if name is not None]
    return f" {' and '.join(told)}" if told else ""


def _joined(topology: Topology, devices: Sequence[Device]) -> str:
    host = devices[0].host
    direct = [link for link in topology.links if link.host == host and link.is_direct]
    if not direct:
        paths = {link.kind for link in topology.links if link.host == host}
        return "PCIe only" if paths == {"pcie"} else "links not told"
    kinds = " and ".join(LINK_NAMES[kind] for kind in sorted({link.kind or "" for link in direct}))
    count = sum(link.count or 1 for link in direct)
    if topology.is_mesh(devices):
        return f"all joined to all by {kinds} ({counted(count, 'link')})"
    pairs = len(devices) * (len(devices) - 1) // 2
    return f"{len(direct)} of {pairs} pairs joined by {kinds} ({counted(count, 'link')})"
