"""Which operation a benchmark measured: its program says, else the numbers tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

#: Programs of nccl-tests and rccl-tests, without ``_perf``; longer names before what they begin.
_PROGRAMS = {
    "all_reduce": "all_reduce", "allreduce": "all_reduce", "all_gather": "all_gather",
    "allgather": "all_gather", "reduce_scatter": "reduce_scatter",
    "reducescatter": "reduce_scatter", "alltoallv": "all_to_all", "alltoall": "all_to_all",
    "all_to_all": "all_to_all", "sendrecv": "send", "broadcast": "broadcast",
    "gather": "gather", "scatter": "scatter", "reduce": "reduce",
}  # fmt: skip
_PROGRAM = re.compile(rf"(?<![a-z])({'|'.join(_PROGRAMS)})_perf\b")
_WORD = re.compile(rf"(?<![a-z])({'|'.join(_PROGRAMS)})(?![a-z])")
_CLOSE = 0.02


def program_in(text: str) -> str | None:
    """The operation of the first program that a text names, such as ``./all_reduce_perf -g 8``."""
    found = _PROGRAM.search(text)
    return _PROGRAMS[found[1]] if found else None


def word_in(name: str) -> str | None:
    """The operation that the name of a file speaks of."""
    found = _WORD.search(name.lower())
    return _PROGRAMS[found[1]] if found else None


def by_numbers(
    ratios: Sequence[float], ranks: int | None, *, reduces: bool, rooted: bool
) -> str | None:
    """The operation, where only one has this ratio of bus to algorithm bandwidth."""
    if not ratios or ranks is None or ranks < 2:
        return None
    ratio = median(ratios)
    if abs(ratio - 1) < _CLOSE and rooted:
        return "reduce" if reduces else "broadcast"
    if reduces and not rooted:
        parts = (ranks - 1) / ranks
        for op, factor in (("all_reduce", 2 * parts), ("reduce_scatter", parts)):
            if abs(ratio - factor) < _CLOSE:
                return op
    return None
