"""What overlap costs: kernels that run longer beside communication than alone."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import group_rows, group_sums
from commscope.analysis.percentiles import group_median
from commscope.analysis.timeline import Timeline
from commscope.analysis.windows import Windows
from commscope.classify import ActivityClass
from commscope.columns import NONE, Bool, Int64, codes, int64, nullable
from commscope.intervals import measure
from commscope.trace import Trace

#: A kernel is beside communication if that runs for at least this share of it, alone if it never
#: does.
_BESIDE = 0.9


def contention_table(trace: Trace, timeline: Timeline, windows: Windows) -> pa.Table:
    """One row a rank and compute kernel that ran both beside communication and alone.

    ``beside`` and ``alone`` count them, ``beside_p50_ns`` and ``alone_p50_ns`` are their median
    lengths, ``stretch`` is the ratio, and ``extra_ns`` how much longer all of those beside took
    than as many alone. A kernel is known by its name and its number of work-groups: where the trace
    does not tell that, one name may stand for kernels of many lengths, and nothing is compared.
    Only those that begin in ``windows`` count.
    """
    found = timeline.activities
    start, end = timeline.activities_on_axis()
    inside = windows.at(timeline, start) >= 0
    grid = int64(trace.events, "workgroups")[found.row]
    rows = np.flatnonzero(found.of(ActivityClass.COMPUTE) & inside & (grid != NONE))
    length = (end - start)[rows]
    covered = measure(timeline.communication, start[rows], end[rows])
    name, names = codes(trace.events, "name")
    of_name = name[found.row[rows]]
    grid = grid[rows]
    group, first = group_rows([found.rank[rows], of_name, grid])
    is_beside, is_alone = covered >= _BESIDE * length, covered == 0
    some_beside, some_alone = (_some(group, of, len(first)) for of in (is_beside, is_alone))
    both = np.flatnonzero(some_beside & some_alone)
    compared = (some_beside & some_alone)[group]
    beside = _Half(group, length, is_beside & compared, len(first))
    alone = _Half(group, length, is_alone & compared, len(first))
    longer = beside.total[both] - beside.count[both] * alone.p50[both]
    return pa.table(
        {
            "rank": timeline.ranks[found.rank[rows[first[both]]]],
            "name": pa.array([names[n] for n in of_name[first[both]].tolist()], pa.string()),
            "workgroups": nullable(grid[first[both]]),
            "beside": beside.count[both],
            "alone": alone.count[both],
            "beside_p50_ns": nullable(beside.p50[both]),
            "alone_p50_ns": nullable(alone.p50[both]),
            "stretch": beside.p50[both] / np.maximum(alone.p50[both], 1),
            "extra_ns": longer,
        }
    ).sort_by([("extra_ns", "descending"), ("rank", "ascending"), ("name", "ascending")])


def stretches(contention: pa.Table) -> dict[str, float]:
    """For each kernel name how much longer all that ran beside communication took than alone.

    One is no difference; rows of ``contention_table`` are added up over ranks and work-groups.
    """
    alone = int64(contention, "beside") * int64(contention, "alone_p50_ns")
    extra: defaultdict[str, int] = defaultdict(int)
    base: defaultdict[str, int] = defaultdict(int)
    names = contention.column("name").to_pylist()
    for name, more, usual in zip(names, int64(contention, "extra_ns").tolist(), alone.tolist()):
        extra[name] += more
        base[name] += usual
    return {name: 1 + extra[name] / usual for name, usual in base.items() if usual}


def _some(group: Int64, chosen: Bool, groups: int) -> Bool:
    """Which groups have a row that is chosen."""
    found = np.zeros(groups, np.bool_)
    found[group[chosen]] = True
    return found


class _Half:
    """Count, sum and median of the chosen lengths of each group; ``NONE`` as median of none."""

    def __init__(self, group: Int64, length: Int64, chosen: Bool, groups: int) -> None:
        group, length = group[chosen], length[chosen]
        self.count = np.bincount(group, minlength=groups)
        self.total = group_sums(group, length, groups)
        self.p50 = group_median(group, length, groups, missing=NONE)
