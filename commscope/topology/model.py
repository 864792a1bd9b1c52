"""The topology of hosts: devices, what joins them, network devices."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commscope.parsers.topology.rows import TopologyFile

#: Kinds of links that lead straight from GPU to GPU, or over a switch made for it.
DIRECT_KINDS = ("xgmi", "nvlink")
LINK_NAMES = {"xgmi": "xGMI", "nvlink": "NVLink", "pcie": "PCIe"}
#: Links that are no path over PCIe, as logs of RCCL and NCCL name them.
LINK_NAMES_OF_LOGS = {
    "XGMI": LINK_NAMES["xgmi"], "NVL": LINK_NAMES["nvlink"], "NVB": LINK_NAMES["nvlink"],
    "C2C": "C2C",
}  # fmt: skip
_NEAREST_FIRST = ("PIX", "PXB", "PHB", "NODE", "SYS")
_PACKED = re.compile(r"(?:0x)?([0-9a-fA-F]{1,9})")


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, or a partition of one. Each number is that of the tool in its name."""

    host: str
    key: str  #: unique on the host: the bus id where it is known
    bus_id: str | None = None
    partition: int | None = None
    rocm_smi_index: int | None = None
    amd_smi_index: int | None = None
    nvml_index: int | None = None
    hip_index: int | None = None
    hsa_node: int | None = None
    kfd_id: int | None = None
    dump_index: int | None = None
    rank: int | None = None
    oam_id: int | None = None
    product: str | None = None
    device_id: str | None = None
    gfx: str | None = None
    compute_units: int | None = None
    numa_node: int | None = None
    numa_affinity: int | None = None
    pcie_gts: float | None = None
    pcie_width: int | None = None
    gdr: bool | None = None
    compute_partition: str | None = None
    memory_partition: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """What joins two devices of a host."""

    host: str
    ends: tuple[str, str]  #: keys of the devices, in the order of ``Topology.devices``
    kind: str | None = None  #: xgmi, nvlink or pcie
    path: str | None = None  #: of pcie: PIX, PXB, PHB, NODE or SYS
    count: int | None = None
    hops: int | None = None
    weight: int | None = None
    bandwidth: str | None = None
    status: str | None = None
    pcie_gts: float | None = None
    pcie_width: int | None = None

    @property
    def is_direct(self) -> bool:
        """Whether it is xGMI or NVLink."""
        return self.kind in DIRECT_KINDS


@dataclass(frozen=True, slots=True)
class Net:
    """A network device, and how far from it each GPU is."""

    host: str
    name: str
    index: int | None = None
    bus_id: str | None = None
    port: int | None = None
    numa_node: int | None = None
    speed_gbps: float | None = None
    gdr: bool | None = None
    max_connections: int | None = None
    guid: str | None = None
    paths: tuple[tuple[str, str], ...] = ()  #: (key of a device, PIX to SYS)


@dataclass(frozen=True, slots=True)
class Ring:
    """A channel of a graph that the library chose."""

    host: str
    graph: int
    name: str | None
    channel: int
    devices: tuple[int, ...]  #: ``dump_index`` of the GPUs, in order
    nets: tuple[str, ...]
    intra_gbps: float | None
    inter_gbps: float | None
    intra_link: str | None
    inter_link: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    """A version, a setting of the system or a variable of the environment."""

    host: str
    name: str
    value: str | None
    file: str


@dataclass(frozen=True, slots=True)
class Topology:
    """Hosts with their devices, links and network devices; ``notes`` say what is doubtful."""

    hosts: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()
    links: tuple[Link, ...] = ()
    nets: tuple[Net, ...] = ()
    rings: tuple[Ring, ...] = ()
    facts: tuple[Fact, ...] = ()
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    read: tuple[TopologyFile, ...] = field(default=(), repr=False, compare=False)
    _links: dict[tuple[str, frozenset[str]], Link] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    _devices: dict[str, tuple[Device, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        self._links.update({(link.host, frozenset(link.ends)): link for link in self.links})
        by_host: dict[str, list[Device]] = {}
        for device in self.devices:
            by_host.setdefault(device.host, []).append(device)
        self._devices.update({host: tuple(devices) for host, devices in by_host.items()})

    def devices_of(self, host: str) -> tuple[Device, ...]:
        """The devices of a host."""
        return self._devices.get(host, ())

    def device(self, bus_id: str, host: str | None = None) -> Device | None:
        """The one device with this bus id; null where there is none, or several."""
        devices = self.devices if host is None else self.devices_of(host)
        found = [device for device in devices if device.bus_id == bus_id]
        return found[0] if len(found) == 1 else None

    def link(self, one: Device, other: Device) -> Link | None:
        """What joins two devices; null where that is not known."""
        if one.host != other.host:
            return None
        return self._links.get((one.host, frozenset((one.key, other.key))))

    def neighbours(self, device: Device) -> tuple[Device, ...]:
        """The devices to which it has a link of xGMI or NVLink."""
        return tuple(
            other for other in self.devices_of(device.host) if self._are_joined(device, other)
        )

    def is_mesh(self, devices: Iterable[Device]) -> bool:
        """Whether every two of the devices, two at least, have a link of xGMI or NVLink."""
        given = tuple(devices)
        return len(given) > 1 and all(self._are_joined(*pair) for pair in combinations(given, 2))

    def nearest_nets(self, device: Device) -> tuple[Net, ...]:
        """The network devices of its host that are nearest to it; none where that is not told."""
        paths = {
            net: path
            for net in self.nets
            if net.host == device.host
            for key, path in net.paths
            if key == device.key
        }
        nearest = min(map(nearest_first, paths.values()), default=0)
        return tuple(net for net, path in paths.items() if nearest_first(path) == nearest)

    def to_dict(self) -> dict[str, Any]:
        """The topology as what JSON can hold."""
        names = ("devices", "links", "nets", "rings", "facts")
        rows = {name: [asdict(row) for row in getattr(self, name)] for name in names}
        for net in rows["nets"]:
            net["paths"] = [{"device": key, "path": path} for key, path in net["paths"]]
        return {
            "hosts": list(self.hosts), **rows, "files": list(self.files), "notes": list(self.notes)
        }  # fmt: skip

    def _are_joined(self, one: Device, other: Device) -> bool:
        link = self.link(one, other)
        return link is not None and link.is_direct


def bus_id_of_log(printed: str) -> str | None:
    """The bus id that a log of RCCL or NCCL prints as one number: c1000 is 0000:c1:00.0."""
    found = _PACKED.fullmatch(printed)
    if not found:
        return None
    number = int(found[1], 16)
    bus, device = number >> 12 & 0xFF, number >> 4 & 0xFF
    return f"{number >> 20:04x}:{bus:02x}:{device:02x}.{number & 0xF:x}"


def nearest_first(path: str | None) -> int:
    """How far a path over PCIe is; those that are not known come last."""
    return _NEAREST_FIRST.index(path) if path in _NEAREST_FIRST else len(_NEAREST_FIRST)
