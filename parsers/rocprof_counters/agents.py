"""What the GPUs that were counted are, by the properties that rocprofv3 tells of its agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from commscope.parsers.rocprof_agents import is_gpu


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: Any) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 < number < 2**31 else None


_FACTS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "gpu": ("product_name", _text),
    "arch": ("name", _text),
    "compute_units": ("cu_count", _whole),
    "simds": ("simd_per_cu", _whole),
    "xcds": ("num_xcc", _whole),
    "wave_size": ("wave_front_size", _whole),
    "max_sclk_mhz": ("max_engine_clk_fcompute", _whole),
}


def facts_of_agents(agents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Columns of WORKLOADS in which these GPUs agree."""
    gpus = [agent for agent in agents if is_gpu(agent)]
    facts = {}
    for column, (key, fit) in _FACTS.items():
        told = {fit(gpu.get(key)) for gpu in gpus}
        if len(told) == 1:
            facts[column] = told.pop()
    return facts
