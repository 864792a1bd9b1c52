"""Formulas from counters of the hardware to operations, bytes and shares.

They are those of rocprof-compute: its roofline (``roofline_calc.py``, ``calc_ai``) and its analysis
configurations ("Compute Pipeline", "L2 Cache"), so that figures can be compared with its own. All
amounts are means of a dispatch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commscope.counters.model import Fabric, Measured

#: Work-items of a wavefront, for each of which a vector instruction counts.
_LANES = 64
#: ``SQ_INSTS_VALU_MFMA_MOPS_*`` counts in units of 512 operations.
_MOPS = 512
_LDS_BANK_BYTES = 4
_LINE_BYTES = 64
_KILOBYTE = 1024
#: Replays differ, and a dispatch is active a little longer than its kernel: by an eighth in
#: profiles that are sound, tenfold in others.
_MOST_CYCLES = 2

_VALU_TYPES = ("F16", "F32", "F64")
#: Types of matrix operations that all architectures with matrix cores count.
_MFMA_TYPES = ("F16", "BF16", "F32", "F64")
_NEWER_TYPES = ("F8", "F6F4")
_INTEGER = "I8"

Counters = Mapping[str, float]


def measured_of(counters: Counters, mean_ns: float | None, workload: Mapping[str, Any]) -> Measured:
    """What the counters of one kernel tell; ``workload`` is its row of WORKLOADS."""
    operations = operations_of(counters)
    flops = flops_of(operations)
    fabric = fabric_of(counters)
    levels = {
        "hbm": fabric.total_bytes,
        "l2": l2_bytes(counters),
        "l1": l1_bytes(counters),
        "lds": lds_bytes(counters, workload["lds_banks"]),
    }
    moved = {level: count for level, count in levels.items() if count is not None}
    return Measured(
        flops=flops,
        total_gflops=None if flops is None or not mean_ns else flops / mean_ns,
        gflops={kind: count / mean_ns for kind, count in operations.items()} if mean_ns else {},
        gbps={level: count / mean_ns for level, count in moved.items()} if mean_ns else {},
        intensity={}
        if flops is None
        else {n: flops / count for n, count in moved.items() if count},
        mfma_utilization=mfma_utilization(counters, mean_ns, workload),
        fabric=fabric,
    )


def operations_of(counters: Counters) -> dict[str, float]:
    """Operations by type: of vectors 64 an instruction, 128 if fused, of matrices 512 a unit.

    Source: ``calc_ai`` and "VALU FLOPs" of "Compute Speed-of-Light".
    """
    found = {}
    for kind in _VALU_TYPES:
        names = [f"SQ_INSTS_VALU_{what}_{kind}" for what in ("ADD", "MUL", "TRANS", "FMA")]
        add, multiply, transcendental, fused = (counters.get(name) for name in names)
        if None not in (add, multiply, transcendental, fused):
            total = (add or 0) + (multiply or 0) + (transcendental or 0) + 2 * (fused or 0)
            found[f"valu {kind.lower()}"] = _LANES * total
    for kind in (*_MFMA_TYPES, *_NEWER_TYPES, _INTEGER):
        units = counters.get(f"SQ_INSTS_VALU_MFMA_MOPS_{kind}")
        if units is not None:
            found[f"mfma {kind.lower()}"] = _MOPS * units
    return found


def flops_of(operations: Mapping[str, float]) -> float | None:
    """All floating-point operations; null where a type is missing that every GPU counts."""
    needed = [f"valu {kind.lower()}" for kind in _VALU_TYPES]
    needed += [f"mfma {kind.lower()}" for kind in _MFMA_TYPES]
    if any(kind not in operations for kind in needed):
        return None
    integer = f"mfma {_INTEGER.lower()}"
    return sum(count for kind, count in operations.items() if kind != integer)


def fabric_of(counters: Counters) -> Fabric:
    """Traffic between L2 and Infinity Fabric; names are those of MI300 or of MI200.

    Reads are of 32, 64 or 128 bytes, writes of 32 or 64. What does not go to the memory of the GPU
    itself (``*_DRAM_sum``) is remote. Source: "L2-Fabric interface metrics" of "L2 Cache".
    """
    prefix = next((p for p in ("TCC_EA0_", "TCC_EA_") if f"{p}RDREQ_sum" in counters), "TCC_EA0_")
    reads, writes = (counters.get(f"{prefix}{way}REQ_sum") for way in ("RD", "WR"))
    own_reads, own_writes = (counters.get(f"{prefix}{way}REQ_DRAM_sum") for way in ("RD", "WR"))
    read_bytes = _read_bytes(counters, prefix, reads)
    write_bytes = _write_bytes(counters, prefix, writes)
    return Fabric(
        read_bytes=_kilobytes(counters, "FETCH_SIZE") if read_bytes is None else read_bytes,
        write_bytes=_kilobytes(counters, "WRITE_SIZE") if write_bytes is None else write_bytes,
        remote_read_share=remote_share(reads, own_reads),
        remote_write_share=remote_share(writes, own_writes),
    )


def _read_bytes(counters: Counters, prefix: str, reads: float | None) -> float | None:
    small = counters.get(f"{prefix}RDREQ_32B_sum")
    # On MI300 the counter of bubbles is that of requests of 128 bytes; MI200 has none of these.
    large = counters.get("TCC_BUBBLE_sum") if prefix == "TCC_EA0_" else 0.0
    if reads is None or small is None or large is None:
        return None
    return 32 * small + 64 * max(reads - small - large, 0) + 128 * large


def _write_bytes(counters: Counters, prefix: str, writes: float | None) -> float | None:
    large = counters.get(f"{prefix}WRREQ_64B_sum")
    if writes is None or large is None:
        return None
    return 64 * large + 32 * max(writes - large, 0)


def _kilobytes(counters: Counters, name: str) -> float | None:
    """Bytes by a counter that rocprof derives itself, by the same formula, in units of 1024."""
    older = name.title().replace("_", "")
    count = counters.get(name, counters.get(older))
    return None if count is None else _KILOBYTE * count


def remote_share(requests: float | None, own: float | None) -> float | None:
    """The share of requests not to the GPU's own memory.

    Both were counted in different runs: a few more of its own than there are is none remote.
    """
    if own is None or not requests:
        return None
    return max(requests - own, 0) / requests


def l2_bytes(counters: Counters) -> float | None:
    """Bytes between L1 and L2, 64 a request.

    MI300 counts reads of 128 bytes as one, so there it is a lower bound, as in ``calc_ai``.
    """
    names = ("READ", "WRITE", "ATOMIC_WITH_RET", "ATOMIC_WITHOUT_RET")
    found = [counters.get(f"TCP_TCC_{name}_REQ_sum") for name in names]
    known = [count for count in found if count is not None]
    return _LINE_BYTES * sum(known) if len(known) == len(found) else None


def l1_bytes(counters: Counters) -> float | None:
    """Bytes looked up in L1, 64 an access. Source: ``calc_ai``."""
    count = counters.get("TCP_TOTAL_CACHE_ACCESSES_sum")
    return None if count is None else _LINE_BYTES * count


def lds_bytes(counters: Counters, banks: int | None) -> float | None:
    """Bytes of the LDS: cycles less those of conflicts, by banks of 4. Source: ``calc_ai``."""
    active, conflicts = (counters.get(f"SQ_LDS_{n}") for n in ("IDX_ACTIVE", "BANK_CONFLICT"))
    if active is None or conflicts is None or banks is None:
        return None
    return max(active - conflicts, 0) * _LDS_BANK_BYTES * banks


def mfma_utilization(
    counters: Counters, mean_ns: float | None, workload: Mapping[str, Any]
) -> float | None:
    """How long the matrix cores are busy: cycles over those of all SIMDs while the GPU is active.

    Each die counts its active cycles, so their sum is divided by the number of dies. Null where
    these are far more than the highest clock gives in the time: then they are not of this kernel
    alone. Source: metric "MFMA Utilization" of "Pipeline Statistics"; rocprofv3 can derive the same
    itself (``MfmaUtil``).
    """
    if "MfmaUtil" in counters:
        return counters["MfmaUtil"] / 100
    busy, active = counters.get("SQ_VALU_MFMA_BUSY_CYCLES"), counters.get("GRBM_GUI_ACTIVE")
    units, simds, dies = (workload[name] for name in ("compute_units", "simds", "xcds"))
    if busy is None or not active or not units or not simds or not dies:
        return None
    cycles = active / dies
    clock = workload["max_sclk_mhz"]
    if busy and mean_ns and clock and cycles > _MOST_CYCLES * mean_ns * clock / 1000:
        return None
    return float(busy / (simds * units * cycles))
