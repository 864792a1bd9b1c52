"""What is known of one kernel by its counters; null where they do not tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

#: Which roof a kernel is near; neither: it is near none, as latency or too little work limits it.
Position = Literal["memory-bound", "compute-bound", "neither"]


@dataclass(frozen=True, slots=True)
class Fabric:
    """Traffic of a dispatch between the L2 and the Infinity Fabric, behind which all memory is.

    Bytes are means. What is remote went to another GPU or the host, over xGMI or PCIe: requests
    are counted, not their sizes, so that bytes are split in proportion.
    """

    read_bytes: float | None = None
    write_bytes: float | None = None
    remote_read_share: float | None = None  #: of read requests
    remote_write_share: float | None = None  #: of write and atomic requests

    @property
    def total_bytes(self) -> float | None:
        """Reads and writes together."""
        if self.read_bytes is None or self.write_bytes is None:
            return None
        return self.read_bytes + self.write_bytes

    @property
    def hbm_read_bytes(self) -> float | None:
        """Of the reads, those from the GPU's own memory."""
        return _part(self.read_bytes, self.remote_read_share, own=True)

    @property
    def hbm_write_bytes(self) -> float | None:
        """Of the writes, those to the GPU's own memory."""
        return _part(self.write_bytes, self.remote_write_share, own=True)

    @property
    def remote_bytes(self) -> float | None:
        """Reads and writes over xGMI or PCIe."""
        read = _part(self.read_bytes, self.remote_read_share, own=False)
        write = _part(self.write_bytes, self.remote_write_share, own=False)
        return None if read is None or write is None else read + write


def _part(count: float | None, remote: float | None, *, own: bool) -> float | None:
    if count == 0:
        return 0.0
    if count is None or remote is None:
        return None
    return count * (1 - remote if own else remote)


@dataclass(frozen=True, slots=True)
class Measured:
    """What counters of a kernel tell, before it is compared with peaks.

    ``gflops`` are by type of operation, such as ``mfma bf16`` (integers: operations), ``gbps`` by
    level of memory; both are rates over the length of a dispatch, in 1e9 a second.
    """

    flops: float | None = None  #: floating-point operations of a dispatch
    total_gflops: float | None = None  #: their rate
    gflops: dict[str, float] = field(default_factory=dict)
    gbps: dict[str, float] = field(default_factory=dict)
    intensity: dict[str, float] = field(default_factory=dict)  #: FLOP a byte of each level
    mfma_utilization: float | None = None  #: share of the time that the matrix cores are busy
    fabric: Fabric = Fabric()


@dataclass(frozen=True, slots=True)
class KernelCounters:
    """A kernel of a profile, measured and compared with the peaks of its GPU."""

    workload: int  #: row in WORKLOADS
    kernel: str
    is_communication: bool  #: it cannot run alone, so its counters are distorted
    dispatches: int
    mean_ns: float | None
    median_ns: float | None
    total_ns: float | None
    time_share: float | None  #: of all kernels of the profile but communication
    measured: Measured
    roofs: dict[str, float]  #: share of each measured peak that it reaches

    @property
    def binding_roof(self) -> str | None:
        """The roof it is nearest to: at its intensity no other one is lower."""
        return max(self.roofs, key=lambda roof: (self.roofs[roof], roof), default=None)

    @property
    def binding_share(self) -> float | None:
        """How much of that it reaches."""
        roof = self.binding_roof
        return None if roof is None else self.roofs[roof]

    @property
    def position(self) -> Position | None:
        """Which kind of roof limits it; null where a roof that may do so is not known."""
        roof, share = self.binding_roof, self.binding_share
        if roof is None or share is None or self.is_communication:
            return None
        if share < NEAR:
            return "neither" if self.roofs.keys() >= _ALL_KINDS else None
        return "compute-bound" if roof in COMPUTE_ROOFS else "memory-bound"


#: A kernel below this share of every roof is limited by none of them: the same limit as Nsight
#: Compute's speed-of-light rule, which calls what stays below 60 % bound by latency.
NEAR = 0.6
COMPUTE_ROOFS = ("mfma", "valu")
_ALL_KINDS = {"hbm", *COMPUTE_ROOFS}
