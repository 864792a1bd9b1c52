"""The processors of the node, by the handles that records name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from commscope.parsers.integers import whole_number
from commscope.parsers.placing import NO_GPU
from commscope.parsers.rocprof_agents import is_gpu


@dataclass(frozen=True, slots=True)
class Agents:
    """The GPUs in the order of HIP, and the CPUs."""

    devices: Mapping[int, int] = field(default_factory=dict)  #: handle -> device, or NO_GPU
    products: Mapping[int, str] = field(default_factory=dict)  #: device -> product name


def agents_of(listed: Any) -> Agents:
    """The agents of a list; what is no agent in it is passed over."""
    agents = {
        handle: entry
        for entry in (listed if isinstance(listed, list) else [])
        if isinstance(entry, dict) and (handle := _handle(entry)) is not None
    }
    gpus = [handle for handle, entry in agents.items() if is_gpu(entry)]
    gpus.sort(key=lambda handle: _number(agents[handle], "node_id"))
    names = [_text(agents[gpu], "product_name") or _text(agents[gpu], "name") for gpu in gpus]
    return Agents(
        {**dict.fromkeys(agents, NO_GPU), **{gpu: device for device, gpu in enumerate(gpus)}},
        {device: name for device, name in enumerate(names) if name},
    )


def _handle(entry: Mapping[str, Any]) -> int | None:
    identity = entry.get("id")
    handle = identity.get("handle") if isinstance(identity, dict) else None
    return whole_number(handle)


def _number(entry: Mapping[str, Any], key: str) -> int:
    return whole_number(entry.get(key)) or 0


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
