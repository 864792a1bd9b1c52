"""Roles, pipeline bubbles, compute of peers: against what the simulator did, instant by instant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import commscope
from commscope.analysis.result import Analysis, analyse
from commscope.generator import Simulation, Style, simulate, write_traces
from commscope.generator.pipelines import Grid, pipeline, tp_dp_pp
from commscope.generator.programs import Job, Model
from commscope.generator.schedule import Communication, Compute
from commscope.generator.simulation import Activity
from commscope.generator.truth import instance_truths

pytestmark = pytest.mark.long

_SMALL = Model(layers=4, fwd_ns=40_000, bwd_ns=80_000)
_GRID = Grid(2, 2, 2)


@cache
def _job() -> tuple[Simulation, Analysis]:
    return _analysed(simulate(tp_dp_pp(Job(ranks=8, steps=2), _SMALL, _GRID, microbatches=2)))


def _analysed(simulation: Simulation) -> tuple[Simulation, Analysis]:
    with TemporaryDirectory() as folder:
        write_traces(simulation, Path(folder), Style())
        return simulation, analyse(commscope.load(folder))


def _role(activity: Activity) -> str | None:
    operation = activity.operation
    return operation.communicator[:2] if isinstance(operation, Communication) else None


def _instants(activities: Iterable[Activity]) -> set[int]:
    return {t for a in activities for t in range(a.start_ns, a.end_ns)}


def _steps(analysis: Analysis, rank: int) -> int:
    rows = [row for row in analysis.steps.to_pylist() if row["rank"] == rank]
    return sum(row["window_ns"] for row in rows)


@pytest.mark.parametrize("rank", [0, 3, 6])
def test_exposed_time_by_role(rank: int) -> None:
    simulation, analysis = _job()
    activities = simulation.ranks[rank].activities
    compute = _instants(a for a in activities if isinstance(a.operation, Compute))
    found = {row["role"]: row for row in analysis.roles.to_pylist() if row["rank"] == rank}
    assert set(found) == {"tp", "dp", "pp"}
    for role, row in found.items():
        running = _instants(a for a in activities if _role(a) == role)
        assert row["communication_ns"] == len(running), role
        assert row["exposed_comm_ns"] == len(running - compute), role
        assert row["window_ns"] == _steps(analysis, rank)


@pytest.mark.parametrize("rank", [0, 5])
def test_waiting_by_role_is_that_of_the_role_alone(rank: int) -> None:
    simulation, analysis = _job()
    run = simulation.ranks[rank]
    waits = {
        truth.index: member.wait_ns
        for truth in instance_truths(simulation)
        for member in truth.members
        if member.rank == rank
    }
    compute = _instants(a for a in run.activities if isinstance(a.operation, Compute))
    for row in analysis.roles.to_pylist():
        if row["rank"] != rank:
            continue
        mine = [a for a in run.activities if _role(a) == row["role"]]
        moving = {t for a in mine for t in range(a.start_ns + waits[a.instance or 0], a.end_ns)}
        waiting = _instants(mine) - moving - compute
        assert row["exposed_wait_ns"] == len(waiting), row["role"]
        assert row["exposed_unmatched_ns"] == 0
        parts = row["exposed_wait_ns"] + row["exposed_transfer_ns"]
        assert parts == row["exposed_comm_ns"]


def test_the_bubble_is_when_only_messages_of_the_pipeline_run() -> None:
    simulation, analysis = _job()
    rows = analysis.bubbles.to_pylist()
    assert {row["rank"]: row["stage"] for row in rows} == {r: r // 4 for r in range(8)}
    for row in (rows[0], rows[-1]):
        activities = simulation.ranks[row["rank"]].activities
        assert row["window_ns"] == _steps(analysis, row["rank"])
        others = _instants(a for a in activities if _role(a) != "pp")
        assert row["bubble_ns"] == row["window_ns"] - len(others)
        assert row["idle_ns"] == row["window_ns"] - len(_instants(activities))


def test_a_chosen_step_has_its_own_bubble() -> None:
    simulation, whole = _job()
    with TemporaryDirectory() as folder:
        write_traces(simulation, Path(folder), Style())
        chosen = analyse(commscope.load(folder, steps="0"))
    windows = {r["rank"]: r["window_ns"] for r in whole.steps.to_pylist() if r["step"] == 0}
    assert {r["rank"]: r["window_ns"] for r in chosen.bubbles.to_pylist()} == windows
    assert {r["rank"]: r["window_ns"] for r in chosen.roles.to_pylist()} == windows


def test_stages_follow_the_ranks_of_one_group() -> None:
    _, analysis = _analysed(simulate(pipeline(Job(ranks=4, steps=1), _SMALL, microbatches=2)))
    stages = {row["rank"]: row["stage"] for row in analysis.bubbles.to_pylist()}
    assert stages == {0: 0, 1: 1, 2: 2, 3: 3}


def test_compute_is_compared_within_a_stage() -> None:
    """Rank 5 computes a tenth longer; the ranks of the other stage are no measure of it."""
    schedule = tp_dp_pp(Job(ranks=8, steps=3), _SMALL, _GRID, microbatches=2)
    slow = tuple(_slower(op) for op in schedule.programs[5])
    programs = (*schedule.programs[:5], slow, *schedule.programs[6:])
    changed = type(schedule)(programs, schedule.hosts, schedule.communicators)
    rows = _analysed(simulate(changed))[1].imbalance.to_pylist()
    assert (rows[0]["rank"], rows[0]["stage"], rows[0]["peers"]) == (5, 1, 3)
    assert rows[0]["ratio"] == pytest.approx(1.1, abs=1e-4)
    assert {row["ratio"] for row in rows[1:]} == {1.0}


def _slower(operation: object) -> object:
    if isinstance(operation, Compute):
        longer = operation.duration_ns * 11 // 10
        return type(operation)(operation.stream, operation.kind, longer, operation.layer)
    return operation


def test_without_a_pipeline_there_is_no_bubble_and_all_ranks_are_peers() -> None:
    analysis = _analysed(simulate(tp_dp_pp(Job(ranks=2, steps=1), _SMALL, Grid(1, 2, 1))))[1]
    assert analysis.bubbles.num_rows == 0
    assert [row["peers"] for row in analysis.imbalance.to_pylist()] == [1, 1]
    assert {row["stage"] for row in analysis.imbalance.to_pylist()} == {None}
