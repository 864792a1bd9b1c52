"""The worst step: which one it is, and stretches that add up to its parts exactly."""

from __future__ import annotations

import json

import pytest
from builders import TraceBuilder
from small_run import add_step, report_of

import commscope
from commscope import sample_traces
from commscope.report.worst_step import LANES

_PARTS = dict(zip(LANES, ("compute_ns", "communication_ns", "exposed_comm_ns")))


@pytest.fixture(scope="module", params=["ddp_straggler", "fsdp", "a2a"])
def report(request) -> commscope.Report:
    return commscope.analyze(commscope.load(sample_traces.path(request.param)))


def test_it_is_the_closed_step_with_most_exposed(report):
    worst = report.worst_step
    closed = [row for row in report.steps if not row["open"]]
    most = max(closed, key=lambda row: row["exposed_comm_ns"])
    found = (worst.step, worst.rank, worst.exposed_comm_ns)
    assert found == (most["step"], most["rank"], most["exposed_comm_ns"])


def test_stretches_add_up_to_the_parts_exactly(report):
    worst = report.worst_step
    steps = {row["rank"]: row for row in report.steps if row["step"] == worst.step}
    for row in worst.ranks:
        for lane, part in _PARTS.items():
            of_lane = [
                stretch["covered_ns"]
                for stretch in worst.lanes
                if (stretch["rank"], stretch["lane"]) == (row["rank"], lane)
            ]
            assert sum(of_lane) == row[part] == steps[row["rank"]][part]
            assert len(of_lane) <= 241


def test_stretches_lie_apart_and_within(report):
    worst = report.worst_step
    ends: dict[tuple[int, str], int] = {}
    for row in worst.lanes:
        assert worst.start_ns <= row["start_ns"]
        assert row["start_ns"] + row["dur_ns"] <= worst.end_ns
        assert 0 < row["covered_ns"] <= row["dur_ns"]
        lane = (row["rank"], row["lane"])
        if lane in ends:
            assert row["start_ns"] - ends[lane] >= worst.resolution_ns
        ends[lane] = row["start_ns"] + row["dur_ns"]


def test_the_last_to_arrive_waits_for_nobody():
    report = commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))
    found = report.worst_step.waited_for
    assert found.straggler == 1
    waits = {row["rank"]: row["wait_ns"] for row in found.arrivals}
    starts = {row["rank"]: row["start_ns"] for row in found.arrivals}
    assert (waits[1], waits[0]) == (0, found.skew_ns)
    assert found.last_arrival_ns == starts[1] == starts[0] + found.skew_ns


def test_without_steps_it_is_the_whole_trace(tmp_path):
    builder = TraceBuilder().launch(0, 1).kernel("gemm", 5, 10)
    builder.launch(2, 1).kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 12, 8, stream=1)
    worst = report_of(tmp_path, builder).worst_step
    assert (worst.step, worst.rank, worst.exposed_comm_ns) == (None, 0, 5_000)
    assert worst.end_ns - worst.start_ns == 15_000
    assert worst.waited_for is None


def test_an_open_step_counts_where_there_is_no_other(tmp_path):
    builder = TraceBuilder()
    add_step(builder, 3, 1000, "gemm")
    worst = report_of(tmp_path, builder).worst_step
    assert (worst.step, worst.exposed_comm_ns) == (3, 20_000)


def test_an_open_step_is_not_told_among_the_closed_ones(tmp_path):
    builder = TraceBuilder()
    builder.step(1, 1000, 95).launch(1005).kernel("gemm", 1010, 40)
    add_step(builder, 2, 1100, "gemm")
    report = report_of(tmp_path, builder)
    assert [row["open"] for row in report.steps] == [False, True]
    assert report.worst_step.says.startswith("of all steps, step 2 has the most")
    closed = TraceBuilder()
    for step in (1, 2):
        add_step(closed, step, 1000 + 100 * step, "gemm")
    worst = report_of(tmp_path, closed).worst_step
    assert worst.says.startswith("of all closed steps, step 1 has the most")


def test_there_is_none_where_nothing_is_exposed(tmp_path):
    report = report_of(tmp_path, TraceBuilder().launch(0, 1).kernel("gemm", 1, 2))
    assert report.worst_step is None
    assert report.to_dict()["worst_step"] is None


def test_the_contract_holds_it(report):
    document = json.loads(report.to_json())["worst_step"]
    assert document["lanes"] == list(report.worst_step.lanes)
    assert document["waited_for"]["arrivals"] == list(report.worst_step.waited_for.arrivals)
    assert document["says"].startswith("of all closed steps")
