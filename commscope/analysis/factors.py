"""What bus bandwidth is to algorithm bandwidth."""

from __future__ import annotations


def bus_factor(op: str | None, members: int) -> float | None:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests counts; null for what has none."""
    if members < 2 or op is None:
        return None
    if op == "all_reduce":
        return 2 * (members - 1) / members
    if op in ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"):
        return (members - 1) / members
    return 1.0 if op in ("broadcast", "reduce", "send", "recv") else None
