"""What the links of known GPUs give: the rates that the libraries' own models assume.

Sources: ``topo.h`` of RCCL and NCCL for what a link gives in practice, vendors' product pages for
what it can give at most. All GB/s are 1e9 bytes/s in one direction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


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
    _part("MI350X/MI355X", r"MI35[05]", 7, 58.0, 76.8, 15.0, per_peer=True),
    _part("MI300X/MI325X", r"MI3(?:00X|25)", 7, 48.0, 64.0, 15.0, per_peer=True),
    _part("MI250", r"MI250", 4, 36.0, 50.0, 20.0, per_peer=True),
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
