"""Events, instances and gaps of the timeline in full, and the way from one to the next."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import small_run
from builders import TraceBuilder
from run_views import Shown, real, shown, simulated, straggler
from support import ROOT

from commscope.columns import int64
from commscope.dashboards.data.lanes import Lane
from commscope.dashboards.data.moments import Aim
from commscope.errors import UsageError
from commscope.report.build import report_of


def lane_of_kind(run: Shown, kind: str, rank: int = 0) -> Lane:
    return next(lane for lane in run.view.lanes if (lane.kind, lane.rank) == (kind, rank))


def test_a_kernel_tells_what_the_trace_does() -> None:
    run = straggler()
    lane = lane_of_kind(run, "compute")
    found = run.view.event(lane.id, 40)
    row = run.analysis.trace.events.slice(int(lane.events.source[40]), 1).to_pylist()[0]
    origin = run.view.layout.origin_ns
    assert (found.start, found.dur) == (row["start_ns"] - origin, row["dur_ns"])
    for name in ("stream", "queue", "step", "correlation", "bytes", "workgroups"):
        assert getattr(found, name) == row[name]
    assert found.kind == "compute"
    assert found.launch is not None
    assert found.launch.start == row["launch_ns"] - origin


@pytest.mark.parametrize("kind", ["compute", "communication", "copy"])
def test_arrows_lead_to_the_launch_and_back(kind: str) -> None:
    run = straggler()
    lane = lane_of_kind(run, kind)
    event = len(lane) - 1
    launch = run.view.event(lane.id, event).flow
    assert launch is not None
    back = run.view.event(launch.lane, launch.event).flow
    assert back is not None
    assert (back.lane, back.event) == (lane.id, event)
    assert launch.start < back.start


def test_a_collective_leads_to_its_instance() -> None:
    run = straggler()
    matching = run.analysis.across.matching
    lane = lane_of_kind(run, "communication")
    numbers = {run.view.event(lane.id, event).instance for event in range(len(lane))}
    assert numbers - {None} == set(range(len(matching.first_row)))


@pytest.mark.parametrize("run", [straggler, simulated], ids=["one host", "four hosts"])
def test_instances_are_those_of_the_matching(run) -> None:
    found = run()
    across, origin = found.analysis.across, found.view.layout.origin_ns
    for row in across.instances.to_pylist()[::7]:
        number = row["last_arrival_ns"], row["communicator"]
        instance = list(
            zip(across.matching.last_arrival_ns.tolist(), across.matching.communicator.tolist())
        ).index(number)
        details = found.view.instance(instance)
        assert (details.skew, details.transfer) == (row["skew_ns"], row["transfer_ns"])
        assert details.last_arrival == row["last_arrival_ns"] - origin
        assert len(details.members) == row["members"]
        assert details.communicator == across.labels[row["communicator"]]
        assert details.straggler in (None, row["straggler"])
        assert max(member.arrival for member in details.members) == details.last_arrival
        for member in details.members:
            event = found.view.event(member.lane, member.event)
            assert (event.rank, event.start) == (member.rank, member.arrival)
            assert event.instance == instance


def test_instances_of_a_communicator_follow_each_other() -> None:
    view = straggler().view
    first = view.instance(0)
    assert first.previous is None
    assert first.next is not None
    assert view.instance(first.next).previous == 0
    with pytest.raises(UsageError, match="instance 999"):
        view.instance(999)


def test_bandwidth_is_that_of_the_report() -> None:
    run = real("amd/kineto/ddp4_unmerged")
    costs, matching = run.analysis.costs, run.analysis.across.matching
    rows = np.flatnonzero(matching.instance == 3)
    wanted = costs.of_kind(rows)
    found = run.view.instance(3)
    assert (found.busbw_gbps, found.algbw_gbps) == (wanted["busbw_gbps"], wanted["algbw_gbps"])
    assert found.bandwidth_note == wanted["bandwidth_note"]


def test_an_instance_tells_what_the_log_says() -> None:
    facts = dict(shown(ROOT / "sample_traces" / "ddp_shm").view.instance(0).facts)
    assert (facts["transport"], facts["link"]) == ("SHM", "host memory")
    assert "COLL" in facts["note"]


@pytest.mark.parametrize("run", [straggler, simulated], ids=["one host", "four hosts"])
def test_gaps_are_those_of_the_report(run) -> None:
    """Every one of them is found at its place, with its cause."""
    view = run().view
    rows = report_of(run().analysis).gaps.arrow.to_pylist()
    assert rows
    for row in rows[:: max(len(rows) // 50, 1)]:
        t = view.on_common_clock(row["rank"], row["start_ns"] + row["dur_ns"] // 2)
        details = view.gap_at(row["rank"], t)
        assert details is not None
        part = details.parts[details.asked]
        assert (part.part, part.cause, part.step) == (row["part"], row["cause"], row["step"])
        assert details.t0 <= part.t0 <= t < part.t1 <= details.t1
        assert details.evidence.endswith(".")
        assert details.waits_for == row["straggler"]


def test_no_gap_where_nothing_is_exposed() -> None:
    view = straggler().view
    assert view.gap_at(0, view.layout.t0) is None


def test_parts_of_an_exposure_touch() -> None:
    view = straggler().view
    seen = set()
    t = view.layout.t0
    while (found := view.next(0, t, "exposed", 1)) is not None:
        details = view.gap_at(0, found[0])
        assert details is not None
        assert (details.t0, details.t1) == found
        assert [part.t0 for part in details.parts[1:]] == [p.t1 for p in details.parts[:-1]]
        seen.update(part.part for part in details.parts)
        t = found[0]
    assert seen == {"wait", "transfer", "unmatched"}


@pytest.mark.parametrize("what", ["exposed", "step", "slice"])
def test_there_and_back_again(what) -> None:
    run = straggler()
    lane = lane_of_kind(run, "compute", rank=1).id
    there, t = [], run.view.layout.t0 - 1
    while (found := run.view.next(1, t, what, 1, lane)) is not None:
        there.append(found)
        t = found[0]
    back, t = [], run.view.layout.t1 + 1
    while (found := run.view.next(1, t, what, -1, lane)) is not None:
        back.append(found)
        t = found[0]
    assert there == back[::-1]
    exposed = run.analysis.timeline.exposed_comm.starts
    steps = run.analysis.trace.all_steps.filter(
        np.asarray(int64(run.analysis.trace.all_steps, "rank") == 1)
    )
    wanted = {
        "exposed": int((run.analysis.timeline.rank_at(exposed) == 1).sum()),
        "step": steps.num_rows,
        "slice": len(run.view.lane(lane)),
    }
    assert len(there) == wanted[what]


def test_search_counts_names_in_any_case() -> None:
    run = straggler()
    names = run.analysis.trace.events.column("name").to_pylist()
    found = run.view.matches("NCCLDEV")
    assert found.count == sum("nccldev" in name.lower() for name in names) > 0
    assert dict(found.lanes).keys() == {
        lane_of_kind(run, "communication", rank).id for rank in (0, 1)
    }
    assert found.first is not None
    following = run.view.next_match("ncclDev", found.first.t0, 1)
    assert following is not None
    assert following.t0 > found.first.t0
    assert run.view.next_match("ncclDev", following.t0, -1) == found.first
    assert run.view.matches("no such kernel").first is None


@pytest.mark.parametrize(
    "path",
    [
        "kineto/mi210_gpu_only.json.gz",
        "kineto/a100_128gpu_sampled_rank0.json.gz",
        "kineto/edge_large_integer_rank70.json.gz",
        "amd/kineto/merged_ddp4_nccl_only.json.gz",
    ],
)
def test_all_kinds_of_traces_can_be_asked(path: str) -> None:
    """Also without collectives, hosts or steps."""
    view = real(path).view
    for lane in view.lanes:
        for event in {0, len(lane.events) // 2, len(lane.events) - 1} if len(lane) else ():
            found = view.event(lane.id, event)
            assert json.dumps(found.to_dict(), allow_nan=False)
            assert view.layout.t0 <= found.start or lane.kind == "thread"
    for number in range(view.instances.count()):
        assert view.instance(number).members
    layout = view.layout
    for part in view.select(layout.t0, layout.t1, []).ranks:
        assert min(part.idle_ns, part.hidden_comm_ns) >= 0


HOSTILE = "\x1b]0;owned\x07<img src=x>\u202egemm" + "k" * 1000


def test_names_leave_harmless_and_short(tmp_path: Path) -> None:
    for rank in range(2):
        data = small_run.trace(rank, name=HOSTILE)
        (tmp_path / f"rank{rank}.json").write_bytes(data)
    view = shown(tmp_path, "\x1b[31mrun").view
    names = view.names(range(len(view.book.texts)))
    assert any("<img src=x>" in name for name in names.values())
    assert all(name.isprintable() and len(name) <= 500 for name in names.values())
    lane = next(lane for lane in view.lanes if lane.kind == "compute")
    assert view.event(lane.id, 0).name in names.values()
    assert view.layout.name.isprintable()
    assert any(kernel.name in names.values() for kernel in view.select(0, 10**6, []).kernels)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda view: view.event(1, 99_999), "event 99999"),
        (lambda view: view.event(0, 0), "lane 0"),
        (lambda view: view.event(2, -1), "event -1"),
        (lambda view: view.names([10**6]), "name 1000000"),
        (lambda view: view.names([-1]), "name -1"),
        (lambda view: view.query(5, 5, 10, []), "end after"),
        (lambda view: view.query(0, 2**60, 10, []), "2\\^53"),
        (lambda view: view.query(0, 5, 0, []), "px 0"),
        (lambda view: view.query(0, 5, 16_385, []), "px 16385"),
        (lambda view: view.query(0, 5, 10, [999]), "lane 999"),
        (lambda view: view.query(0, 5, 10, [1] * 2049), "2049 lanes"),
        (lambda view: view.query(0, 5, 10, [1], "x" * 201), "200"),
        (lambda view: view.matches(""), "200"),
        (lambda view: view.gap_at(9, 0), "rank 9"),
        (lambda view: view.next(0, 0, "step", 2), "direction"),
        (lambda view: view.next(0, 0, "day", 1), "what"),
        (lambda view: view.next(0, 0, "slice", 1), "lane"),
    ],
)
def test_what_does_not_exist_is_said(call, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        call(straggler().view)


@pytest.mark.parametrize("run", [straggler, simulated], ids=["one host", "four hosts"])
@pytest.mark.parametrize("kind", ["steps", "compute", "communication", "exposed"])
def test_near_a_time_is_what_covers_it_or_else_is_closest(run, kind: str) -> None:
    view = run().view
    lane, clock, slack = lane_of_kind(run(), kind), view.clocks[0], 50_000
    starts, ends = lane.events.start, lane.events.ends(np.arange(len(lane)))
    for t in np.linspace(view.layout.t0, view.layout.t1, 300).astype(int).tolist():
        own = clock.own_time(t)
        away = np.maximum(np.maximum(starts - own, own - ends + 1), 0)
        found = view.near(lane.id, Aim(t, slack, 2**53))
        if found is None:
            assert away.min() > slack
        else:
            assert away[found.event] == away.min() <= slack


def test_an_event_is_found_again_by_its_times() -> None:
    view = straggler().view
    for kind in ("steps", "compute", "exposed", "thread"):
        lane = lane_of_kind(straggler(), kind)
        for event in range(0, len(lane), max(len(lane) // 20, 1)):
            told = view.event(lane.id, event)
            found = view.between(lane.id, told.start, told.start + told.dur)
            assert found is not None
            again = view.event(lane.id, found.event)
            assert (again.start, again.dur) == (told.start, told.dur)
    assert view.between(lane.id, told.start, told.start + told.dur + 10) is None


def test_a_trace_without_steps_tells_of_none(tmp_path: Path) -> None:
    builder = TraceBuilder(rank=0)
    for start in (20, 70):
        builder.launch(start - 10).kernel("gemm", start, 10)
        builder.launch(start - 5).kernel(small_run.ALL_REDUCE, start + 10, 20, stream=1)
    (tmp_path / "rank0.json").write_text(json.dumps(builder.document()))
    run = shown(tmp_path)
    assert run.analysis.trace.step_source.kind == "whole_trace"
    steps = lane_of_kind(run, "steps")
    assert (len(steps), steps.label) == (0, "no steps")
    for kind in ("compute", "communication", "thread"):
        assert run.view.event(lane_of_kind(run, kind).id, 0).step is None
    exposed = run.view.event(lane_of_kind(run, "exposed").id, 0)
    assert exposed.gap is not None
    gap = run.view.gap_at(0, exposed.start)
    assert {part.step for part in exposed.gap.parts} == {None}
    assert gap == exposed.gap
    idle = run.view.idle_at(0, exposed.start + exposed.dur + 1)
    assert idle is not None
    assert idle.steps == ()
    assert run.view.next(0, run.view.layout.t0, "step", 1) is None
