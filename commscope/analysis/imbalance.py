"""Whether ranks that do the same work take as long for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

import pyarrow as pa

from commscope.analysis.timeline import Timeline
from commscope.analysis.windows import Windows
from commscope.columns import Int64
from commscope.intervals import measure


def compute_table(timeline: Timeline, windows: Windows, stages: Mapping[int, int]) -> pa.Table:
    """One row a rank: its compute a step (median) against that of its peers, most first.

    Peers are the other ranks of its pipeline stage, or all others where there is no pipeline.
    Columns: ``rank``, ``stage``, ``compute_p50_ns``, ``peers``, ``peers_p50_ns`` (median of the
    peers), ``ratio`` of the two; null without peers.
    """
    of_rank = _medians(timeline, windows)
    groups: defaultdict[int | None, list[int]] = defaultdict(list)
    for rank in of_rank:
        groups[stages.get(rank)].append(rank)
    rows = []
    for rank, own in of_rank.items():
        peers = [of_rank[other] for other in groups[stages.get(rank)] if other != rank]
        usual = round(median(peers)) if peers else None
        ratio = own / usual if usual else None
        rows.append((rank, stages.get(rank), own, len(peers), usual, ratio))
    rows.sort(key=lambda row: (-(row[-1] or 0), row[0]))
    names = [field.name for field in _SCHEMA]
    return pa.Table.from_pylist([dict(zip(names, row)) for row in rows], schema=_SCHEMA)


_SCHEMA = pa.schema(
    [
        ("rank", pa.int64()),
        ("stage", pa.int64()),
        ("compute_p50_ns", pa.int64()),
        ("peers", pa.int64()),
        ("peers_p50_ns", pa.int64()),
        ("ratio", pa.float64()),
    ]
)


def _medians(timeline: Timeline, windows: Windows) -> dict[int, int]:
    """The median over its windows of what each rank computes."""
    compute: Int64 = measure(timeline.compute, *windows.axis(timeline))
    return {
        int(number): round(median(compute[windows.rank == index].tolist()))
        for index, number in enumerate(timeline.ranks)
        if (windows.rank == index).any()
    }
