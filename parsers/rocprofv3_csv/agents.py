"""Which device an agent is: rocprofv3 numbers all processors of the node, HIP only the GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from commscope.parsers.placing import NO_GPU, UNKNOWN

_NUMBER = re.compile(r"(\D*?)\s*(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Agents:
    """The GPUs of the node, in the order of HIP; empty where no agent_info was written."""

    by_node: Mapping[int, int] = field(default_factory=dict)  #: node id -> device
    by_logical: Mapping[int, int] = field(default_factory=dict)  #: logical node id -> device
    products: Mapping[int, str] = field(default_factory=dict)  #: device -> product name

    def device(self, agent: str) -> int:
        """The device's number of ``GPU 0``, ``Agent 4`` or ``4``; NO_GPU or UNKNOWN for others."""
        found = _NUMBER.fullmatch(agent.strip())
        if found is None or found[1].lower() not in ("", "agent", "gpu", "cpu"):
            return UNKNOWN
        word, number = found[1].lower(), int(found[2])
        if word == "cpu":
            return NO_GPU
        if word == "gpu" or not self.by_node:
            return number
        # A bare number is a node id (ROCm 6), or the wish of --agent-index for one.
        first, other = self.by_logical, self.by_node
        if not word:
            first, other = other, first
        return first.get(number, other.get(number, NO_GPU))


def agents_of(rows: pa.Table) -> Agents:
    """The GPUs that an agent_info file lists."""
    gpus = sorted(
        (row for row in rows.to_pylist() if row["Agent_Type"] == "GPU"),
        key=lambda row: row["Node_Id"],
    )
    names = [str(row.get("Product_Name") or row.get("Name") or "") for row in gpus]
    return Agents(
        by_node=_numbers([row["Node_Id"] for row in gpus]),
        by_logical=_numbers([row.get("Logical_Node_Id") for row in gpus]),
        products={device: name for device, name in enumerate(names) if name},
    )


def _numbers(ids: Sequence[int | None]) -> dict[int, int]:
    return {number: device for device, number in enumerate(ids) if number is not None}
