"""Why communication was exposed, summed over all ranks, in words for people."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from commscope.report.model import ReportTable

CAUSES = {
    "straggler_wait": "waiting for a late rank",
    "kernel_gap": "pause between kernels",
    "host_late": "next kernel launched late",
    "host_sync": "host blocked on communication",
    "stream_order": "behind it in a hardware queue",
    "dependency": "next kernel needs the result",
    "step_tail": "nothing of the step follows",
    "unknown": "not known",
}


@dataclass(frozen=True, slots=True)
class CauseSum:
    """Exposed communication of one cause on all ranks, and on the rank with most of it."""

    cause: str
    gaps: int
    total_ns: int
    share: float
    rank: int
    rank_ns: int


def by_cause(gap_sums: ReportTable) -> list[CauseSum]:
    """The causes, most exposed first; none where nothing is exposed."""
    of_rank: defaultdict[str, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    gaps: defaultdict[str, int] = defaultdict(int)
    for row in gap_sums:
        of_rank[row["cause"]][row["rank"]] += row["total_ns"]
        gaps[row["cause"]] += row["gaps"]
    whole = max(sum(sum(ranks.values()) for ranks in of_rank.values()), 1)
    sums = []
    for cause, ranks in of_rank.items():
        rank = max(ranks, key=lambda number: (ranks[number], -number))
        total = sum(ranks.values())
        sums.append(CauseSum(cause, gaps[cause], total, total / whole, rank, ranks[rank]))
    return sorted(sums, key=lambda each: (-each.total_ns, each.cause))
