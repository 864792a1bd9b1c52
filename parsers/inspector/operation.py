"""Names of operations, and how each profiler counts their bytes."""

from __future__ import annotations

import re

_OPS = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all", "alltoallv": "all_to_all", "broadcast": "broadcast",
    "reduce": "reduce", "gather": "gather", "scatter": "scatter", "send": "send", "recv": "recv",
}  # fmt: skip
#: Operations of which the profilers give the part of one rank, nccl-tests that of all.
_PARTED = frozenset({"all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"})
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def operation(name: str) -> str:
    """``AllReduce`` as ``all_reduce``; names that are not known in the same manner."""
    known = _OPS.get(name.replace("_", "").lower())
    return known or _WORD.sub("_", name).lower()


def total_bytes(op: str, message_bytes: int, nranks: int | None) -> int | None:
    """The size as nccl-tests counts it; null where the number of ranks is needed and not known."""
    if op not in _PARTED:
        return message_bytes
    return None if nranks is None else message_bytes * nranks
