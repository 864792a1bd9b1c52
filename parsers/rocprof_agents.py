"""Processors of a node, as all formats of rocprofv3 list them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_GPU = (2, "2", "GPU")


def is_gpu(agent: Mapping[str, Any]) -> bool:
    """Whether an agent is a GPU: JSON numbers its types, csv and rocpd name them."""
    return agent.get("type", agent.get("agent_type")) in _GPU
