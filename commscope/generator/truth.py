"""The exact answers of a simulation: waits of collectives, and partitions of steps.

Everything is recomputed from the activities by counting through their begins and ends, one after
the other, in plain Python: no part of the analysis is used, as it is tested against this.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from commscope.generator.schedule import Compute
from commscope.generator.simulation import Activity, Instance, RankRun, Simulation


@dataclass(frozen=True, slots=True)
class MemberTruth:
    """One member of an instance; ``is_counted``: it ended after the last one had arrived."""

    rank: int
    arrival_ns: int
    end_ns: int
    wait_ns: int
    transfer_ns: int
    is_counted: bool


@dataclass(frozen=True, slots=True)
class InstanceTruth:
    """An instance of which every member is there; the straggler is null where all arrive at once.

    ``transfer_ns`` is null where no member ends after the last arrival.
    """

    index: int
    instance: Instance
    members: tuple[MemberTruth, ...]
    first_arrival_ns: int
    last_arrival_ns: int
    transfer_ns: int | None
    straggler: int | None

    @property
    def skew_ns(self) -> int:
        """From the first arrival to the last."""
        return self.last_arrival_ns - self.first_arrival_ns


@dataclass(frozen=True, slots=True)
class StepTruth:
    """The partition of one step of one rank; all is 0 where nothing was launched in it.

    ``start_ns`` and ``end_ns`` bound the device window, and are null without one.
    """

    rank: int
    step: int
    open: bool
    start_ns: int | None
    end_ns: int | None
    window_ns: int = 0
    compute_ns: int = 0
    communication_ns: int = 0
    hidden_comm_ns: int = 0
    exposed_comm_ns: int = 0
    exposed_copy_ns: int = 0
    idle_ns: int = 0
    exposed_wait_ns: int = 0
    exposed_transfer_ns: int = 0
    exposed_unmatched_ns: int = 0


def instance_truths(simulation: Simulation) -> list[InstanceTruth]:
    """Arrivals, waits and transfers of the instances whose members are all there, in order."""
    found: defaultdict[int, dict[int, Activity]] = defaultdict(dict)
    for rank, run in enumerate(simulation.ranks):
        for activity in run.activities:
            if activity.instance is not None:
                found[activity.instance][rank] = activity
    return [
        _instance_truth(index, simulation.instances[index], found[index])
        for index in sorted(found)
        if set(found[index]) == set(simulation.instances[index].members)
    ]


def _instance_truth(index: int, instance: Instance, kernels: dict[int, Activity]) -> InstanceTruth:
    arrivals = {rank: kernels[rank].start_ns for rank in instance.members}
    first, last = min(arrivals.values()), max(arrivals.values())
    members = tuple(_member(rank, kernels[rank], last) for rank in instance.members)
    latest = min(rank for rank, arrival in arrivals.items() if arrival == last)
    return InstanceTruth(
        index, instance, members, first, last,
        transfer_ns=min((m.transfer_ns for m in members if m.is_counted), default=None),
        straggler=latest if last > first else None,
    )  # fmt: skip


def _member(rank: int, kernel: Activity, last_ns: int) -> MemberTruth:
    length = kernel.end_ns - kernel.start_ns
    is_counted = kernel.end_ns > last_ns
    wait = last_ns - kernel.start_ns if is_counted else 0
    return MemberTruth(rank, kernel.start_ns, kernel.end_ns, wait, length - wait, is_counted)


def step_truths(simulation: Simulation) -> list[StepTruth]:
    """The partition of every step of every rank, by rank and step."""
    waits = waits_of(simulation)
    return [
        truth
        for rank, run in enumerate(simulation.ranks)
        for truth in rank_truths(rank, run, waits)
    ]


def waits_of(simulation: Simulation) -> dict[tuple[int, int], int]:
    """How long each member waited, by instance and rank, where all members are there."""
    return {
        (truth.index, member.rank): member.wait_ns
        for truth in instance_truths(simulation)
        for member in truth.members
    }


def rank_truths(rank: int, run: RankRun, waits: Mapping[tuple[int, int], int]) -> list[StepTruth]:
    """The partition of every step of one rank; ``waits`` by instance and rank, where known."""
    windows = _device_windows(run)
    amounts = _sweep(_edges(rank, run, waits) + _window_edges(windows), len(windows))
    return [_step_truth(rank, window, amount) for window, amount in zip(windows, amounts)]


@dataclass(slots=True)
class _Window:
    step: int
    start_ns: int | None = None
    end_ns: int | None = None
    is_open: bool = True


def _device_windows(run: RankRun) -> list[_Window]:
    """From the first activity launched in a step to the first one launched in the next."""
    launched: defaultdict[int, list[Activity]] = defaultdict(list)
    for activity in run.activities:
        if activity.step is not None and activity.end_ns > activity.start_ns:
            launched[activity.step].append(activity)
    windows = [_Window(span.step) for span in run.steps if span.step is not None]
    active = [window for window in windows if window.step in launched]
    reached = None
    for window in active:
        first = min(activity.start_ns for activity in launched[window.step])
        reached = window.start_ns = first if reached is None else max(first, reached)
    for window, following in pairwise(active):
        window.end_ns, window.is_open = following.start_ns, False
    for window in active[-1:]:
        last = max(activity.end_ns for activity in launched[window.step])
        window.end_ns = max(last, window.start_ns or last)
    return windows


#: What can be going on at an instant; of collectives, waiting, transferring or unmatched.
_COMPUTE, _COPY, _WAITING, _TRANSFERRING, _UNMATCHED, _WINDOW = range(6)


class _Edge(NamedTuple):
    """At a time, one more (or fewer) of a kind is going on; of windows, the number of it."""

    time_ns: int
    kind: int
    change: int
    window: int = 0


def _edges(rank: int, run: RankRun, waits: Mapping[tuple[int, int], int]) -> list[_Edge]:
    return [
        edge
        for activity in run.activities
        for kind, start, end in _phases(rank, activity, waits)
        for edge in (_Edge(start, kind, 1), _Edge(end, kind, -1))
    ]


def _phases(
    rank: int, activity: Activity, waits: Mapping[tuple[int, int], int]
) -> Iterator[tuple[int, int, int]]:
    """Kind, start and end of the one or two phases of an activity."""
    start, end = activity.start_ns, activity.end_ns
    if activity.instance is None:
        yield _COMPUTE if isinstance(activity.operation, Compute) else _COPY, start, end
    elif (activity.instance, rank) not in waits:
        yield _UNMATCHED, start, end
    else:
        last_arrival = start + waits[activity.instance, rank]
        yield _WAITING, start, last_arrival
        yield _TRANSFERRING, last_arrival, end


def _window_edges(windows: Sequence[_Window]) -> list[_Edge]:
    return [
        edge
        for number, window in enumerate(windows)
        if window.start_ns is not None and window.end_ns is not None
        for edge in (
            _Edge(window.start_ns, _WINDOW, 1, number),
            _Edge(window.end_ns, _WINDOW, -1, number),
        )
    ]


def _sweep(edges: list[_Edge], windows: int) -> list[defaultdict[str, int]]:
    """How long each state lasted in each window, from one edge to the next."""
    edges.sort(key=lambda edge: edge.time_ns)
    amounts: list[defaultdict[str, int]] = [defaultdict(int) for _ in range(windows)]
    running = [0] * 6
    inside: set[int] = set()
    now = edges[0].time_ns if edges else 0
    for edge in edges:
        if edge.time_ns > now:
            for window in inside:
                _count(amounts[window], running, edge.time_ns - now)
            now = edge.time_ns
        running[edge.kind] += edge.change
        if edge.kind == _WINDOW:
            inside ^= {edge.window}
    return amounts


def _count(amounts: defaultdict[str, int], running: Sequence[int], length_ns: int) -> None:
    """Counts an interval in which what is running does not change."""
    communicates = running[_WAITING] or running[_TRANSFERRING] or running[_UNMATCHED]
    amounts["window_ns"] += length_ns
    if communicates:
        amounts["communication_ns"] += length_ns
    if running[_COMPUTE]:
        amounts["compute_ns"] += length_ns
        if communicates:
            amounts["hidden_comm_ns"] += length_ns
    elif communicates:
        amounts["exposed_comm_ns"] += length_ns
        amounts[_part_of_exposed(running)] += length_ns
    elif running[_COPY]:
        amounts["exposed_copy_ns"] += length_ns
    else:
        amounts["idle_ns"] += length_ns


def _part_of_exposed(running: Sequence[int]) -> str:
    """A rank waits only while every running collective of it is known to be waiting."""
    if running[_TRANSFERRING]:
        return "exposed_transfer_ns"
    return "exposed_unmatched_ns" if running[_UNMATCHED] else "exposed_wait_ns"


def _step_truth(rank: int, window: _Window, amounts: defaultdict[str, int]) -> StepTruth:
    return StepTruth(rank, window.step, window.is_open, window.start_ns, window.end_ns, **amounts)
