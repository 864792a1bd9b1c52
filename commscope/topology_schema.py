"""The tables that files on the topology of hosts give: columns, units, meaning.

Every row names the file it was read from and the kind of output it is. A null means "the source
does not say". A number of a device is one of the tool that gave it, never that of another tool:
devices of several files are the same where bus id, KFD node or KFD id are. ``docs/schema.md`` is
generated from here.
"""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from commscope import schema
from commscope.schema import TEXT

#: A tool says what it likes: most columns may be null.
column = partial(schema.column, nullable=True)

_WHERE = (
    column("file", TEXT, "file it was read from", nullable=False),
    column("tool", TEXT, "what wrote it: rocm-smi, amd-smi, nvidia-smi, ...", nullable=False),
    column("host", TEXT, "host name, up to its first dot"),
)

DEVICES = pa.schema(
    [
        *_WHERE,
        column("bus_id", TEXT, "PCI bus id as dddd:bb:dd.f in lower case"),
        column("partition", pa.int32(), "partition of the device; several share a bus id"),
        column("smi_index", pa.int32(), "number that rocm-smi or amd-smi gives it"),
        column("hip_index", pa.int32(), "number that HIP gives it while all devices are visible"),
        column("hsa_node", pa.int32(), "KFD node: Node ID of the SMI tools, Agent of rocprofv3"),
        column("kfd_id", pa.int64(), "GUID of the SMI tools, gpu_id of the KFD"),
        column("nvml_index", pa.int32(), "number that nvidia-smi gives it"),
        column("dump_index", pa.int32(), "dev of a topology file of RCCL or NCCL"),
        column("rank", pa.int32(), "rank in a topology file of RCCL or NCCL"),
        column("oam_id", pa.int32(), "place on the board"),
        column("uuid", TEXT, "unique id in lower case"),
        column("product", TEXT, "product name"),
        column("device_id", TEXT, "PCI device id, 0x and four digits in lower case"),
        column("gfx", TEXT, "instruction set: gfx942; sm_90 for NVIDIA"),
        column("compute_units", pa.int32(), "compute units"),
        column("numa_node", pa.int32(), "NUMA node"),
        column("numa_affinity", pa.int32(), "NUMA node that the driver prefers"),
        column("pcie_gts", pa.float64(), "speed of its PCIe link", unit="GT/s"),
        column("pcie_width", pa.int32(), "lanes of its PCIe link"),
        column("gdr", pa.bool_(), "whether network devices may reach into its memory"),
        column("compute_partition", TEXT, "SPX, DPX, TPX, QPX or CPX"),
        column("memory_partition", TEXT, "NPS1, NPS2, NPS4, ..."),
    ]
)
"""One row a GPU (or partition of one) and file."""

LINKS = pa.schema(
    [
        *_WHERE,
        column("src", pa.int32(), "row of a device in DEVICES", nullable=False),
        column("dst", pa.int32(), "row of the device at the other end; null for a network device"),
        column("net", pa.int32(), "row of the network device in NETS at the other end"),
        column("kind", TEXT, "xgmi, nvlink or pcie; null where it is not known"),
        column("path", TEXT, "of pcie: PIX, PXB, PHB, NODE or SYS, nearest first"),
        column("count", pa.int32(), "number of parallel links"),
        column("hops", pa.int32(), "number of hops"),
        column("weight", pa.int32(), "weight that the driver gives it; 0 was not told, so null"),
        column("bandwidth", TEXT, "bandwidth as reported, without a unit; not measured"),
        column("status", TEXT, "enabled or disabled"),
        column("pcie_gts", pa.float64(), "slowest speed on a pcie path", unit="GT/s"),
        column("pcie_width", pa.int32(), "fewest lanes on a pcie path"),
    ]
)
"""One row an entry on what joins two devices: most sources give both directions."""

NETS = pa.schema(
    [
        *_WHERE,
        column("name", TEXT, "name of the network device", nullable=False),
        column("index", pa.int32(), "number in the file"),
        column("bus_id", TEXT, "PCI bus id as dddd:bb:dd.f in lower case"),
        column("port", pa.int32(), "port"),
        column("numa_node", pa.int32(), "NUMA node"),
        column("speed_gbps", pa.float64(), "speed, one direction", unit="GB/s"),
        column("gdr", pa.bool_(), "whether it may reach into GPU memory"),
        column("max_connections", pa.int64(), "connections it takes"),
        column("guid", TEXT, "globally unique id"),
    ]
)
"""One row a network device and file."""

RINGS = pa.schema(
    [
        *_WHERE,
        column("graph", pa.int32(), "number of the graph", nullable=False),
        column("name", TEXT, "ring, tree, collnet_chain, nvls, collnet_direct, ..."),
        column("pattern", pa.int32(), "number of its pattern"),
        column("channel", pa.int32(), "number of the channel", nullable=False),
        column("devices", pa.list_(pa.int64()), "dev of its GPUs, in order"),
        column("nets", pa.list_(TEXT), "dev of the network devices it begins and ends with"),
        column("intra_gbps", pa.float64(), "bandwidth inside a host as the library counts it",
               unit="GB/s"),
        column("inter_gbps", pa.float64(), "that between hosts", unit="GB/s"),
        column("intra_link", TEXT, "kind of link inside a host: XGMI, NVL, PIX, SYS, ..."),
        column("inter_link", TEXT, "kind of link to the network device"),
    ]
)  # fmt: skip
"""One row a channel of a graph that RCCL or NCCL chose (``NCCL_GRAPH_DUMP_FILE``)."""

FACTS = pa.schema(
    [
        *_WHERE,
        column("name", TEXT, "what it is: a version, a setting of the system, a variable",
               nullable=False),
        column("value", TEXT, "its value; null where it could not be had"),
    ]
)  # fmt: skip
"""One row a fact on a host; of variables only those that an allow-list names."""

TOPOLOGY_TABLES = {
    "DEVICES": DEVICES,
    "LINKS": LINKS,
    "NETS": NETS,
    "RINGS": RINGS,
    "FACTS": FACTS,
}
