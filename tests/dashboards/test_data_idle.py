"""Stretches in which a device runs nothing: lengths, hosts and waiting ranks by hand."""

from __future__ import annotations

import numpy as np
import pytest
from run_views import Shown, simulated, straggler

from commscope.dashboards.data.categories import number_of
from commscope.dashboards.data.covered import Covered
from commscope.dashboards.data.idle import (
    HostPart,
    LongestCall,
    host_part,
    idle_stretch,
    recorded_in,
    steps_in,
)
from commscope.dashboards.data.lanes import Events, Lane, lane_of
from commscope.dashboards.data.names import NameBook
from commscope.dashboards.data.view import RunView
from commscope.errors import UsageError
from commscope.intervals import union

LAUNCH, SYNC, NOTE = (number_of(f"host_{kind}") for kind in ("launch", "sync", "annotation"))
NAMES = NameBook(("launch", "synchronise", "ProfilerStep#2"))


def covered(*spans: tuple[int, int]) -> Covered:
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    return Covered.of(union(starts, ends))


def thread(*calls: tuple[int, int, int, int]) -> Lane:
    """A thread of calls: begin, end, name, category."""
    start, end, name, category = np.array(calls, np.int64).reshape(-1, 4).T
    events = Events.of(
        start, end - start, name.astype(np.uint32), category.astype(np.uint8), np.arange(len(start))
    )
    return lane_of(1, (0, "thread", "thread 7", None), events)


@pytest.mark.parametrize(
    ("time", "stretch"),
    [
        (5, (0, 10)),  # from the begin of the run
        (10, None),
        (19, None),
        (20, (20, 30)),  # an end is no part of what ran
        (29, (20, 30)),
        (34, None),
        (40, (40, 45)),
        (59, None),
        (70, (60, 100)),  # to its end
    ],
)
def test_a_stretch_lies_between_what_runs_in_any_lane(time, stretch) -> None:
    sets = [covered((10, 20), (45, 60)), covered((30, 40), (50, 55)), covered()]
    assert idle_stretch(sets, time, (0, 100)) == stretch


def test_what_a_host_did_is_counted_without_annotations() -> None:
    one = thread(
        (0, 200, 2, NOTE), (90, 104, 0, LAUNCH), (110, 115, 0, LAUNCH), (190, 230, 1, SYNC)
    )
    other = thread((140, 143, 0, LAUNCH))
    found = host_part([one, other], NAMES, (100, 200))
    # Two of three launches begin in it; from 143 to 190 no thread shows a call.
    assert found == HostPart(2, 4, 47, LongestCall("synchronise", "thread 7", 10))


def test_a_host_without_a_call_in_a_stretch_is_quiet_for_all_of_it() -> None:
    assert host_part([thread((0, 50, 0, LAUNCH))], NAMES, (100, 160)) == HostPart(0, 0, 60, None)
    assert host_part([thread()], NAMES, (100, 160)) is None


def test_of_nested_calls_as_long_the_innermost_is_told() -> None:
    found = host_part([thread((0, 300, 1, SYNC), (50, 250, 0, LAUNCH))], NAMES, (100, 200))
    assert found == HostPart(0, 2, 0, LongestCall("launch", "thread 7", 100))


def test_steps_are_those_of_which_a_stretch_has_some_part() -> None:
    lane = thread((0, 50, 0, 0), (50, 100, 0, 0), (100, 150, 0, 0))
    steps = np.array([7, 8, 9])
    assert steps_in(lane, steps, (60, 101)) == (8, 9)
    assert steps_in(lane, steps, (50, 100)) == (8,)


def brute_waits(run: Shown, late: int, t0: int, t1: int) -> dict[int, int]:
    """By rank, for how long it waits for one in a window: collectives here do not overlap."""
    waits: dict[int, int] = {}
    for number in range(run.view.instances.count()):
        instance = run.view.instance(number)
        if instance.straggler != late:
            continue
        for member in instance.members:
            inside = min(t1, instance.last_arrival) - max(t0, member.arrival)
            if inside > 0 and member.rank != late:
                waits[member.rank] = waits.get(member.rank, 0) + inside
    return waits


def test_an_idle_rank_tells_who_waits_for_it() -> None:
    run = straggler()
    idle = run.view.idle_at(1, 50_000_000)
    assert idle is not None
    assert (idle.t0, idle.t1, idle.steps) == (48_255_118, 64_033_757, (1,))
    assert idle.host is not None
    assert idle.host.quiet_ns == 15_444_799
    assert {of.rank: of.wait_ns for of in idle.waiters} == brute_waits(run, 1, idle.t0, idle.t1)
    assert idle.waiters[0].since == min(
        of.arrival for of in run.view.instance(idle.waiters[0].instance).members
    )


def recording(view: RunView, rank: int) -> tuple[int, int]:
    """From the first activity or call of a rank to the end of the last, on the common clock."""
    lanes = [of for of in view.lanes if of.rank == rank and of.kind not in ("steps", "exposed")]
    times = [
        (int(begin), int(begin) + int(length))
        for of in lanes
        for begin, length in zip(of.events.start, of.events.duration)
    ]
    clock = view.clocks[rank]
    first, last = min(begin for begin, _ in times), max(end for _, end in times)
    t0, t1 = view.layout.t0, view.layout.t1
    return max(clock.common_time(first), t0), min(clock.common_time(last), t1)


@pytest.mark.parametrize(("run", "least"), [(straggler, 4), (simulated, 0)])
def test_an_idle_stretch_is_as_long_as_it_can_be(run, least: int) -> None:
    """Those that are simulated on four hosts are busy from the first activity to the last."""
    view = run().view
    found = 0
    for index, rank in enumerate(view.ranks[:3]):
        first, last = recording(view, index)
        for t in np.linspace(first - 10, last + 10, 101).astype(int).tolist():
            idle = view.idle_at(rank, t)
            (here,) = view.select(t, t + 1, [rank]).ranks
            runs = here.compute_ns + here.communication_ns + here.exposed_copy_ns > 0
            assert (idle is None) == (runs or not first <= t < last)
            if idle is None:
                continue
            found += 1
            (part,) = view.select(idle.t0, idle.t1, [rank]).ranks
            assert part.idle_ns == part.window_ns
            for t0, t1 in ((idle.t0 - 2, idle.t1), (idle.t0, idle.t1 + 2)):
                (part,) = view.select(t0, t1, [rank]).ranks
                is_edge = t0 < max(first, view.layout.t0) or t1 > min(last, view.layout.t1)
                assert is_edge or part.idle_ns < part.window_ns
    assert found >= least


def test_only_ranks_of_the_run_are_idle() -> None:
    with pytest.raises(UsageError, match="no such rank"):
        straggler().view.idle_at(9, 0)


def test_before_and_behind_a_recording_nothing_is_known() -> None:
    early, late = thread((40, 50, 0, LAUNCH)), thread((60, 95, 1, SYNC), (70, 80, 0, LAUNCH))
    assert recorded_in([early, thread(), late], (0, 100)) == (40, 95)
    assert recorded_in([early, late], (45, 90)) == (45, 90)
    assert recorded_in([thread()], (0, 100)) == (0, 100)
