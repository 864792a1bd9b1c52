"""What the links of known GPUs give: the rates that the libraries' own models assume.

Sources: ``topo.h`` of RCCL and NCCL for what a link gives in practice, vendors' product pages for
what it can give at most. All GB/s are 1e9 bytes/s in one direction.

A link of xGMI has two rates in practice. The model's (48 of MI300X) is what the library counts with
and prints; measured times of calls by size are known as shares of it, so the rules that judge calls
of a trace need it. The realised rate (45) is what large all-reduces of whole hosts were measured to
reach, which is what the links of a host alone can promise. 8 MI300X so are expected to reach 336 by
the model, of which a share is healthy, and to realise 315.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Xgmi:
    """One link of xGMI of an architecture: what the model counts, and what collectives reach.

    ``measured`` are the sizes of groups for which the latter was measured: 8 x MI300X 305-318 GB/s
    (7 links), 2 x MI300X one link, 8 x MI355X 407, 4 x MI300A 241-248 (3 peers). Where one of the
    two rates is not known, the other stands for it.
    """

    gfx: str  #: a pattern
    model_gbps: float
    realised_gbps: float
    measured: tuple[int, ...] = ()
    device_id: str = ""  #: where products of the architecture differ


MI300A = Xgmi("gfx942", 48.0, 80.0, (4,), "0x74a0")
MI300X = Xgmi("gfx942", 48.0, 45.0, (2, 8))
MI350X = Xgmi("gfx950", 58.0, 58.0, (2, 8))
MI200 = Xgmi("gfx90a", 36.0, 36.0)
_VEGA = Xgmi("gfx90[68]", 24.0, 24.0)
#: Products that differ from their architecture come before it.
XGMI = (MI300A, MI300X, MI350X, MI200, _VEGA)


@dataclass(frozen=True, slots=True)
class Part:
    """The GPU-to-GPU links of one product.

    ``per_peer`` says that each pair of GPUs has links of its own (a mesh, as with xGMI), so that a
    group uses as many as it has peers; else all links lead to a switch, and every group has all.
    """

    name: str
    pattern: re.Pattern[str]
    links: int
    model_gbps: float
    peak_gbps: float
    latency_us: float
    per_peer: bool

    def model(self, group_size: int) -> float:
        """What the library's model expects of a group inside one host."""
        return self.model_gbps * self._used(group_size)

    def peak(self, group_size: int) -> float:
        """What the links can carry at most; a switch that reduces may add a fifth to it."""
        return self.peak_gbps * self._used(group_size) * (1.0 if self.per_peer else 1.2)

    def _used(self, group_size: int) -> int:
        return min(max(group_size - 1, 1), self.links) if self.per_peer else self.links


def _part(name: str, pattern: str, *numbers: float, per_peer: bool = False) -> Part:
    links, model, peak, latency = numbers
    return Part(name, re.compile(pattern, re.I), int(links), model, peak, latency, per_peer)


PARTS = (
    _part("MI350X/MI355X", r"MI35[05]", 7, MI350X.model_gbps, 76.8, 15.0, per_peer=True),
    _part("MI300X/MI325X", r"MI3(?:00X|25)", 7, MI300X.model_gbps, 64.0, 15.0, per_peer=True),
    _part("MI250", r"MI250", 4, MI200.model_gbps, 50.0, 20.0, per_peer=True),
    _part("B200", r"B[123]00", 18, 40.1, 50.0, 10.0),
    _part("H100/H200", r"H[12]00(?!.*(?:PCIe|NVL))|GH200", 18, 20.6, 25.0, 10.0),
    _part("A100", r"A100.*(?:SXM|PG509)", 12, 20.0, 25.0, 12.0),
    _part("V100", r"V100-(?:SXM|DGXS)", 6, 20.0, 25.0, 12.0),
)


def part_of(gpu: str | None) -> Part | None:
    """The part of a product name; null where its links are not known."""
    return next((part for part in PARTS if gpu and part.pattern.search(gpu)), None)


def expected_busbw_gbps(part: Part, group_size: int, size_bytes: int, factor: float) -> float:
    """The bus bandwidth to expect of a message: the model's rate, less at small sizes.

    The time is a floor plus the transfer at the model's rate (knowledge of measured tables: a call
    may reach 60 % of this between 1 and 16 MiB and be healthy).
    """
    rate = part.model(group_size)
    seconds = part.latency_us * 1e-6 + factor * size_bytes / (rate * 1e9)
    return factor * size_bytes / seconds / 1e9
