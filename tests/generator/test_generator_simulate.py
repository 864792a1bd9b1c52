"""The simulator against answers that a person can work out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commscope.generator import (
    FREE,
    HostCosts,
    Job,
    Link,
    Model,
    Network,
    ScheduleError,
    Simulation,
    Straggler,
    from_text,
    instance_truths,
    simulate,
    step_truths,
)
from commscope.generator.costs import bus_factor
from commscope.generator.pipelines import pipeline, tp_dp_pp
from commscope.generator.scenarios import ddp, fsdp
from commscope.generator.truth import InstanceTruth, StepTruth

#: 1 ns a byte, no latency.
_NETWORK = Network(link=Link(0, 1000), copies=Link(0, 1000), eager_bytes=1000)


_THREE = "comm c 0,1,2"


def _run(*programs: str, comms: str = "comm c 0,1", costs: HostCosts = FREE) -> Simulation:
    """Simulates programs whose lines are separated by semicolons."""
    ranks = [f"rank {n} host\n" + p.replace(";", "\n") for n, p in enumerate(programs)]
    return simulate(from_text("\n".join([comms.replace(";", "\n"), *ranks])), costs, _NETWORK)


def _only(simulation: Simulation) -> InstanceTruth:
    (truth,) = instance_truths(simulation)
    return truth


def _waits(truth: InstanceTruth) -> list[int]:
    return [member.wait_ns for member in truth.members]


def _step(simulation: Simulation, rank: int, step: int) -> StepTruth:
    return next(t for t in step_truths(simulation) if (t.rank, t.step) == (rank, step))


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.sampled_from(["sleep", "comp s fwd"]))
def test_who_comes_first_waits_exactly_as_long_as_the_other_is_late(
    delay_ns: int, size: int, how: str
) -> None:
    late = f"{how} {delay_ns // 1000}.{delay_ns % 1000:03d};coll s c all_reduce {size}"
    truth = _only(_run(f"coll s c all_reduce {size}", late))
    assert _waits(truth) == [delay_ns, 0]
    assert (truth.transfer_ns, truth.skew_ns, truth.straggler) == (size, delay_ns, 1)
    assert {member.end_ns for member in truth.members} == {delay_ns + size}


def test_nobody_is_a_straggler_where_all_arrive_at_once() -> None:
    truth = _only(_run("coll s c all_reduce 8", "coll s c all_reduce 8"))
    assert (truth.straggler, truth.skew_ns, _waits(truth)) == (None, 0, [0, 0])


def test_of_several_that_are_last_the_lowest_rank_is_the_straggler() -> None:
    late = "sleep 1;coll s c all_reduce 8"
    truth = _only(_run("coll s c all_reduce 8", late, late, comms=_THREE))
    assert truth.straggler == 1


def test_launches_take_the_time_of_the_host_and_then_reach_the_device() -> None:
    costs = HostCosts(launch_ns=40, gap_ns=10, event_ns=5, latency_ns=7, device_gap_ns=3)
    run = _run("step 0;comp s fwd 1;rec s e;wait t e;comp t fwd 1;comp s fwd 1;sync;endstep",
               comms="", costs=costs).ranks[0]  # fmt: skip
    calls = [(a.call_ns, a.call_end_ns) for a in run.activities]
    assert calls == [(0, 40), (80, 120), (130, 170)]
    assert [(c.kind, c.start_ns, c.end_ns) for c in run.calls] == [
        ("record", 50, 55), ("wait", 65, 70), ("sync", 180, 2050)
    ]  # fmt: skip
    assert [a.start_ns for a in run.activities] == [47, 1047, 1050]
    assert [(s.step, s.start_ns, s.end_ns) for s in run.steps] == [(0, 0, 2060)]


def test_a_stream_that_waits_for_an_event_lets_pass_what_was_issued_before() -> None:
    run = _run("comp a fwd 5;rec a e;comp b fwd 1;wait b e;comp b fwd 1;comp a fwd 1", comms="")
    assert [a.start_ns for a in run.ranks[0].activities] == [0, 0, 5000, 5000]


def test_a_wait_is_for_the_event_as_recorded_last() -> None:
    run = _run("comp a fwd 5;rec a e;comp a fwd 5;wait b e;rec a e;comp b fwd 1", comms="")
    assert run.ranks[0].activities[-1].start_ns == 5000


def test_events_carry_over_what_a_stream_waits_for() -> None:
    run = _run("comp a fwd 5;rec a e;wait b e;rec b f;wait c f;comp c fwd 1", comms="")
    assert run.ranks[0].activities[-1].start_ns == 5000


def test_members_may_end_a_little_apart() -> None:
    schedule = from_text("comm c 0,1\nrank 0 h\ncoll s c barrier 9\nrank 1 h\ncoll s c barrier 9")
    network = Network(link=Link(5, 1000), end_skew_ns={1: 3})
    truth = _only(simulate(schedule, FREE, network))
    assert [member.end_ns for member in truth.members] == [14, 17]
    assert truth.transfer_ns == 14


def test_a_given_transfer_time_is_taken_as_it_is() -> None:
    program = "coll s c all_gather 1000 us=0.007"
    assert _only(_run(program, program)).transfer_ns == 7


@pytest.mark.parametrize(
    ("op", "expected"),
    [("all_reduce", (6, 4)), ("all_gather", (3, 4)), ("reduce_scatter", (3, 4)),
     ("all_to_all", (3, 4)), ("broadcast", (1, 1)), ("send_recv", (1, 1))],
)  # fmt: skip
def test_bandwidth_is_that_of_the_bus(op: str, expected: tuple[int, int]) -> None:
    assert bus_factor(op, 4) == expected


def test_transfer_times_are_rounded_up() -> None:
    assert Link(10, 3000).time_ns(100) == 10 + 34
    assert Network(link=Link(0, 1000)).transfer_ns("c", "all_reduce", 100, 4) == 150


@pytest.mark.parametrize(
    ("op", "size", "ends"),
    [
        ("broadcast 100 root=0", 100, (100, 150, 10_100)),  # small: the root goes on at once
        ("scatter 100 root=0", 100, (100, 150, 10_100)),
        ("broadcast 2000 root=0", 2000, (12_000, 12_000, 12_000)),  # large: all meet
        ("reduce 100 root=0", 100, (10_100, 150, 10_100)),
        ("gather 100 root=2", 100, (100, 150, 10_100)),
    ],
)
def test_operations_with_a_root_end_as_soon_as_their_data_is_there(
    op: str, size: int, ends: tuple[int, ...]
) -> None:
    starts = (0, 50, 10_000)
    programs = [f"sleep {start / 1000};coll s c {op}" for start in starts]
    truth = _only(_run(*programs, comms=_THREE))
    assert tuple(member.end_ns for member in truth.members) == ends
    waited = [10_000 - start if end > 10_000 else 0 for start, end in zip(starts, ends)]
    assert _waits(truth) == waited
    assert truth.transfer_ns == size


def test_no_transfer_time_is_known_where_nobody_ends_after_the_last_arrival() -> None:
    simulation = _run("coll s c broadcast 0 root=0", "sleep 1;coll s c broadcast 0 root=0")
    truth = _only(simulation)
    assert (truth.transfer_ns, _waits(truth)) == (None, [0, 0])


@pytest.mark.parametrize(("size", "sender_end"), [(1000, 1000), (1001, 6001)])
def test_a_sender_waits_for_the_receiver_with_large_messages_only(
    size: int, sender_end: int
) -> None:
    truth = _only(_run(f"send s c 1 {size}", f"sleep 5;recv s c 0 {size}"))
    assert [member.end_ns for member in truth.members] == [sender_end, 5000 + size]
    assert truth.instance.op == "send_recv"


def test_messages_are_matched_by_pair_and_order() -> None:
    simulation = _run(
        "send s c 1 10;send s c 2 20;send s c 1 30", "recv s c 0 10;recv s c 0 30", "recv s c 0 20",
        comms=_THREE,
    )  # fmt: skip
    found = [(i.members, i.seq, i.size_bytes) for i in simulation.instances]
    assert found == [((0, 1), 0, 10), ((0, 2), 0, 20), ((0, 1), 1, 30)]


_C, _D = "coll s c all_reduce 8", "coll s d all_reduce 8"
_WAIT_C = r"ranks \[0\] wait in all_reduce 0 of communicator c for ranks \[1\]"
_WAIT_D = r"ranks \[1\] wait in all_reduce 0 of communicator d for ranks \[0\]"


@pytest.mark.parametrize(
    ("programs", "says"),
    [
        ((_C, ""), f"the job hangs: {_WAIT_C}"),
        ((f"{_C};{_D}", f"{_D};{_C}"), f"{_WAIT_C}; {_WAIT_D}"),
        ((f"{_C};sync;send s c 1 8", f"recv s c 0 8;{_C}"), "hangs"),
        (("recv s c 1 8;send s c 1 8", "recv s c 0 8;send s c 0 8"), "hangs"),
        (("coll s c all_reduce 8", "coll s c all_gather 8"),
         "operation 0: rank 1 calls all_gather of 8 bytes, another member all_reduce of 8 bytes"),
        (("coll s c all_reduce 8", "coll s c all_reduce 16"), "16 bytes, another member"),
        (("coll s c all_reduce 8 4", "coll s c all_reduce 8 5"), "number 5 of 8 bytes, another"),
        (("coll s c reduce 8 root=0", "coll s c reduce 8 root=1"), "from or to rank 1"),
        (("step 1", ""), "rank 0: a step or a label does not end"),
        (("push a", ""), "rank 0: a step or a label does not end"),
        (("step 1;step 2", ""), "rank 0: step 2 begins inside another"),
        (("endstep", ""), "rank 0: a step ends that did not begin"),
        (("pop", ""), "rank 0: a label ends that did not begin"),
        (("wait s e", ""), "stream s waits for event e, which was not recorded"),
    ],
)  # fmt: skip
def test_jobs_that_cannot_go_on_say_why(programs: tuple[str, ...], says: str) -> None:
    with pytest.raises(ScheduleError, match=says):
        _run(*programs, comms="comm c 0,1;comm d 0,1")


def test_hanging_jobs_name_only_the_first_operations() -> None:
    programs = [f"coll s{n} c{n} barrier 0" for n in range(5)]
    comms = ";".join(f"comm c{n} 0,1" for n in range(5))
    with pytest.raises(ScheduleError, match=r"and 2 more$"):
        _run(";".join(programs), "", comms=comms)


def test_a_sequence_number_that_is_given_is_kept() -> None:
    program = "coll s c barrier 0 41"
    assert _run(program, program).instances[0].seq == 41


_TWO_COMMS = "comm a 0,1;comm b 0,2"


@pytest.mark.parametrize(
    ("late_a", "late_b", "wait", "transfer"),
    [
        (100, 0, 40, 60 + 10),  # waits for a while b transfers: no waiting in those 60
        (100, 40, 40, 60 + 10),  # waits for both, then b transfers until a may begin
        (100, 20, 20 + 20, 60 + 10),
        (0, 0, 0, 60),
    ],
)
def test_a_rank_waits_only_while_all_its_collectives_wait(
    late_a: int, late_b: int, wait: int, transfer: int
) -> None:
    def member(name: str, late: int, us: str) -> str:
        return f"step 0;sleep {late / 1000};coll {name} {name} barrier 0 us={us};endstep"

    both = "step 0;coll a a barrier 0 us=0.01;coll b b barrier 0 us=0.06;endstep"
    simulation = _run(
        both, member("a", late_a, "0.01"), member("b", late_b, "0.06"), comms=_TWO_COMMS
    )
    step = _step(simulation, 0, 0)
    assert (step.exposed_wait_ns, step.exposed_transfer_ns) == (wait, transfer)
    assert step.exposed_comm_ns == step.window_ns == wait + transfer


_TRANSFER, _FWD, _BWD, _OPT, _LAYERS = 500, 1000, 2000, 300, 4


def _ddp_step(overlap: str, transfer: int = _TRANSFER) -> StepTruth:
    model = Model(_LAYERS, transfer, _FWD, _BWD, _OPT)
    job = Job(ranks=2, steps=3)
    schedule = ddp(job, model, bucket_layers=1, overlap=overlap)  # type: ignore[arg-type]
    return _step(simulate(schedule, FREE, _NETWORK), 0, 1)


@pytest.mark.parametrize(
    ("overlap", "transfer", "exposed", "opts"),
    [
        ("none", 500, 4 * 500, 1),
        ("tail", 500, 500, 1),
        ("tail", 2500, 4 * 2500 - 3 * 2000, 1),  # slower than backward: the link is the bottleneck
        ("full", 500, 0, 4),  # three optimizers of 300 hide the last bucket
        ("full", 1100, 1100 - 3 * 300, 4),
    ],
)
def test_exposed_communication_of_data_parallel_steps(
    overlap: str, transfer: int, exposed: int, opts: int
) -> None:
    step = _ddp_step(overlap, transfer)
    compute = _LAYERS * (_FWD + _BWD) + opts * _OPT
    assert (step.exposed_comm_ns, step.exposed_transfer_ns) == (exposed, exposed)
    assert step.compute_ns == compute
    assert step.window_ns == compute + exposed
    assert step.hidden_comm_ns == _LAYERS * transfer - exposed


@pytest.mark.parametrize("where", ["host", "device"])
def test_a_straggler_makes_the_other_ranks_wait_in_its_step(where: str) -> None:
    straggler = Straggler(1, 7_000, step=1, where=where)  # type: ignore[arg-type]
    job = Job(ranks=3, steps=3, stragglers=(straggler,))
    model = Model(_LAYERS, 900, _FWD, _BWD, _OPT)
    simulation = simulate(ddp(job, model, bucket_layers=_LAYERS), FREE, _NETWORK)
    found = {(t.rank, t.step): t.exposed_wait_ns for t in step_truths(simulation)}
    assert {key: wait for key, wait in found.items() if wait} == {(0, 1): 7_000, (2, 1): 7_000}
    assert [t.straggler for t in instance_truths(simulation)] == [None, 1, None]


def test_prefetching_hides_gathers() -> None:
    model = Model(4, 800, 1000, 1000, 300)
    exposed = []
    for prefetch in (0, 1):
        schedule = fsdp(Job(ranks=2), model, prefetch=prefetch)
        exposed.append(_step(simulate(schedule, FREE, _NETWORK), 0, 1).exposed_comm_ns)
    # Without: 8 gathers and the last scatter; with: the first gather of each pass, and the scatter.
    assert exposed == [9 * 400, 3 * 400]


@pytest.mark.parametrize(("stages", "microbatches"), [(2, 1), (4, 4), (4, 7), (3, 2)])
def test_the_bubble_of_a_pipeline(stages: int, microbatches: int) -> None:
    model = Model(1, 0, _FWD, _BWD, _OPT)
    schedule = pipeline(Job(ranks=stages, steps=2), model, microbatches=microbatches)
    simulation = simulate(schedule, FREE, _NETWORK)
    first = [activity for activity in simulation.ranks[0].activities if activity.step == 0]
    end = max(activity.end_ns for activity in first)
    assert end == (microbatches + stages - 1) * (_FWD + _BWD) + _OPT
    bubble = (stages - 1) * (_FWD + _BWD)
    assert _step(simulation, 0, 0).exposed_comm_ns == bubble


def test_grids_fit_their_jobs() -> None:
    with pytest.raises(Exception, match="a grid of 8 ranks does not fit a job of 4"):
        tp_dp_pp(Job(ranks=4))


def test_groups_of_a_grid() -> None:
    found = tp_dp_pp(Job(ranks=8, steps=1)).communicators
    assert found["tp1"].members == (2, 3)
    assert found["dp1"].members == (1, 3)
    assert found["pp3"].members == (3, 7)
    assert [sum(r in c.members for c in found.values()) for r in range(8)] == [3] * 8


def test_windows_begin_with_what_was_launched_in_the_step() -> None:
    program = "comp s fwd 3;step 0;comp s fwd 5;endstep;copy t h2d 2000;step 1;comp s fwd 7;endstep"
    first, second = step_truths(_run(program, comms=""))
    assert (first.start_ns, first.end_ns, first.open) == (3000, 8000, False)
    assert (second.start_ns, second.end_ns, second.open) == (8000, 15_000, True)


def test_steps_without_device_work_have_no_window() -> None:
    program = "step 0;comp s fwd 5;endstep;step 1;sleep 1;endstep;step 2;comp s fwd 5;endstep"
    steps = step_truths(_run(program, comms=""))
    assert [(t.start_ns, t.end_ns) for t in steps] == [(0, 5000), (None, None), (5000, 10_000)]


def test_windows_tile_where_a_later_step_begins_early_on_another_stream() -> None:
    program = "comp s fwd 9;step 0;comp s fwd 5;endstep;step 1;comp t fwd 7;endstep"
    steps = step_truths(_run(program, comms=""))
    assert [(t.start_ns, t.end_ns) for t in steps] == [(9000, 9000), (9000, 9000)]


def test_copies_are_exposed_where_nothing_else_runs() -> None:
    program = "step 0;comp s fwd 1;copy t d2h 3000;coll u c barrier 0 us=2;endstep"
    step = _step(_run(program, program), 0, 0)
    assert (step.compute_ns, step.exposed_comm_ns, step.exposed_copy_ns) == (1000, 1000, 1000)


def test_streams_are_queues_and_collectives_end_together() -> None:
    job = Job(ranks=8, steps=2, jitter_ns=90_000, seed=4)
    simulation = simulate(tp_dp_pp(job))
    for run in simulation.ranks:
        for stream in {activity.operation.stream for activity in run.activities}:
            queue = [a for a in run.activities if a.operation.stream == stream]
            assert all(a.end_ns <= b.start_ns for a, b in pairwise(queue))
            assert all(a.start_ns > a.call_end_ns for a in queue)
    for truth in instance_truths(simulation):
        if truth.instance.synchronises:
            assert {m.end_ns for m in truth.members} == {truth.last_arrival_ns + truth.transfer_ns}
