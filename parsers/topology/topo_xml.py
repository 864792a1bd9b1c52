"""The topology that RCCL or NCCL writes (``NCCL_TOPO_DUMP_FILE``): CPUs, PCI bridges, GPUs, NICs.

Devices without a direct link are joined over PCIe: how far apart they are follows from the tree,
as the libraries judge it (PIX: one switch, PXB: several, PHB: the CPU, SYS: two CPUs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from commscope.parsers.topology.rows import Rows
from commscope.parsers.topology.values import (
    bus_id_of,
    device_id_of,
    gfx_of,
    integer,
    long_integer,
    pcie_speed_of,
    text_of,
)
from commscope.parsers.topology.xml_tree import Element, tree_of

TOOL = "topology dump"

_MARK = re.compile(r"<system(?:\s[^<>]{0,400})?>")
_DIRECT = {"xgmi": "xgmi", "nvlink": "nvlink"}
#: PCI class of a bridge: a link to one leads to an NVSwitch.
_SWITCH_CLASS = "0x068000"
#: A file may hold this many devices; the paths between them grow with the square.
_MOST = 128


@dataclass(frozen=True, slots=True)
class _Found:
    """A GPU or network device and the elements above it, the CPU first."""

    element: Element
    above: tuple[Element, ...]

    @property
    def pci(self) -> Element | None:
        return next((e for e in reversed(self.above) if e.name == "pci"), None)

    @property
    def bus_id(self) -> str | None:
        return bus_id_of(self.pci.get("busid")) if self.pci else None

    @property
    def bridges(self) -> tuple[Element, ...]:
        """The bridges between the CPU and the device's own entry."""
        return tuple(e for e in self.above if e.name == "pci" and e is not self.pci)

    @property
    def numa_node(self) -> int | None:
        return next((integer(e.get("numaid")) for e in self.above if e.name == "cpu"), None)


def recognises(head: str) -> bool:
    """Whether the first part of a file is such a topology."""
    return bool(_MARK.search(head)) and "<cpu" in head


def read(text: str) -> Rows:
    """The rows of the document; raises ValueError where it cannot be trusted to be read."""
    tree = tree_of(text)
    rows = Rows(TOOL)
    if tree.cut:
        rows.remark(f"it is cut: {tree.cut}")
    found = list(_walk(tree.root, ()))
    gpus = [it for it in found if it.element.name == "gpu" and it.bus_id][:_MOST]
    nets = [it for it in found if it.element.name == "net"][:_MOST]
    if len(found) > len(gpus) + len(nets):
        rows.remark(f"{len(found) - len(gpus) - len(nets)} devices are left out")
    for gpu in gpus:
        _device(rows, gpu)
    _direct(rows, gpus)
    _paths(rows, gpus)
    _nets(rows, gpus, nets)
    return rows


def _walk(element: Element, above: tuple[Element, ...]) -> Iterator[_Found]:
    if element.name in ("gpu", "net"):
        yield _Found(element, above)
    for child in element.children:
        yield from _walk(child, (*above, element))


def _device(rows: Rows, gpu: _Found) -> None:
    element, pci = gpu.element, gpu.pci
    gcn, processors = element.get("gcn"), integer(element.get("sm"))
    rows.device(
        gpu.bus_id,
        bus_id=gpu.bus_id,
        dump_index=integer(element.get("dev")),
        rank=integer(element.get("rank")),
        gfx=gfx_of(gcn) if gcn else None if processors is None else f"sm_{processors}",
        compute_units=processors if gcn else None,
        numa_node=gpu.numa_node,
        gdr=_flag(element.get("gdr")),
        device_id=device_id_of(pci.get("device")) if pci else None,
        pcie_gts=pcie_speed_of(pci.get("link_speed")) if pci else None,
        pcie_width=integer(pci.get("link_width")) or None if pci else None,
    )


def _direct(rows: Rows, gpus: Iterable[_Found]) -> None:
    known = {gpu.bus_id for gpu in gpus}
    switched: dict[str | None, list[int]] = {}
    for gpu in gpus:
        for child in gpu.element.children:
            kind, target = _DIRECT.get(child.name), bus_id_of(child.get("target"))
            if kind and target in known:
                count = integer(child.get("count"))
                rows.link(gpu.bus_id, target, kind=kind, count=count, hops=1)
            elif kind and child.get("tclass") == _SWITCH_CLASS:
                switched.setdefault(gpu.bus_id, []).append(integer(child.get("count")) or 0)
            elif kind:
                rows.remark(f"a link leads to {target or 'no bus id'}, which is no GPU here")
    # Behind switches each GPU reaches each other one over all links that both have.
    counts = {bus_id: sum(given) for bus_id, given in switched.items()}
    for one, other in permutations(counts, 2):
        rows.link(one, other, kind="nvlink", count=min(counts[one], counts[other]), hops=1)


def _paths(rows: Rows, gpus: Sequence[_Found]) -> None:
    places = {gpu.bus_id: rows.place(gpu.bus_id) for gpu in gpus}
    for one, other in combinations(gpus, 2):
        ends = places[one.bus_id], places[other.bus_id]
        if (*ends, None) not in rows.links and (*ends[::-1], None) not in rows.links:
            values = _pcie(one, other)
            rows.link(one.bus_id, other.bus_id, **values)


def _nets(rows: Rows, gpus: Sequence[_Found], nets: Sequence[_Found]) -> None:
    for net in nets:
        element = net.element
        speed = integer(element.get("speed"))
        index = rows.net(
            name=text_of(element.get("name")) or "?",
            index=integer(element.get("dev")),
            bus_id=net.bus_id,
            port=integer(element.get("port")),
            numa_node=net.numa_node,
            speed_gbps=speed / 8000 if speed else None,
            gdr=_flag(element.get("gdr")),
            max_connections=long_integer(element.get("maxconn")),
            guid=text_of(element.get("guid")),
        )
        for gpu in gpus:
            rows.net_link(gpu.bus_id, index, **_pcie(gpu, net))


def _pcie(one: _Found, other: _Found) -> dict[str, object]:
    """How far apart two devices are, and the slowest of the links between them."""
    shared = [e for e in one.bridges if any(e is bridge for bridge in other.bridges)]
    apart = [
        e
        for it in (one, other)
        for e in (*it.bridges, it.pci)
        if e is not None and not any(e is bridge for bridge in shared)
    ]
    speeds = [speed for e in apart if (speed := pcie_speed_of(e.get("link_speed")))]
    widths = [width for e in apart if (width := integer(e.get("link_width")))]
    return {
        "kind": "pcie",
        "path": _distance(one, other, len(shared), len(apart)),
        "pcie_gts": min(speeds, default=None),
        "pcie_width": min(widths, default=None),
    }


def _distance(one: _Found, other: _Found, shared: int, apart: int) -> str:
    if shared:
        # Only the two devices themselves are not shared where both hang at the same switch.
        return "PIX" if apart == 2 else "PXB"
    return "PHB" if one.above[1:2] == other.above[1:2] else "SYS"


def _flag(value: str | None) -> bool | None:
    return None if value is None else value != "0"
