"""The bus bandwidth of an all-reduce that the links of a group allow.

What every ring crosses bounds it: over direct links the weakest cut of the group (for GPUs that are
all joined, the links of one to its peers), over a switch the links of one GPU, over PCIe the
slowest way, between hosts the network devices next to the members. Links of xGMI count with the
rate that collectives were measured to realise, NVLink with that of the library's model
(``analysis.hardware`` has both, and says which is for what). PCIe 3 x16 counts 12 GB/s as in
``topo.h`` of RCCL and NCCL; AMD's link between sockets 16.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from commscope.analysis.hardware import XGMI, Part, Xgmi, part_of
from commscope.topology.model import Device, Link, Topology, nearest_first
from commscope.wording import counted

#: GB/s of one PCIe lane and GT/s, in one direction: 12 GB/s for 16 lanes of 8 GT/s.
_PCIE_GBPS = 12 / (16 * 8)
#: The search for the weakest cut takes the third power of it.
_MOST_DEVICES = 128
_SOCKETS_GBPS = 16.0
#: NVLinks of a GPU by generation: all of them lead to a switch where one peer is joined by all.
_ALL_NVLINKS = (6, 12, 18)
_SM_PARTS = {"sm_70": "V100-SXM2", "sm_80": "A100-SXM4", "sm_90": "H100", "sm_100": "B200"}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The bus bandwidth to expect of large messages, or why none can be told.

    ``is_bound``: calls may well stay below it, as no measurement of such a group is known.
    ``limit``: what bounds it: xgmi, nvlink, pcie or network.
    """

    busbw_gbps: float | None
    limit: str | None
    is_bound: bool
    reason: str  #: how it was found, or why it was not

    def at(self, size_bytes: int, members: int, latency_us: float = 15.0) -> float | None:
        """That of a message of this size: a floor of time makes small ones slower."""
        if self.busbw_gbps is None or members < 2 or size_bytes <= 0:
            return None
        moved = 2 * (members - 1) / members * size_bytes
        return moved / (latency_us * 1e-6 + moved / (self.busbw_gbps * 1e9)) / 1e9


def _unknown(reason: str) -> Expectation:
    return Expectation(None, None, True, reason)


def expected_allreduce(
    topology: Topology, group: Sequence[Device], product: str | None = None
) -> Expectation:
    """What an all-reduce of these devices may reach; ``product`` where the files do not tell it."""
    if len(set(group)) < 2:
        return _unknown("a group of one sends nothing")
    hosts: dict[str, list[Device]] = {}
    for device in dict.fromkeys(group):
        hosts.setdefault(device.host, []).append(device)
    inside = [_inside(topology, it, product) for it in hosts.values() if len(it) > 1]
    across = [_network(topology, it) for it in hosts.values()] if len(hosts) > 1 else []
    found = inside + across
    untold = next((it for it in found if it.busbw_gbps is None), None)
    return untold or min(found, key=lambda it: it.busbw_gbps or 0.0)


def _inside(topology: Topology, group: Sequence[Device], product: str | None) -> Expectation:
    if len({device.bus_id or device.key for device in group}) < len(group):
        return _unknown("some of the devices are partitions of one GPU")
    links = [topology.link(*pair) for pair in combinations(group, 2)]
    direct = [link for link in links if link is not None and link.is_direct]
    kinds = {link.kind for link in direct}
    if len(kinds) > 1:
        return _unknown("the group has links of several kinds")
    if len(group) > _MOST_DEVICES and not topology.is_mesh(group):
        return _unknown(f"the group has more than {_MOST_DEVICES} devices")
    if kinds == {"nvlink"} and len(direct) == len(links):
        return _nvlink(group, [link.count for link in direct], product)
    if kinds == {"xgmi"} and (cut := _weakest_cut(topology, group)):
        return _xgmi(topology, group, cut, product)
    return _pcie([link for link in links if link is None or not link.is_direct])


def _xgmi(
    topology: Topology, group: Sequence[Device], cut: int, product: str | None
) -> Expectation:
    rates = {_rate(device, product) for device in group}
    rate = rates.pop() if len(rates) == 1 else None
    if rate is None:
        return _unknown("the product is not known: add rocm-smi --showproductname --showhw")
    is_calibrated = len(group) in rate.measured and topology.is_mesh(group)
    links = f"{counted(cut, 'link')} of xGMI at {rate.realised_gbps:g} GB/s"
    return Expectation(cut * rate.realised_gbps, "xgmi", not is_calibrated, links)


def _rate(device: Device, product: str | None) -> Xgmi | None:
    gfx = device.gfx or _gfx_of_product(device.product or product)
    device_id = "0x74a0" if "MI300A" in (device.product or product or "") else device.device_id
    fitting = (rate for rate in XGMI if gfx and re.fullmatch(rate.gfx, gfx))
    return next((rate for rate in fitting if rate.device_id in ("", device_id)), None)


def _gfx_of_product(product: str | None) -> str | None:
    names = {r"MI3(?:00|08|25)": "gfx942", r"MI35[05]": "gfx950", r"MI2[15]0": "gfx90a"}
    found = (gfx for name, gfx in names.items() if product and re.search(name, product, re.I))
    return next(found, None)


def _weakest_cut(topology: Topology, group: Sequence[Device]) -> int:
    """The fewest direct links whose loss would part the group (Stoer and Wagner)."""
    weight: dict[Device, dict[Device, int]] = {device: {} for device in group}
    for one, other in combinations(group, 2):
        link = topology.link(one, other)
        if link is not None and link.is_direct:
            weight[one][other] = weight[other][one] = link.count or 1
    counts = {count for peers in weight.values() for count in peers.values()}
    if len(counts) == 1 and all(len(peers) == len(group) - 1 for peers in weight.values()):
        return counts.pop() * (len(group) - 1)
    best = sum(count for peers in weight.values() for count in peers.values())
    while len(weight) > 1:
        best = min(best, _contract(weight))
    return best


def _contract(weight: dict[Device, dict[Device, int]]) -> int:
    """Joins the two devices found last in order of nearness; the cut that parts the last one."""
    near = dict.fromkeys(weight, 0)
    before = last = next(iter(weight))
    cut = 0
    while near:
        before, last = last, max(near, key=near.__getitem__)
        cut = near.pop(last)
        for peer, count in weight[last].items():
            if peer in near:
                near[peer] += count
    for peer, count in weight.pop(last).items():
        del weight[peer][last]
        if peer != before:
            weight[before][peer] = weight[peer][before] = weight[before].get(peer, 0) + count
    return cut


def _nvlink(
    group: Sequence[Device], counts: Sequence[int | None], product: str | None
) -> Expectation:
    parts = {_nvidia_part(device, product) for device in group}
    part = parts.pop() if len(parts) == 1 else None
    told = [count for count in counts if count is not None]
    if part is None or len(told) < len(counts):
        return _unknown("the product or the number of NVLinks is not known: add nvidia-smi -L")
    is_switched = set(told) <= set(_ALL_NVLINKS) and len(set(told)) == 1
    # Without a switch the links of a GPU are shared out between its peers.
    links = told[0] if is_switched else min(told) * (len(group) - 1)
    says = f"{links} NVLinks at {part.model_gbps:g} GB/s"
    return Expectation(links * part.model_gbps, "nvlink", True, says)


def _nvidia_part(device: Device, product: str | None) -> Part | None:
    return part_of(device.product or product or _SM_PARTS.get(device.gfx or ""))


def _pcie(given: Sequence[Link | None]) -> Expectation:
    links = [link for link in given if link is not None and link.kind is not None]
    if len(links) < len(given):
        return _unknown("what joins some of the devices is not known")
    speeds = [(link.pcie_gts, link.pcie_width) for link in links]
    told = [_PCIE_GBPS * gts * width for gts, width in speeds if gts and width]
    if len(told) < len(speeds):
        return _unknown("PCIe only, and the speed of its links is not told")
    farthest = max(links, key=lambda link: nearest_first(link.path)).path
    slowest = min(told)
    if farthest == "SYS":
        slowest = min(slowest, _SOCKETS_GBPS)
    says = f"PCIe only, {farthest or 'path not known'}: {slowest:g} GB/s on the slowest way"
    return Expectation(slowest, "pcie", True, says)


def _network(topology: Topology, members: Sequence[Device]) -> Expectation:
    """What the network devices next to the members carry together."""
    nearest = {net for device in members for net in topology.nearest_nets(device)[:1]}
    speeds = [net.speed_gbps for net in nearest if net.speed_gbps]
    if not speeds or len(speeds) < len(nearest):
        return _unknown(f"the network devices of {members[0].host} are not known")
    says = f"{len(speeds)} network devices of {members[0].host}: {sum(speeds):g} GB/s"
    return Expectation(sum(speeds), "network", True, says)
