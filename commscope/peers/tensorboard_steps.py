"""The steps as PyTorch's TensorBoard plug-in finds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64, int64
from commscope.parsers.kineto.beside import Beside
from commscope.peers.activities import Activities, OfRank
from commscope.peers.steps import StepMarks

_NEVER = int(np.iinfo(np.int64).max)
#: The last step goes where it has less than this share of the activities of the one before.
_LEAST_OF_LAST = 0.8


@dataclass(frozen=True, slots=True)
class TbStep:
    """A step, and how its window differs from the device window; null where it finds none."""

    number: str
    window: tuple[int, int] | None
    kind: Literal["definition", "bug"]
    says: str


@dataclass(frozen=True, slots=True)
class Launches:
    """Calls that launched something, by begin, with when what they launched ran."""

    start_ns: Int64
    end_ns: Int64
    first_ns: Int64
    last_ns: Int64
    count: Int64


def steps_of(of: OfRank, beside: Beside | None, marks: StepMarks) -> list[TbStep]:
    """The steps of a rank that has marks of steps."""
    if beside is not None and "Runtime" in beside.categories:
        return _device_steps(marks, _launches_of(of.host, of.all), of.all)
    return _host_steps(marks)


def one_step(of: OfRank, beside: Beside | None) -> TbStep:
    """Without steps: from the first operator to the last, or as near to it as is known."""
    says = "without annotations its one step runs from the first operator to the last on the host"
    if beside is None:
        return TbStep("0", whole_of(of), "definition", says)
    if beside.operators_ns is None:
        return TbStep(
            "0", None, "bug", "no operator on the host: Other is -18446744073709551615 us"
        )
    start, end = beside.operators_ns
    return TbStep("0", (start + beside.base_ns, end + beside.base_ns), "definition", says)


def whole_of(of: OfRank) -> tuple[int, int] | None:
    """From the first begin of an activity to the last end; null where none has a length."""
    found = of.all.where(of.counts)
    return (int(found.start_ns.min()), int(found.end_ns.max())) if len(found) else None


def _launches_of(host: pa.Table, of: Activities) -> Launches:
    """The calls of a rank that launched any of its activities."""
    ids = int64(host, "correlation")
    rows = np.flatnonzero(ids != NONE)
    rows = rows[np.isin(ids[rows], of.correlation)]
    start = int64(host, "start_ns")[rows]
    order = np.lexsort((start, ids[rows]))
    rows = rows[order][np.unique(ids[rows][order], return_index=True)[1]]
    known, place = np.unique(ids[rows], return_inverse=True)
    at = np.searchsorted(known, of.correlation)
    linked = np.isin(of.correlation, known)
    first, last = np.full(len(known), _NEVER), np.full(len(known), NONE)
    np.minimum.at(first, at[linked], of.start_ns[linked])
    np.maximum.at(last, at[linked], of.end_ns[linked])
    count = np.bincount(at[linked], minlength=len(known))
    start = int64(host, "start_ns")[rows]
    by_start = np.argsort(start, kind="stable")
    end = start + int64(host, "dur_ns")[rows]
    place = place[by_start]
    return Launches(start[by_start], end[by_start], first[place], last[place], count[place])


def _host_steps(marks: StepMarks) -> list[TbStep]:
    """Where it does not know the category of the launches: the annotations themselves.

    Of two with one number the later is shown.
    """
    found = {}
    for number, start, end, on_gpu in zip(
        marks.numbers, marks.start_ns.tolist(), marks.end_ns.tolist(), marks.on_gpu
    ):
        found[number] = _step(number, (start, end), on_gpu=on_gpu)
    return list(found.values())


def _step(number: str, window: tuple[int, int], *, on_gpu: bool) -> TbStep:
    if on_gpu:
        says = "it takes the annotation on the GPU's track for another step and shows that one"
        return TbStep(number, window, "bug", says)
    says = "its step is the interval on the host: it does not know the category of the launches"
    return TbStep(number, window, "bug", says)


def _device_steps(marks: StepMarks, launches: Launches, of: Activities) -> list[TbStep]:
    """From the host's begin, or the end of the step before, to the end of what was launched."""
    windows, counts = _moved(marks, launches, of)
    kept = _kept(counts)
    says = "its step runs from its begin on the host to the end of the last activity it launched"
    return [
        TbStep(number, window, "definition", says)
        for number, window in zip(marks.numbers[:kept], windows)
    ]


def _moved(
    marks: StepMarks, launches: Launches, of: Activities
) -> tuple[list[tuple[int, int]], list[int]]:
    inside = _inside(marks, launches)
    lasts = [int(launches.last_ns[rows].max()) if len(rows) else NONE for rows in inside]
    counts = [int(launches.count[rows].sum()) for rows in inside]
    spans = list(zip(marks.start_ns.tolist(), marks.end_ns.tolist()))
    if not any(counts):
        return spans, counts
    before = _end_before(marks, launches, inside[0], of)
    windows = []
    for (start, end), last in zip(spans, lasts):
        begin = max(before, start)
        before = max(end, last, begin)
        windows.append((begin, before))
    return windows, counts


def _inside(marks: StepMarks, launches: Launches) -> list[Int64]:
    """Rows of the launches that lie wholly in each step; none is in two."""
    taken, found = 0, []
    for start, end in zip(marks.start_ns.tolist(), marks.end_ns.tolist()):
        first, behind = np.searchsorted(launches.start_ns, [start, end])
        rows = np.arange(max(int(first), taken), int(behind))
        taken = max(taken, int(behind))
        found.append(rows[launches.end_ns[rows] <= end])
    return found


def _end_before(marks: StepMarks, launches: Launches, rows: Int64, of: Activities) -> int:
    """When the last activity ends that surely belongs to no step."""
    begin = int(marks.start_ns[0])
    if not len(rows):
        return begin
    earlier = of.end_ns[of.end_ns < launches.first_ns[rows].min()]
    return max(begin, int(earlier.max())) if len(earlier) else begin


def _kept(counts: list[int]) -> int:
    """How many steps it keeps: the last goes where it looks cut."""
    if len(counts) < 2 or not any(counts):
        return len(counts)
    last = max(row for row, count in enumerate(counts) if count)
    if last and counts[last - 1] * _LEAST_OF_LAST > counts[last]:
        return last
    return last + 1
