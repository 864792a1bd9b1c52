"""The pipeline bubble: when a stage has nothing to do but to wait for its neighbours."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from commscope.analysis.across import Across
from commscope.analysis.timeline import Timeline, on_axis
from commscope.analysis.windows import Windows
from commscope.classify import ActivityClass
from commscope.columns import int64
from commscope.intervals import Intervals, measure, union

PIPELINE = "pp"
_COLUMNS = ("rank", "stage", "window_ns", "bubble_ns", "idle_ns")


def pipeline_stages(across: Across) -> dict[int, int]:
    """The stage of each rank that is in a pipeline; stages follow the order of the ranks in it.

    A pipeline is what communicators of this role connect: a group of all stages, or one for each
    pair of neighbours; one that was matched across no ranks shows none.
    """
    matched = set(across.matching.communicator.tolist())
    members = [
        communicator.members
        for number, communicator in enumerate(across.matching.communicators.found)
        if across.roles[number] == PIPELINE and number in matched
    ]
    return {rank: stage for chain in _connected(members) for stage, rank in enumerate(chain)}


def _connected(groups: Iterable[tuple[int, ...]]) -> list[list[int]]:
    """Groups with common members made one; each sorted."""
    chains: list[set[int]] = []
    for group in groups:
        joined = set(group).union(*(chain for chain in chains if chain & set(group)))
        chains = [chain for chain in chains if not chain & joined] + [joined]
    return sorted(sorted(chain) for chain in chains)


def bubble_table(timeline: Timeline, across: Across, windows: Windows) -> pa.Table:
    """One row a rank in a pipeline: ``rank``, ``stage``, ``window_ns``, ``bubble_ns``, ``idle_ns``.

    The bubble is the time in the windows in which nothing but messages of the pipeline runs; in
    ``idle_ns`` of it not even they do.
    """
    stages = pipeline_stages(across)
    if not stages:
        return pa.schema([(name, pa.int64()) for name in _COLUMNS]).empty_table()
    start, end = windows.axis(timeline)
    length, count = end - start, len(timeline.ranks)
    working = _all_but_pipeline(timeline, across)
    columns = {
        "window_ns": windows.sums(length, count),
        "bubble_ns": windows.sums(length - measure(working, start, end), count),
        "idle_ns": windows.sums(length - measure(timeline.busy, start, end), count),
    }
    stage = pa.array([stages.get(rank) for rank in timeline.ranks.tolist()], pa.int64())
    table = pa.table({"rank": pa.array(timeline.ranks), "stage": stage, **columns})
    return table.filter(stage.is_valid()).sort_by([("stage", "ascending"), ("rank", "ascending")])


def _all_but_pipeline(timeline: Timeline, across: Across) -> Intervals:
    """When anything else runs."""
    rest = ~timeline.activities.of(ActivityClass.COMMUNICATION)
    others = ~across.has_role(int64(across.calls, "communicator"), PIPELINE)
    _, *of_calls = on_axis(timeline, across.calls)
    starts, ends = (
        np.concatenate((times[rest], calls[others]))
        for times, calls in zip(timeline.activities_on_axis(), of_calls)
    )
    return union(starts, ends)
