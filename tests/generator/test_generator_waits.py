"""Hosts that wait for their devices, shared hardware queues and contention, worked out by hand."""

from __future__ import annotations

import json

import pytest

from commscope.generator import FREE, Link, Network, ScheduleError, Simulation, Style, from_text
from commscope.generator.costs import Device, HostCosts
from commscope.generator.kineto_writer import trace_text
from commscope.generator.simulate import simulate

#: 1 ns a byte, pageable 2 ns, no latency.
_NETWORK = Network(link=Link(0, 1000), copies=Link(0, 1000), pageable=Link(0, 500))


def _run(
    *programs: str, comms: str = "", costs: HostCosts = FREE, device: Device | None = None
) -> Simulation:
    ranks = [f"rank {n} host\n" + p.replace(";", "\n") for n, p in enumerate(programs)]
    return simulate(from_text("\n".join([comms, *ranks])), costs, _NETWORK, device)


def _calls(simulation: Simulation) -> list[tuple[str, int, int]]:
    return [(c.kind, c.start_ns, c.end_ns) for c in simulation.ranks[0].calls if c.kind != "record"]


def test_a_stream_is_waited_for_while_another_goes_on() -> None:
    run = _run("comp a fwd 9;comp b fwd 2;syncstream b;comp b fwd 1")
    assert _calls(run) == [("stream_sync", 0, 2000)]
    assert run.ranks[0].activities[-1].call_ns == 2000


def test_a_stream_without_work_is_not_waited_for_long() -> None:
    assert _calls(_run("syncstream b", costs=HostCosts(event_ns=7))) == [("stream_sync", 0, 7)]


def test_an_event_is_waited_for_as_it_was_recorded_last() -> None:
    run = _run("comp a fwd 2;rec a e;comp a fwd 9;syncevent e;comp b fwd 1")
    assert _calls(run) == [("event_sync", 0, 2000)]
    assert run.ranks[0].activities[-1].start_ns == 2000


def test_an_event_is_asked_for_until_it_has_happened() -> None:
    run = _run("comp a fwd 2.5;rec a e;query e 1", costs=HostCosts(0, 0, 10, 0, 0))
    assert _calls(run) == [("query", t, t + 10) for t in (10, 1010, 2010, 3010)]


@pytest.mark.parametrize("wait", ["syncevent e", "query e 1"])
def test_an_event_must_have_been_recorded(wait: str) -> None:
    with pytest.raises(ScheduleError, match="rank 0: the host waits for event e, which was not"):
        _run(wait)


def test_the_host_learns_of_an_end_a_little_later() -> None:
    assert _calls(_run("comp a fwd 2;sync", costs=HostCosts(0, 0, 0, 0, 0, wake_ns=6))) == [
        ("sync", 0, 2006)
    ]


def test_memory_is_given_back_when_the_device_is_idle_and_taken_at_once() -> None:
    run = _run("comp a fwd 5;malloc 64 1;free 2;comp a fwd 1")
    assert _calls(run) == [("malloc", 0, 1000), ("free", 1000, 7000)]
    assert [c.size_bytes for c in run.ranks[0].calls] == [64, None]
    assert run.ranks[0].activities[-1].start_ns == 7000


def test_a_pageable_copy_holds_up_the_host_and_a_pinned_one_does_not() -> None:
    pinned, pageable = (
        _run(f"comp a fwd 1;copy a h2d 1000 {memory};comp b fwd 1").ranks[0].activities
        for memory in ("pinned", "pageable")
    )
    assert [(a.start_ns, a.end_ns) for a in pinned] == [(0, 1000), (1000, 2000), (0, 1000)]
    assert [(a.start_ns, a.end_ns) for a in pageable] == [(0, 1000), (1000, 3000), (3000, 4000)]
    assert (pageable[1].call_ns, pageable[1].call_end_ns) == (0, 3000)


def test_streams_of_one_hardware_queue_run_one_after_the_other() -> None:
    program = "comp a fwd 3;comp b fwd 3;comp c fwd 3;comp a fwd 1"
    run = _run(program, device=Device(queues={"a": 0, "b": 0, "c": 1}))
    assert [x.start_ns for x in run.ranks[0].activities] == [0, 3000, 0, 6000]
    assert [x.start_ns for x in _run(program).ranks[0].activities] == [0, 0, 0, 3000]


def test_a_collective_in_a_shared_queue_holds_up_compute_until_the_last_member_comes() -> None:
    first = "coll dp c all_reduce 2000;comp main bwd 1"
    run = _run(first, "sleep 5;" + first, comms="comm c 0,1",
               device=Device(queues={"main": 0, "dp": 0}))  # fmt: skip
    assert run.ranks[0].activities[-1].start_ns == 7000


def test_compute_takes_longer_while_a_collective_runs() -> None:
    """1 us alone, 2 us beside the collective at half the speed, 3 us alone."""
    program = "comp main bwd 5;comp other bwd 1;rec other e;wait dp e;coll dp c all_reduce 2000"
    slow = Device(contention=(2, 1))
    runs = _run(program, program, comms="comm c 0,1", device=slow).ranks
    for run in runs:
        assert [(a.start_ns, a.end_ns) for a in run.activities] == [
            (0, 6000), (0, 1000), (1000, 3000)
        ]  # fmt: skip


def test_what_is_delayed_by_contention_delays_the_next_collective() -> None:
    program = (
        "coll dp c all_reduce 2000;comp main bwd 2;rec main e;wait dp e;coll dp c all_reduce 1000"
    )
    run = _run(program, program, comms="comm c 0,1", device=Device(contention=(3, 2))).ranks[1]
    # In 2 us of the first one, 1333 ns of work get done; then the rest alone.
    assert [(a.start_ns, a.end_ns) for a in run.activities] == [
        (0, 2000), (0, 2667), (2667, 3667)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("vendor", "expected"),
    [
        ("rocm", ["hipMalloc", "hipMemcpyWithStream", "hipStreamSynchronize",
                  "hipEventSynchronize", "hipEventQuery", "hipFree"]),
        ("cuda", ["cudaMalloc", "cudaMemcpyAsync", "cudaStreamSynchronize",
                  "cudaEventSynchronize", "cudaEventQuery", "cudaFree"]),
    ],
)  # fmt: skip
def test_traces_name_the_calls_of_the_vendor(vendor: str, expected: list[str]) -> None:
    program = (
        "malloc 64 1;push aten::item cpu_op;copy a d2h 4 pageable;pop;syncstream a;"
        "rec a e;syncevent e;query e 1;free 1"
    )
    # The order of calls is told by their times, which must differ.
    run = _run(program, costs=HostCosts(10, 10, 10, 0, 0))
    text = trace_text(run, 0, Style(vendor=vendor))  # type: ignore[arg-type]
    events = json.loads(text)["traceEvents"]
    calls = sorted((e for e in events if e["cat"] == "cuda_runtime"), key=lambda e: e["ts"])
    assert [e["name"] for e in calls if not e["name"].endswith("Record")] == expected
    assert next(e for e in calls if e["name"].endswith("Malloc"))["args"]["bytes"] == 64
    assert [(e["name"], e["cat"]) for e in events if e["cat"] == "cpu_op"] == [
        ("aten::item", "cpu_op")
    ]
    (copied,) = (e["name"] for e in events if e["cat"] == "gpu_memcpy")
    host = "Host" if vendor == "rocm" else "Pageable"
    assert copied == f"Memcpy DtoH (Device -> {host})"
