"""Why ranks were late, against what was planted in simulated jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from tables import Gpu, analysis, comm, reading, step, traces

import commscope
from commscope.analysis.host import ACTIONS
from commscope.analysis.lateness import REASONS
from commscope.analysis.result import Analysis, analyse
from commscope.columns import int64
from commscope.generator import (
    Communicator,
    Job,
    Model,
    Schedule,
    Straggler,
    Style,
    planted_job,
    simulate,
    write_job,
    write_traces,
)
from commscope.generator.pipelines import Grid, tp_dp_pp
from commscope.generator.programs import COMPUTE, ProgramBuilder, build
from commscope.generator.scenarios import ddp, fsdp, moe, tp
from commscope.generator.schedule import Receive, Send

pytestmark = pytest.mark.long

MODEL = Model(layers=4)
SCHEDULES: dict[str, Callable[[Job], Schedule]] = {
    "ddp": lambda job: ddp(job, MODEL),
    "fsdp": lambda job: fsdp(job, MODEL),
    "tp": lambda job: tp(job, MODEL),
    "moe": lambda job: moe(job, MODEL),
}
WHERE = ("host", "device")
Where = Literal["host", "device"]
#: What it is called when it is planted there, and what the host is seen to do.
REASON = {
    "compute": ("compute", None),
    "copy": ("copy", None),
    "host": ("host", None),
    "input": ("host", "input"),
}


@dataclass(frozen=True)
class Late:
    """An instance: how long others waited, the rank that was late first, and why."""

    role: str | None
    step: int
    waited: int
    root: int
    path: tuple[int, ...]
    reason: str
    action: str | None
    excess: int
    is_compared: bool


def _late(found: Analysis) -> list[Late]:
    matching, lateness = found.across.matching, found.lateness
    waited = np.bincount(
        matching.instance[matching.instance >= 0],
        matching.wait_ns[matching.instance >= 0],
        minlength=len(matching.first_row),
    )
    steps = int64(found.across.instances, "step").tolist()
    rows = []
    for number in np.flatnonzero(waited > 5_000).tolist():
        origin, action = int(lateness.origin[number]), int(lateness.action[lateness.origin[number]])
        rows.append(
            Late(
                found.across.roles[matching.communicator[number]],
                steps[number],
                int(waited[number]),
                int(matching.straggler[origin]),
                tuple(int(matching.straggler[one]) for one in lateness.chain(number)),
                REASONS[lateness.reason[origin]],
                ACTIONS[action] if action >= 0 else None,
                int(lateness.excess_ns[origin]),
                bool(lateness.is_compared[origin]),
            )
        )
    return rows


def _simulated(schedule: Schedule, folder: Path) -> Analysis:
    write_traces(simulate(schedule), folder, Style())
    return analyse(commscope.load(folder))


def _near(found: int, planted: int) -> bool:
    return abs(found - planted) <= max(0.02 * planted, 5_000)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_excess_is_what_was_planted(name: str, where: Where, tmp_path: Path) -> None:
    job = Job(ranks=4, steps=4, stragglers=(Straggler(2, 3_000_000, where=where),))
    late = _late(_simulated(SCHEDULES[name](job), tmp_path))
    assert late
    for one in late:
        assert (one.root, one.path) == (2, (2,))
        if one.step == 0 and where == "host":
            # Before the first activity of a rank the trace shows nothing of it.
            assert one.reason == "unclear"
        else:
            assert one.reason == ("host" if where == "host" else "compute")
            assert one.is_compared
            assert _near(one.excess, 3_000_000), one


@pytest.mark.parametrize("where", WHERE)
def test_each_of_two_stragglers_has_its_own_excess(where: Where, tmp_path: Path) -> None:
    """They take turns, and kernels vary in length."""
    planted = {1: (0, 2_000_000), 2: (3, 5_000_000), 3: (1, 900_000)}
    stragglers = tuple(Straggler(r, d, number, where) for number, (r, d) in planted.items())
    job = Job(ranks=4, steps=4, stragglers=stragglers, jitter_ns=1_000, seed=3)
    late = [one for one in _late(_simulated(ddp(job, MODEL), tmp_path)) if one.step]
    firsts = {one.step: one for one in reversed(late) if one.waited > 100_000}
    assert set(firsts) == set(planted)
    for number, (rank, delay) in planted.items():
        assert firsts[number].root == rank
        assert _near(firsts[number].excess, delay)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "cause",
    [
        *("straggler_compute", "straggler_host", "straggler_input", "straggler_copy"),
        *("straggler_other_communicator", "chain_of_three"),
    ],
)
def test_planted_stragglers(cause: str, seed: int, tmp_path: Path) -> None:
    job = planted_job(cause, seed)
    write_job(job, tmp_path)
    late = _late(analyse(commscope.load(tmp_path)))
    total = sum(one.waited for one in late)
    roots, reasons, paths = Counter[int](), Counter[tuple[str, str | None]](), Counter[object]()
    for one in late:
        roots[one.root] += one.waited
        paths[one.path] += one.waited
        # What made a rank late in the first step lies before its first activity.
        reasons[one.reason, one.action] += one.waited if one.step else 0
    assert roots[job.rank or 0] > 0.95 * total
    assert reasons.most_common(1)[0][0] == REASON[job.did]
    assert reasons[REASON[job.did]] > 0.85 * reasons.total()
    assert paths[job.path] > 0.1 * total
    assert max(len(path) for path in paths if paths[path] > 0.05 * total) == len(job.path)


def _two_stages(job: Job) -> Schedule:
    """Stage 1 computes twice as long as stage 0; then all ranks reduce something together."""
    half = job.ranks // 2
    stages = [Communicator(f"pp{n}", (n, n + half), "mesh_pp") for n in range(half)]
    world = Communicator("0", tuple(range(job.ranks)), "default_pg")

    def write_step(builder: ProgramBuilder) -> None:
        rank = builder.rank
        name = f"pp{rank % half}"
        if rank < half:
            builder.compute("fwd", 2_000_000)
            builder.order(COMPUTE, "to_next")
            builder.add(Send("to_next", name, rank + half, 1 << 20))
        else:
            builder.add(Receive("from_previous", name, rank - half, 1 << 20))
            builder.compute("fwd", 4_000_000)
        builder.in_line("dp", "0", "all_reduce", 1 << 20)
        builder.compute("opt", 300_000)

    return build(job, [*stages, world], write_step)


@pytest.mark.parametrize("where", WHERE)
def test_stages_are_not_each_others_baseline(where: Where, tmp_path: Path) -> None:
    job = Job(ranks=6, steps=4, stragglers=(Straggler(4, 700_000, where=where),))
    found = _simulated(_two_stages(job), tmp_path)
    is_world = np.array([label == "default_pg" for label in found.across.labels])
    matching, lateness = found.across.matching, found.lateness
    world = np.flatnonzero(is_world[matching.communicator])
    assert len(world) == 4
    for number in world[1:].tolist():
        assert matching.straggler[number] == 4
        assert REASONS[lateness.reason[number]] == ("host" if where == "host" else "compute")
        # Against all members it would be 2 ms more: what stage 1 computes longer than stage 0.
        assert _near(int(lateness.excess_ns[number]), 700_000)


def test_a_straggler_in_a_stage_is_found_through_tensor_and_data_groups(tmp_path: Path) -> None:
    stragglers = (Straggler(6, 3_000_000, where="device"),)
    job = Job(ranks=8, steps=4, stragglers=stragglers)
    found = _simulated(tp_dp_pp(job, MODEL, Grid(tp=2, dp=2, pp=2)), tmp_path)
    late = [one for one in _late(found) if one.role != "pp" and one.waited > 100_000]
    assert {one.root for one in late} == {6}
    assert {one.reason for one in late} == {"compute"}
    # To the pipeline beside it: data group, messages of two ranks, tensor group.
    assert max((one.path for one in late), key=len)[-2:] == (7, 6)


def test_without_peers_the_reason_is_what_the_rank_did_meanwhile() -> None:
    """Two ranks with one collective and no steps that both were launched in."""
    one = (Gpu(1, 5_000), comm(10_000, 190_000))
    two = (Gpu(1, 150_000), comm(180_000, 20_000))
    found = analyse(
        traces(reading(*rows, rank=rank, file=f"{rank}") for rank, rows in enumerate((one, two)))
    )
    assert found.lateness.reason.tolist() == [REASONS.index("compute")]
    assert found.lateness.arrival.tolist() == [180_000 + found.timeline.shift_ns[1]]


def test_ranks_without_collectives_and_traces_without_ranks_to_wait_for() -> None:
    for rows in ([Gpu(1, 5)], [comm(1, 5)], [Gpu(1, 5), step(0, 1, 3)]):
        found = analysis(*rows)
        assert not len(found.lateness.reason)
        assert not len(found.lateness.origin)
    both = analyse(traces([reading(Gpu(1, 5), rank=0), reading(comm(1, 5), rank=1, file="b")]))
    assert not len(both.lateness.reason)


def _alternating(count: int) -> Analysis:
    """Two ranks that take turns in being late, so that every wait follows another one."""
    readings = []
    for rank in (0, 1):
        rows = [step(0, 1, count * 200_000 + 10)]
        for number in range(count):
            begin, late = 1_000 + number * 200_000, 60_000 * (number % 2 == rank)
            rows += [comm(begin + late, 150_000 - late, launched=begin - 500)]
            rows += [Gpu(begin + 140_000, 20_000, launched=begin - 400)]
        readings.append(reading(*rows, rank=rank, file=f"rank{rank}.json"))
    return analyse(traces(readings))


def test_waits_that_follow_each_other_are_followed_to_the_longest() -> None:
    found = _alternating(9)
    follows, instance = found.lateness.next, found.across.matching.instance
    for number in np.flatnonzero(follows >= 0).tolist():
        last = found.across.matching.straggler[number]
        waited = (instance == follows[number]) & (found.across.matching.wait_ns > 0)
        rank = found.timeline.index_of(int64(found.across.calls, "rank"))
        assert last in rank[waited]
    assert (found.lateness.origin >= 0).all()


def test_thousands_of_waits_in_one_step() -> None:
    """Each is followed without looking at all those before it."""
    found = _alternating(4_000)
    assert len(found.lateness.origin) == 4_000
    assert all(len(found.lateness.chain(number)) <= 17 for number in range(0, 4_000, 400))
