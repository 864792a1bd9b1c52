"""Outputs of tools on the topology of hosts, written by hand, and what is read from them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

from support import case

from commscope.parsers.topology import formats_of, read_topology
from commscope.parsers.topology.rows import TopologyFile
from commscope.topology import Topology
from commscope.topology.merge import merge

ROCM_JSON = b"""\
WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status

{"card0": {"(Topology) Numa Node": "0", "(Topology) Numa Affinity": "0", "PCI Bus": "0000:0C:00.0"},
"card1": {"(Topology) Numa Node": "1", "(Topology) Numa Affinity": "1", "Card series": "0x74a1",
"Card model": "AMD Instinct MI300X", "Node ID": "3", "GUID": "41"},
"system": {"(Topology) Weight between DRM devices 0 and 1": "15",
"(Topology) Hops between DRM devices 0 and 1": "1",
"(Topology) Link type between DRM devices 0 and 1": "XGMI",
"(Topology) Link accessibility between DRM devices 0 and 1": "True", "Driver version": "6.8.5"}}
"""
ROCM_MORE = b"""\
============================ ROCm System Management Interface ============================
====================================== Concise Info ======================================
Device  Node  IDs              Temp    Power     Partitions          SCLK    MCLK
              (DID,     GUID)  (Edge)  (Socket)  (Mem, Compute, ID)
0       2     0x74a1,   51140  35.0C   141.0W    NPS1, SPX, 0        131Mhz  900Mhz
1       3     0x74a1,   51141  35.0C   141.0W    NPS1, SPX, 0        131Mhz  900Mhz
======================== Link accessibility between two GPUs =============================
       GPU0         GPU1
GPU0   True         False
GPU1   False        True
================================== End of ROCm SMI Log ===================================
"""
ROCM_OLD_CONCISE = b"""\
========================= ROCm System Management Interface =========================
=================================== Concise Info ===================================
Device  [Model : Revision]    Temp        Power     Partitions      SCLK
        Name (20 chars)       (Junction)  (Socket)  (Mem, Compute)
====================================================================================
0       [0x74a1 : 0x00]       35.0C       133.0W    NPS1, SPX       131Mhz
        AMD Instinct MI300X
"""
ROCM_CSV = b"""\
name, value
(Topology) Weight between DRM devices 0 and 1,40
(Topology) Hops between DRM devices 0 and 1,2
(Topology) Link type between DRM devices 0 and 1,PCIE

device,(Topology) Numa Node,(Topology) Numa Affinity,PCI Bus
card0,0,0,0000:0C:00.0
card1,1,1,0000:22:00.0
"""
AMD_LIST = b"""\
GPU: 0
    BDF: 0000:83:00.0
    UUID: 9fff74b9-0000-1000-8044-4a2fb30adeb0
    KFD_ID: 43855
    NODE_ID: 9
    PARTITION_ID: 0
    HSA_ID: 9
    HIP_ID: 1

GPU: 1
    BDF: 0000:8b:00.0
    KFD_ID: 27976
    NODE_ID: 8
    PARTITION_ID: 0
    HIP_ID: 0
"""
AMD_STATIC = b"""\
GPU: 0
    ASIC:
        MARKET_NAME: AMD Instinct MI325X
        DEVICE_ID: 0x74a5
        OAM_ID: 6
        NUM_COMPUTE_UNITS: 304
        TARGET_GRAPHICS_VERSION: gfx942
    BUS:
        BDF: 0000:83:00.0
        MAX_PCIE_WIDTH: 16
        MAX_PCIE_SPEED: 32 GT/s
    DRIVER:
        NAME: amdgpu
        VERSION: 6.12.12
    NUMA:
        NODE: 1
        AFFINITY: N/A
"""
AMD_STATIC_JSON = b"""\
{"gpu_data": [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI325X", "device_id": "0x74a5",
"num_compute_units": 304, "target_graphics_version": "gfx942"}, "bus": {"bdf": "0000:83:00.0",
"max_pcie_width": 16, "max_pcie_speed": {"value": 32, "unit": "GT/s"}},
"driver": {"name": "amdgpu", "version": "6.12.12"}, "numa": {"node": 1, "affinity": "N/A"}}]}
"""
AMD_CSV = b"""\
gpu,weight_gpu_0,weight_gpu_1,link_type_gpu_0,link_type_gpu_1,hops_gpu_0,hops_gpu_1
0,0,15,SELF,XGMI,0,1
1,15,0,XGMI,SELF,1,0
"""
AMD_XGMI = b"""\
LINK METRIC TABLE:
       bdf          bit_rate max_bandwidth link_type 0000:0c:00.0 0000:22:00.0
GPU0   0000:0c:00.0 32 Gb/s  512 Gb/s      XGMI
 Read                                                N/A          2 KB
 Write                                               N/A          1 KB
GPU1   0000:22:00.0 32 Gb/s  512 Gb/s      XGMI
 Read                                                0 KB         N/A
"""
NVIDIA_TOPO = b"""\
\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV12\tPIX\tSYS\t0-23,48-71\t0\t\tN/A
GPU1\tNV12\t X \tSYS\tPXB\t24-47\t1\t\tN/A
NIC0\tPIX\tSYS\t X \tSYS\t\t\t\t
NIC1\tSYS\tPXB\tSYS\t X \t\t\t\t

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_3
"""
NVIDIA_LIST = b"""\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-bd80b7a3-aeb5-31ed-69cd-9019c1acc15b)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-eed8fcfb-672b-6dba-1e32-1e0b5b5dcf4b)
"""
NVIDIA_QUERY = b"""\
index, name, pci.bus_id, uuid
0, NVIDIA H200, 00000000:00:06.0, GPU-bd80b7a3-aeb5-31ed-69cd-9019c1acc15b
1, NVIDIA H200, 00000000:00:07.0, GPU-eed8fcfb-672b-6dba-1e32-1e0b5b5dcf4b
"""
ROCMINFO = b"""\
ROCk module is loaded
Runtime Version:         1.14
DMAbuf Support:          YES

*******
Agent 1
*******
  Name:                    INTEL(R) XEON(R) PLATINUM 8480C
  Marketing Name:          INTEL(R) XEON(R) PLATINUM 8480C
  Node:                    0
  Device Type:             CPU
*******
Agent 2
*******
  Name:                    gfx942
  Uuid:                    GPU-45d0c32dfea52974
  Marketing Name:          AMD Instinct MI300X VF
  Node:                    1
  Device Type:             GPU
  Chip ID:                 29877(0x74b5)
  BDFID:                   33536
  Compute Unit:            304
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-
*** Done ***
"""
HIPCONFIG = b"""\
HIP version  : 6.4.43484-123eb5128

== hipconfig
HIP_PATH     : /opt/rocm-6.4.2
ROCM_PATH    : /opt/rocm-6.4.2
HIP_PLATFORM : amd
"""
SWITCHED_XML = b"""\
<system version="1">
  <cpu host_hash="0x9d3bf327cf8c15ad" numaid="-1" arch="x86_64" vendor="GenuineIntel">
    <pci busid="0000:00:06.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="0">
      <gpu dev="0" sm="90" rank="0" gdr="1">
        <nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/>
      </gpu>
    </pci>
    <nic><net name="eth0" dev="0" latency="0" speed="10000" port="0" gdr="0"/></nic>
    <pci busid="0000:00:07.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="0">
      <gpu dev="1" sm="90" rank="1" gdr="1">
        <nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/>
      </gpu>
    </pci>
  </cpu>
</system>
"""
GRAPH_XML = b"""\
<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="30" speedinter="20.5"
   latencyinter="0" typeintra="NVL" typeinter="PIX" samechannels="1">
    <channel><net dev="0"/><gpu dev="0"/><gpu dev="0x1"/><net dev="0"/></channel>
    <channel><gpu dev="0x1"/><gpu dev="0"/></channel>
  </graph>
  <graph id="3" pattern="5" nchannels="1"><channel><gpu dev="0"/></channel></graph>
</graphs>
"""
MANIFEST = b"""\
{"schema": "commscope.collected/1", "host": "node7.cluster.local",
 "system": {"numa balancing": "1", "kernel flags": "iommu=pt"},
 "environment": {"NCCL_DEBUG": "INFO", "AWS_SECRET_ACCESS_KEY": "hunter2", "NCCL_TOKEN": "x"},
 "tools": [{"tool": "amd-smi", "command": "amd-smi list", "status": "timed out",
            "reason": "did not end within 20 s and was ended"}]}
"""
SAMPLES = {
    "rocm.json": ROCM_JSON,
    "rocm.csv": ROCM_CSV,
    "rocm.txt": ROCM_MORE,
    "rocm.old": ROCM_OLD_CONCISE,
    "list.txt": AMD_LIST,
    "static.txt": AMD_STATIC,
    "static.json": AMD_STATIC_JSON,
    "amd.csv": AMD_CSV,
    "xgmi.txt": AMD_XGMI,
    "topo.txt": NVIDIA_TOPO,
    "list.nvidia": NVIDIA_LIST,
    "query.csv": NVIDIA_QUERY,
    "rocminfo.txt": ROCMINFO,
    "hipconfig.txt": HIPCONFIG,
    "switched.xml": SWITCHED_XML,
    "graph.xml": GRAPH_XML,
    "collected.json": MANIFEST,
}


def read(data: bytes, file: str = "file") -> TopologyFile:
    """The one output that a file of this content holds."""
    (found,) = read_topology(data, file, formats_of(data))
    return found


def read_case(path: str) -> TopologyFile:
    """The one output that a real file holds."""
    found = case(path)
    return read(found.read_bytes(), found.name)


def rows(file: TopologyFile, table: str, *names: str) -> list[Any]:
    """These columns of a table, row by row; a column alone as values."""
    found = [tuple(row[name] for name in names) for row in file.tables[table].to_pylist()]
    return [values[0] for values in found] if len(names) == 1 else found


def known(file: TopologyFile, table: str) -> list[dict[str, Any]]:
    """The rows of a table, without nulls and without where they were read."""
    return [
        {k: v for k, v in row.items() if v is not None and k not in ("file", "tool", "host")}
        for row in file.tables[table].to_pylist()
    ]


def topology_of(*files: str) -> Topology:
    """The topology that real files show together."""
    return merge([read_case(file) for file in files])


def dump(
    gpus: int, *, gfx: str = "gfx942", count: int = 1, device: str = "0x74a1", kind: str = "xgmi"
) -> bytes:
    """A topology file of this many GPUs on one CPU, all joined to all."""
    ids = [bus_id(number) for number in range(gpus)]
    parts = []
    for number, own in enumerate(ids):
        links = "".join(
            f'<{kind} target="{other}" count="{count}"/>' for other in ids if other != own and count
        )
        parts.append(
            f'<pci busid="{own}" class="0x120000" device="{device}" link_speed="32 GT/s" '
            f'link_width="16"><gpu dev="{number}" sm="304" gcn="{gfx}" rank="{number}">{links}'
            "</gpu></pci>"
        )
    return f'<system version="2"><cpu numaid="0">{"".join(parts)}</cpu></system>'.encode()


def bus_id(number: int) -> str:
    """The bus id of a GPU of ``dump``."""
    return f"0000:{number + 16:02x}:00.0"


def pairs(topology: Topology) -> dict[tuple[int, int], int]:
    """Counts of direct links by the places of the devices they join."""
    place = {device: number for number, device in enumerate(topology.devices)}
    found = {(one, other): topology.link(one, other) for one, other in combinations(place, 2)}
    return {
        (place[one], place[other]): link.count or 1
        for (one, other), link in found.items()
        if link is not None and link.is_direct
    }


def write_all(folder: Path, **files: bytes) -> Path:
    """The folder with these files; two underscores stand for a dot, three for a slash."""
    for name, data in files.items():
        path = folder / name.replace("___", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder
