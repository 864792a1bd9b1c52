"""Planted jobs show what was planted: told from the simulator's own times, not by the analysis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

import commscope
from commscope.errors import UsageError
from commscope.generator import instance_truths, step_truths
from commscope.generator.planted import (
    CAUSES,
    CLEAN_KINDS,
    Planted,
    clean_job,
    planted_job,
    write_job,
)
from commscope.generator.planted_shape import INPUT_LABEL
from commscope.generator.schedule import Collective, Communication, Compute, Copy
from commscope.generator.simulation import Activity, RankRun, Simulation

pytestmark = pytest.mark.long

_SEEDS = range(4)
_STRAGGLERS = [cause for cause in CAUSES if cause.startswith(("straggler", "chain"))]
_COMPUTE = "compute"


def _jobs(cause: str) -> Iterator[Planted]:
    return (planted_job(cause, seed) for seed in _SEEDS)


def _share(simulation: Simulation, rank: int, part: Callable[[object], int]) -> float:
    """Of the closed steps of a rank."""
    closed = [t for t in step_truths(simulation) if t.rank == rank and not t.open]
    return sum(part(t) for t in closed) / sum(t.window_ns for t in closed)


def _step_ns(simulation: Simulation) -> float:
    closed = [t.window_ns for t in step_truths(simulation) if not t.open]
    return sum(closed) / len(closed)


def _collectives(run: RankRun) -> list[Activity]:
    return [a for a in run.activities if isinstance(a.operation, Communication)]


def _waited_for(simulation: Simulation) -> Counter[int]:
    """How long the others waited for a rank, in all."""
    waits: Counter[int] = Counter()
    for truth in instance_truths(simulation):
        if truth.straggler is not None:
            waits[truth.straggler] += sum(member.wait_ns for member in truth.members)
    return waits


@pytest.mark.parametrize("cause", CAUSES)
def test_a_cause_costs_time(cause: str) -> None:
    for job in _jobs(cause):
        assert job.cause == cause
        assert job.lost_ns() > 0.04 * _step_ns(job.simulation)


@pytest.mark.parametrize("cause", CAUSES)
def test_jobs_are_small(cause: str) -> None:
    for job in _jobs(cause):
        assert 2 <= len(job.simulation.ranks) <= 8
        assert sum(len(run.activities) for run in job.simulation.ranks) < 4000


@pytest.mark.parametrize("cause", CAUSES)
def test_equal_seeds_give_equal_jobs(cause: str) -> None:
    first, again = (planted_job(cause, 1) for _ in range(2))
    assert (first.simulation, first.style, first.clocks) == (
        again.simulation, again.style, again.clocks
    )  # fmt: skip
    assert planted_job(cause, 2).simulation != first.simulation


@pytest.mark.parametrize("cause", CAUSES)
def test_traces_hold_every_activity_of_the_ranks_whose_files_there_are(
    cause: str, tmp_path: Path
) -> None:
    job = planted_job(cause, 0)
    assert [file.name for file in write_job(job, tmp_path)] == [f"rank{r}.json" for r in job.ranks]
    trace = commscope.load(tmp_path)
    kinds = Counter(trace.events.column("kind").to_pylist())
    activities = [a.operation for r in job.simulation.ranks for a in r.activities]
    share = len(job.ranks) / len(job.simulation.ranks)
    kernels = sum(not isinstance(operation, Copy) for operation in activities)
    assert kinds["kernel"] == round(kernels * share)
    assert trace.events.filter(
        [kind == "memcpy" for kind in trace.events.column("kind").to_pylist()]
    ).num_rows == round((len(activities) - kernels) * share)


def test_an_unknown_cause_is_refused() -> None:
    with pytest.raises(UsageError, match="no job is known with the cause rain; causes: straggler"):
        planted_job("rain", 0)


@pytest.mark.parametrize("cause", _STRAGGLERS)
def test_the_straggler_is_waited_for(cause: str) -> None:
    for job in _jobs(cause):
        waits = _waited_for(job.simulation)
        first_late = sum(waits[rank] for rank in job.path)
        if len(job.path) == 1:
            assert waits[job.rank or 0] > 0.9 * waits.total()
        assert job.path[-1] == job.rank
        assert first_late > 0.6 * waits.total()


@pytest.mark.parametrize("cause", _STRAGGLERS)
def test_what_others_are_exposed_longer_is_what_a_step_takes_longer(cause: str) -> None:
    for job in _jobs(cause):
        healthy = job.healthy.run()
        others = [rank for rank in range(len(job.simulation.ranks)) if rank != job.rank]
        more = median(
            _exposed_ns(job.simulation, rank) - _exposed_ns(healthy, rank) for rank in others
        )
        assert more == pytest.approx(job.lost_ns(), rel=0.1)


def _exposed_ns(simulation: Simulation, rank: int) -> float:
    closed = [t for t in step_truths(simulation) if t.rank == rank and not t.open]
    return sum(t.exposed_comm_ns for t in closed) / len(closed)


def test_a_straggler_by_compute_computes_longer() -> None:
    for job in _jobs("straggler_compute"):
        shares = [
            _share(job.simulation, r, lambda t: t.compute_ns)
            for r in range(len(job.simulation.ranks))
        ]
        assert shares.index(max(shares)) == job.rank
        assert max(shares) > median(sorted(shares)[:-1]) * 1.05


@pytest.mark.parametrize("cause", ["straggler_host", "straggler_input"])
def test_the_device_of_a_late_host_is_idle(cause: str) -> None:
    for job in _jobs(cause):
        idle = [
            _share(job.simulation, r, lambda t: t.idle_ns) for r in range(len(job.simulation.ranks))
        ]
        assert idle.index(max(idle)) == job.rank
        assert max(idle) > 0.08 > sorted(idle)[-2]


def test_a_rank_without_input_waits_in_its_data_loader() -> None:
    for job in _jobs("straggler_input"):
        longest = [
            max(s.end_ns - s.start_ns for s in run.spans if s.label == INPUT_LABEL)
            for run in job.simulation.ranks
        ]
        assert longest.index(max(longest)) == job.rank
        assert max(longest) > 0.9 * job.lost_ns()


def test_a_straggler_by_copy_copies_longer() -> None:
    for job in _jobs("straggler_copy"):
        copies = [
            _share(job.simulation, r, lambda t: t.exposed_copy_ns)
            for r in range(len(job.simulation.ranks))
        ]
        assert copies.index(max(copies)) == job.rank
        assert max(copies) > 0.08 > sorted(copies)[-2]


@pytest.mark.parametrize(
    ("cause", "length"), [("straggler_other_communicator", 2), ("chain_of_three", 3)]
)
def test_each_rank_of_a_chain_waited_for_the_next_one_in_a_group_of_both(
    cause: str, length: int
) -> None:
    for job in _jobs(cause):
        assert len(set(job.path)) == length
        groups = [_waits_between(job.simulation, *hop) for hop in pairwise(job.path)]
        assert len({group for found in groups for group in found}) == length - 1
        # And the first of the path is waited for in the last group.
        assert any(
            truth.straggler in job.path and truth.instance.communicator.startswith("dp")
            for truth in instance_truths(job.simulation)
        )


def _waits_between(simulation: Simulation, waiting: int, late: int) -> set[str]:
    """In which communicators a rank waited long for another."""
    return {
        truth.instance.communicator
        for truth in instance_truths(simulation)
        for member in truth.members
        if member.rank == waiting and truth.straggler == late and member.wait_ns > 100_000
    }


def _next_compute(run: RankRun, collective: Activity) -> Activity | None:
    """The compute that was launched next after a collective."""
    after = [
        a
        for a in run.activities
        if isinstance(a.operation, Compute) and a.call_ns > collective.call_ns
    ]
    return after[0] if after else None


def test_in_a_shared_queue_compute_begins_when_the_collective_before_it_ends() -> None:
    for job in _jobs("stream_order"):
        assert job.style.vendor == "rocm"
        for run in job.simulation.ranks:
            for collective in _collectives(run):
                following = _next_compute(run, collective)
                assert following is not None
                assert following.call_ns < collective.end_ns == following.start_ns


def test_collectives_of_the_computing_stream_are_exposed_throughout() -> None:
    for job in _jobs("same_stream"):
        assert {a.operation.stream for r in job.simulation.ranks for a in r.activities} == {
            _COMPUTE
        }
        assert all(t.hidden_comm_ns == 0 for t in step_truths(job.simulation))


@pytest.mark.parametrize("cause", ["dependency", "late_gather"])
def test_compute_was_launched_in_time_but_needed_the_result(cause: str) -> None:
    for job in _jobs(cause):
        for run in job.simulation.ranks:
            gathers = [a for a in _collectives(run) if a.operation.stream in ("tp", "gather")]
            following = [(c, _next_compute(run, c)) for c in gathers]
            in_time = sum(n is not None and n.call_ns < c.start_ns for c, n in following)
            at_end = sum(n is not None and n.start_ns == c.end_ns for c, n in following)
            assert min(in_time, at_end) > 0.8 * len(gathers)


def test_only_the_optimizer_follows_the_last_bucket() -> None:
    for job in _jobs("step_tail"):
        for run in job.simulation.ranks:
            by_step = defaultdict(list)
            for collective in _collectives(run):
                by_step[collective.step].append(collective)
            for collectives in by_step.values():
                last = collectives[-1]
                following = _next_compute(run, last)
                assert following is not None
                assert isinstance(following.operation, Compute)
                assert following.operation.kind == "opt"
                exposed = following.start_ns - last.start_ns
                assert exposed > 0.9 * job.lost_ns()


def test_kernels_take_longer_beside_a_collective() -> None:
    for job in _jobs("contention"):
        for run in job.simulation.ranks:
            beside, alone = [], []
            busy = [(c.start_ns, c.end_ns) for c in _collectives(run)]
            for a in run.activities:
                if isinstance(a.operation, Compute) and a.operation.kind == "bwd":
                    length = a.end_ns - a.start_ns
                    if any(start <= a.start_ns and a.end_ns <= end for start, end in busy):
                        beside.append(length)
                    elif all(end <= a.start_ns or a.end_ns <= start for start, end in busy):
                        alone.append(length)
            assert min(len(beside), len(alone)) >= 10
            assert median(beside) > 1.3 * median(alone)


def test_gradients_are_reduced_as_often_as_there_are_microsteps() -> None:
    for job in _jobs("accumulation_without_no_sync"):
        counts = [len(_collectives(s.ranks[0])) for s in (job.simulation, job.healthy.run())]
        assert counts[0] in (3 * counts[1], 4 * counts[1])


def test_most_collectives_are_small() -> None:
    for job in _jobs("small_buckets"):
        sizes = [
            a.operation.size_bytes
            for a in _collectives(job.simulation.ranks[0])
            if isinstance(a.operation, Collective)
        ]
        assert max(sizes) < 1 << 20
        before = len(_collectives(job.healthy.run().ranks[0]))
        assert len(sizes) > 10 * before


def test_pauses_between_kernels_are_short_and_add_up() -> None:
    for job in _jobs("kernel_gap"):
        for run in job.simulation.ranks:
            kernels = [a for a in run.activities if isinstance(a.operation, Compute)]
            pauses = [b.start_ns - a.end_ns for a, b in pairwise(kernels)]
            assert median(pauses) > 4_000
            assert sum(0 < pause < 25_000 for pause in pauses) > 0.9 * len(pauses)


def test_hosts_launch_when_the_collective_is_exposed_already() -> None:
    for job in _jobs("host_late"):
        for run in job.simulation.ranks:
            late = [
                following.call_ns > collective.start_ns + 25_000
                for collective in _collectives(run)
                if (following := _next_compute(run, collective)) is not None
            ]
            assert sum(late) > 0.7 * len(late)


@pytest.mark.parametrize(
    ("cause", "kinds"),
    [("host_sync", {"stream_sync", "event_sync", "query", "copy"}), ("device_sync", {"sync"})],
)
def test_hosts_launch_nothing_until_the_collective_has_ended(cause: str, kinds: set[str]) -> None:
    for job in _jobs(cause):
        for run in job.simulation.ranks:
            for collective in _collectives(run):
                following = _next_compute(run, collective)
                assert following is not None
                assert following.call_ns >= collective.end_ns
                assert kinds & set(_between(run, collective.call_end_ns, following.call_ns))


def _between(run: RankRun, start_ns: int, end_ns: int) -> Iterator[str]:
    """Kinds of calls that wait, begun between two times."""
    yield from (c.kind for c in run.calls if start_ns <= c.start_ns < end_ns)
    yield from (
        "copy"
        for a in run.activities
        if isinstance(a.operation, Copy) and start_ns <= a.call_ns < end_ns
    )


def test_memory_is_reallocated_in_every_step() -> None:
    for job in _jobs("allocation"):
        for run in job.simulation.ranks:
            calls = Counter(call.kind for call in run.calls)
            assert calls["free"] == calls["malloc"] >= 2 * len(run.steps)


def test_hosts_wait_for_pageable_copies() -> None:
    for job in _jobs("pageable_copy"):
        for run in job.simulation.ranks:
            copies = [a for a in run.activities if isinstance(a.operation, Copy)]
            assert len(copies) == len(run.steps)
            assert all(a.call_end_ns > a.end_ns for a in copies)
        healthy = job.healthy.run().ranks[0]
        assert all(a.call_end_ns < a.end_ns for a in healthy.activities)


@pytest.mark.parametrize("seed", range(3 * len(CLEAN_KINDS)))
def test_healthy_jobs_are_busy_and_hardly_exposed(seed: int) -> None:
    job = clean_job(seed)
    for rank in range(len(job.simulation.ranks)):
        assert _share(job.simulation, rank, lambda t: t.exposed_comm_ns) < 0.02
        assert _share(job.simulation, rank, lambda t: t.idle_ns) < 0.03
        assert _share(job.simulation, rank, lambda t: t.compute_ns) > 0.96


def test_healthy_jobs_are_of_every_kind(tmp_path: Path) -> None:
    jobs = [clean_job(seed) for seed in range(len(CLEAN_KINDS))]
    assert [job.kind for job in jobs] == list(CLEAN_KINDS)
    write_job(jobs[-1], tmp_path)
    assert commscope.load(tmp_path).events.num_rows


def test_some_jobs_have_hosts_with_clocks_of_their_own_and_some_one_file() -> None:
    jobs = [planted_job(cause, seed) for cause in ("step_tail", "dependency") for seed in range(12)]
    assert {len(job.clocks) for job in jobs} == {0, 1}
    assert {job.style.vendor for job in jobs} == {"rocm", "cuda"}
    assert 0 < sum(len(job.ranks) == 1 for job in jobs) < len(jobs) // 2
