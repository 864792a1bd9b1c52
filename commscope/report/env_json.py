"""A topology and what its links allow, as JSON (docs/commands.md)."""

from __future__ import annotations

from typing import Any

from commscope.topology.model import Topology
from commscope.topology.summary import expectations

SCHEMA = "commscope.env/1"


def env_dict(topology: Topology) -> dict[str, Any]:
    """The contract of docs/commands.md."""
    expected = [found.to_dict() for found in expectations(topology)]
    return {"schema": SCHEMA, **topology.to_dict(), "expected": expected}
