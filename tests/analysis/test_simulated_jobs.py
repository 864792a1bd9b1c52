"""Simulated jobs on several hosts with planted clocks: what is found must be what was planted."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from simulated import compare, without

from commscope.analysis.waiting import waiting_of, with_split
from commscope.generator import (
    Clock,
    Cut,
    Job,
    Model,
    Network,
    Simulation,
    Straggler,
    Style,
    cut,
    simulate,
    step_truths,
)
from commscope.generator.pipelines import Grid, pipeline, tp_dp_pp
from commscope.generator.scenarios import ddp, fsdp, moe, tp

pytestmark = pytest.mark.long

SECOND = 10**9
HOSTS = [f"host{rank // 2}" for rank in range(8)]
CLOCKS = {
    "host1": Clock(3 * SECOND + 123_457, 20_000),
    "host2": Clock(-7 * SECOND - 999, -20_000),
    "host3": Clock(5 * 3600 * SECOND, 10_000),
}
STRAGGLERS = (Straggler(3, 2_000_000, 1), Straggler(6, 900_000, 2, "device"))
JOB = Job(ranks=8, steps=4, ranks_per_host=2, jitter_ns=60_000, seed=3, stragglers=STRAGGLERS)
PERIODIC = Job(ranks=8, steps=12, ranks_per_host=2)
MODEL = Model(layers=4)
SCHEDULES = {
    "ddp": lambda job: ddp(job, MODEL),
    "fsdp": lambda job: fsdp(job, MODEL),
    "tp": lambda job: tp(job, MODEL),
    "moe": lambda job: moe(job, MODEL),
    "pipeline": lambda job: pipeline(job, MODEL),
    "tp_dp_pp": lambda job: tp_dp_pp(job, MODEL),
}
CUTS = {rank: Cut(rank % 3 + rank * 5 % 4) for rank in range(8)}
each_schedule = pytest.mark.parametrize("name", SCHEDULES)


@cache
def _simulated(name: str) -> Simulation:
    return simulate(SCHEDULES[name](JOB))


@cache
def _minute(eager: bool) -> Simulation:
    """A minute, in which a drift of 20 ppm makes 1.2 ms; kernels do not quite end together."""
    model = Model(layers=2, fwd_ns=250_000_000, bwd_ns=500_000_000)
    job = Job(
        ranks=8, steps=15, ranks_per_host=2, jitter_ns=6_000_000, seed=5,
        stragglers=(Straggler(3, 80_000_000), Straggler(5, 50_000_000, 4)),
    )  # fmt: skip
    skews = {1: 3_000, 2: 7_000, 3: 1_000, 4: 5_000, 6: 8_000, 7: 2_000}
    network = Network(end_skew_ns=skews, eager_bytes=1 << 30 if eager else 1 << 20)
    return simulate(tp_dp_pp(job, model), network=network)


@each_schedule
@pytest.mark.parametrize("vendor", ["rocm", "cuda"])
@pytest.mark.parametrize("with_seq", [True, False])
def test_cut_files_with_planted_clocks(
    name: str, vendor: Any, with_seq: bool, tmp_path: Path
) -> None:
    style = Style(vendor, with_seq=with_seq)
    compared = compare(cut(_simulated(name), CUTS), tmp_path, style, CLOCKS, HOSTS)
    compared.assert_everything_matched()
    assert max(compared.clock_errors_ns()) < 20_000


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("hosts", [HOSTS, None])
def test_a_minute_of_drift(eager: bool, hosts: list[str] | None, tmp_path: Path) -> None:
    simulation = _minute(eager)
    assert max(a.end_ns for a in simulation.ranks[0].activities) > 55 * SECOND
    cuts = {rank: Cut(4 + rank, 230 - 3 * rank) for rank in range(8)}
    compared = compare(cut(simulation, cuts), tmp_path, Style(with_seq=False), CLOCKS, hosts)
    compared.assert_everything_matched()
    assert max(compared.clock_errors_ns()) < 20_000
    assert compared.found.matching.clocks.host.tolist() == [0, 0, 2, 2, 4, 4, 6, 6]


@pytest.mark.parametrize("with_seq", [True, False])
def test_records_lost_in_the_middle(with_seq: bool, tmp_path: Path) -> None:
    lost = {0: [55], 1: [40, 41, 42], 2: range(60, 75), 5: [100], 7: range(30, 34)}
    simulation = without(_minute(False), lost)
    compared = compare(simulation, tmp_path, Style(with_seq=with_seq), CLOCKS, HOSTS)
    compared.assert_everything_matched()
    assert (compared.wait_ns < 0).sum() >= 24


@pytest.mark.parametrize("name", ["ddp", "fsdp", "tp", "moe"])
def test_without_metadata_streams_tell_communicators(name: str, tmp_path: Path) -> None:
    style = Style(metadata="none", with_distributed_info=False)
    compared = compare(cut(_simulated(name), CUTS), tmp_path, style, CLOCKS, HOSTS)
    compared.assert_everything_matched()


@pytest.mark.parametrize("vendor", ["rocm", "cuda"])
def test_without_metadata_messages_of_stages_are_left_out(vendor: Any, tmp_path: Path) -> None:
    style = Style(vendor, metadata="none", with_distributed_info=False)
    compared = compare(cut(_simulated("tp_dp_pp"), CUTS), tmp_path, style, CLOCKS, HOSTS)
    assert not compared.is_matched.any()
    assert sum(compared.found.matching.left_out.values()) == len(compared.instance)


def test_groups_side_by_side_without_metadata_are_not_taken_for_one(tmp_path: Path) -> None:
    """Both tensor groups work in step: what is on the first stream ends almost together."""
    job = Job(ranks=4, steps=3, jitter_ns=20_000)
    simulation = simulate(tp_dp_pp(job, MODEL, Grid(tp=2, dp=2, pp=1)))
    style = Style(metadata="none", with_distributed_info=False)
    compared = compare(simulation, tmp_path, style)
    assert not compared.is_matched.any()
    assert compared.found.matching.left_out["no clear order"] == len(compared.instance)


@pytest.mark.parametrize("vendor", ["rocm", "cuda"])
def test_streams_numbered_otherwise_without_metadata_are_left_out(
    vendor: Any, tmp_path: Path
) -> None:
    """Where a file begins in a backward pass, its scatters come first, which begin with gathers."""
    job = Job(ranks=4, steps=4, jitter_ns=60_000, seed=1)
    full = simulate(fsdp(job, MODEL, prefetch=1))
    simulation = cut(full, {rank: Cut(5 + 2 * (rank % 2), 11) for rank in range(4)})
    style = Style(vendor, metadata="none", with_distributed_info=False)
    compared = compare(simulation, tmp_path, style)
    assert not compared.is_matched.any()


def test_files_that_hardly_overlap_in_a_periodic_job_are_left_out(tmp_path: Path) -> None:
    """One step later looks the same, and has more messages in common."""
    job = Job(ranks=4, steps=4, ranks_per_host=2)
    full = simulate(pipeline(job, Model(layers=2), microbatches=2))
    simulation = cut(full, {1: Cut(2, 18), 2: Cut(13, 29)})
    compared = compare(simulation, tmp_path, Style(with_seq=False), CLOCKS, HOSTS[:4])
    compared.assert_nothing_wrong()
    assert len(set(compared.found.matching.clocks.part.tolist())) == 2


def test_hosts_that_were_set_alike_are_told_by_their_drift(tmp_path: Path) -> None:
    job = Job(ranks=4, steps=12, ranks_per_host=2, jitter_ns=500_000, seed=2)
    simulation = simulate(fsdp(job, Model(layers=4, fwd_ns=5_000_000, bwd_ns=80_000_000)))
    compared = compare(simulation, tmp_path, Style(), {"host1": Clock(0, -18_000)})
    compared.assert_everything_matched()
    assert compared.found.matching.clocks.host.tolist()[:3] == [0, 0, 2]


def test_a_clock_that_is_off_by_some_operations_does_not_pass_for_the_same(tmp_path: Path) -> None:
    """By that clock, half of a layer's exchanges end within 100 us of those of another layer."""
    job = Job(ranks=4, steps=6, ranks_per_host=2, jitter_ns=20_000, seed=414)
    cuts = {0: Cut(17, 117), 1: Cut(9, 109), 3: Cut(33, 133)}
    simulation = without(cut(simulate(moe(job, Model(layers=6))), cuts), {0: [87, 97], 3: [27]})
    style = Style(metadata="none", with_distributed_info=False)
    compared = compare(simulation, tmp_path, style, {"host1": Clock(2_545_579)})
    assert compared.found.matching.clocks.host[2] != 0
    assert (compared.found.matching.instance < 0).all()


def test_periodic_jobs_on_unknown_clocks_are_left_out(tmp_path: Path) -> None:
    simulation = cut(simulate(ddp(PERIODIC)), {rank: Cut(rank // 2 * 7) for rank in range(8)})
    compared = compare(simulation, tmp_path / "no", Style(with_seq=False), CLOCKS, HOSTS)
    assert not compared.is_matched.any()
    assert compared.found.matching.left_out["no clear order"] == len(compared.instance)
    assert len(set(compared.found.matching.clocks.part.tolist())) == 4
    compare(simulation, tmp_path / "yes", Style(), CLOCKS, HOSTS).assert_everything_matched()


def test_periodic_jobs_on_one_clock_are_matched(tmp_path: Path) -> None:
    simulation = cut(simulate(ddp(PERIODIC)), {rank: Cut(rank // 2 * 7) for rank in range(8)})
    compared = compare(simulation, tmp_path, Style(with_seq=False))
    compared.assert_everything_matched()
    assert max(compared.clock_errors_ns()) == 0


def test_hosts_without_a_common_clock_are_matched_each_by_itself(tmp_path: Path) -> None:
    """Sequence numbers connect data-parallel pairs; periodic messages between stages nothing."""
    simulation = cut(simulate(tp_dp_pp(PERIODIC)), {rank: Cut(rank // 2) for rank in range(8)})
    compared = compare(simulation, tmp_path, Style(), CLOCKS, HOSTS)
    compared.assert_nothing_wrong()
    assert compared.found.matching.clocks.part.tolist() == [0] * 4 + [4] * 4
    assert compared.found.matching.left_out["no clear order"] > 0
    assert compared.is_matched.sum() > 0.7 * len(compared.instance)


@each_schedule
@pytest.mark.parametrize("clocks", [{}, CLOCKS], ids=["true", "planted"])
def test_exposed_communication_is_told_apart_as_the_simulator_does(
    name: str, clocks: dict[str, Clock], tmp_path: Path
) -> None:
    # Of the messages between two stages, fewer than four would be left on one rank.
    end = None if name == "pipeline" else 7
    simulation = cut(_simulated(name), {2: Cut(3), 5: Cut(1, end)})
    compared = compare(simulation, tmp_path, Style(), clocks, HOSTS)
    analysis, matching = compared.found.analysis, compared.found.matching
    waiting = waiting_of(analysis.timeline, analysis.collectives, matching)
    rows = with_split(analysis.steps, analysis.timeline, waiting).to_pylist()
    found = {(row["rank"], row["step"]): row for row in rows}
    for truth in step_truths(simulation):
        row = found[truth.rank, truth.step]
        if truth.start_ns is None:
            assert row["exposed_unmatched_ns"] is None
            continue
        # With drift, the length of every collective is off by up to 20 ppm and 1 ns.
        tolerance = 20_000 if clocks else 0
        for part in ("exposed_wait_ns", "exposed_transfer_ns", "exposed_unmatched_ns"):
            assert abs((row[part] or 0) - getattr(truth, part)) <= tolerance, (truth, part)
