"""Ranks that lack a stream which every other rank has: some profilers lose one (part of Q2).

See https://github.com/ROCm/rocm-systems/issues/1327.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from commscope.analysis.groups import is_among
from commscope.analysis.result import Analysis
from commscope.classify import ActivityClass
from commscope.columns import NONE, Bool, Int64, int64, where_equal

#: Share of a rank's kernels of a class that makes a stream one of those the rank works on.
MIN_SHARE = 0.05
#: Share from which a stream is not lost: a rank near the other limit lacks nothing.
_PRESENT = 0.01
#: Of fewer kernels one is more than the least share: they tell nothing.
_ENOUGH_KERNELS = 20
#: With two ranks nothing tells which one is odd, unless it has none at all.
_ENOUGH_RANKS = 3


@dataclass(frozen=True, slots=True)
class LostStream:
    """On how many streams a rank has a class of kernels, and the least of the others."""

    rank: int
    kind: str  #: compute or communication
    has: int
    others: int


def lost_streams(analysis: Analysis) -> list[LostStream]:
    """The ranks that lack a stream of compute or communication in the steps all ranks have.

    Those that have none of a class anywhere are another matter, and not among them.
    """
    common = _in_common_steps(analysis)
    kinds = (ActivityClass.COMPUTE, ActivityClass.COMMUNICATION)
    return [lost for kind in kinds for lost in _lost(analysis, kind, common)]


def _in_common_steps(analysis: Analysis) -> Bool:
    """Which activities were launched in a step that all ranks were active in, and show the end of.

    The last step may have been cut anywhere; where the whole trace is one, there is no other.
    """
    steps = analysis.trace.all_steps
    active = int64(steps, "start_ns") != NONE
    active &= ~np.asarray(
        steps.column("open").to_numpy(zero_copy_only=False), np.bool_
    ) | where_equal(steps, "source", "whole_trace")
    numbers, ranks = np.unique(int64(steps, "step")[active], return_counts=True)
    common = numbers[ranks == len(analysis.timeline.ranks)]
    row = analysis.timeline.activities.row
    return is_among(int64(analysis.trace.events, "step")[row], common)


def _lost(analysis: Analysis, kind: ActivityClass, common: Bool) -> Iterator[LostStream]:
    found, ranks = analysis.timeline.activities, analysis.timeline.ranks
    stream = int64(analysis.trace.events, "stream")[found.row]
    chosen = common & found.of(kind)
    of_rank = [stream[chosen & (found.rank == index)] for index in range(len(ranks))]
    used = [_streams(streams[streams != NONE], MIN_SHARE) for streams in of_rank]
    present = [_streams(streams, _PRESENT) for streams in of_rank]
    for index, rank in enumerate(ranks.tolist()):
        others = min((count for i, count in enumerate(used) if i != index), default=0)
        if present[index]:
            clear = len(ranks) >= _ENOUGH_RANKS and len(of_rank[index]) >= _ENOUGH_KERNELS
        else:
            clear = bool((found.of(kind) & (found.rank == index)).any())
        if clear and present[index] < others:
            yield LostStream(rank, kind.name.lower(), present[index], others)


def _streams(streams: Int64, share: float) -> int:
    """How many streams carry at least this share of the kernels."""
    counts = np.unique(streams, return_counts=True)[1]
    return int((counts >= share * len(streams)).sum())
