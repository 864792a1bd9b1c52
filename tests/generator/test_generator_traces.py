"""Simulated jobs written as traces: the analysis must find exactly what the simulator knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import commscope
from commscope.columns import int64
from commscope.generator import (
    Clock,
    Cut,
    Job,
    Model,
    Schedule,
    ScheduleError,
    Simulation,
    Straggler,
    Style,
    cut,
    from_text,
    instance_truths,
    simulate,
    step_truths,
    to_text,
    write_traces,
)
from commscope.generator.clocks import ORIGIN_NS
from commscope.generator.pipelines import pipeline, tp_dp_pp
from commscope.generator.scenarios import ddp, fsdp, moe, tp

pytestmark = pytest.mark.long

PARTITION = (
    "window_ns", "compute_ns", "communication_ns", "hidden_comm_ns", "exposed_comm_ns",
    "exposed_copy_ns", "idle_ns",
)  # fmt: skip
STRAGGLERS = (Straggler(3, 2_000_000, 1), Straggler(2, 700_000, 2, "device"))
JOB = Job(ranks=8, steps=4, ranks_per_host=4, stragglers=STRAGGLERS, jitter_ns=60_000, seed=7)
MODEL = Model(layers=4, input_bytes=8 << 20)
SCENARIOS: dict[str, Callable[[Job], Schedule]] = {
    "ddp_full": lambda job: ddp(job, MODEL, overlap="full"),
    "ddp_tail": lambda job: ddp(job, MODEL, overlap="tail"),
    "ddp_none": lambda job: ddp(job, MODEL, overlap="none"),
    "fsdp_prefetch": lambda job: fsdp(job, MODEL, prefetch=2),
    "fsdp_late": lambda job: fsdp(job, MODEL, prefetch=0),
    "tp": lambda job: tp(job, MODEL),
    "moe": lambda job: moe(job, MODEL),
    "pipeline": lambda job: pipeline(job, MODEL),
    "tp_dp_pp": lambda job: tp_dp_pp(job, MODEL),
}
each_scenario = pytest.mark.parametrize("name", SCENARIOS)
each_vendor = pytest.mark.parametrize("vendor", ["rocm", "cuda"])


def _assert_analysed_exactly(simulation: Simulation, folder: Path, tolerance_ns: int = 0) -> None:
    rows = {(row["rank"], row["step"]): row for row in commscope.analyze(_load(folder)).steps}
    truths = step_truths(simulation)
    assert set(rows) == {(truth.rank, truth.step) for truth in truths}
    for truth in truths:
        row = rows[truth.rank, truth.step]
        assert row["open"] == truth.open
        if truth.start_ns is None:
            assert row["window_ns"] is None
            continue
        differences = {name: row[name] - getattr(truth, name) for name in PARTITION}
        assert max(map(abs, differences.values())) <= tolerance_ns, (truth, differences)


def _load(folder: Path) -> commscope.Trace:
    return commscope.load(folder)


@each_scenario
@each_vendor
def test_the_analysis_gives_the_exact_partition(name: str, vendor: Any, tmp_path: Path) -> None:
    simulation = simulate(SCENARIOS[name](JOB))
    write_traces(simulation, tmp_path, Style(vendor))
    _assert_analysed_exactly(simulation, tmp_path)


@each_scenario
def test_the_partition_also_holds_where_the_host_runs_ahead(name: str, tmp_path: Path) -> None:
    job = Job(ranks=8, steps=3, jitter_ns=60_000, sync_every=0)
    simulation = simulate(SCENARIOS[name](job))
    ahead = step_truths(simulation)[1].start_ns
    assert ahead is not None
    assert ahead > simulation.ranks[0].steps[-1].end_ns / 2
    write_traces(simulation, tmp_path)
    _assert_analysed_exactly(simulation, tmp_path)


@each_scenario
def test_parts_add_up(name: str) -> None:
    for t in step_truths(simulate(SCENARIOS[name](JOB))):
        assert t.compute_ns + t.exposed_comm_ns + t.exposed_copy_ns + t.idle_ns == t.window_ns
        assert t.hidden_comm_ns + t.exposed_comm_ns == t.communication_ns
        assert t.exposed_wait_ns + t.exposed_transfer_ns == t.exposed_comm_ns
        assert t.exposed_unmatched_ns == 0


@each_scenario
def test_every_instance_meets_all_its_members(name: str) -> None:
    simulation = simulate(SCENARIOS[name](JOB))
    truths = instance_truths(simulation)
    assert [truth.instance for truth in truths] == list(simulation.instances)
    for truth in truths:
        assert min(member.wait_ns for member in truth.members) == 0
        assert truth.transfer_ns is not None
        assert truth.transfer_ns > 0


@each_scenario
def test_the_same_seed_gives_the_same_job(name: str) -> None:
    again, other = Job(ranks=8, jitter_ns=9), Job(ranks=8, jitter_ns=9, seed=1)
    schedule = SCENARIOS[name](Job(ranks=8, jitter_ns=9))
    assert SCENARIOS[name](again) == schedule
    assert simulate(SCENARIOS[name](again)) == simulate(schedule)
    assert SCENARIOS[name](other) != schedule


@each_scenario
def test_schedules_survive_the_round_trip_as_text(name: str) -> None:
    schedule = SCENARIOS[name](JOB)
    assert from_text(to_text(schedule)) == schedule


UNUSUAL = {
    "work before, between and after the steps": """
        comp s fwd 30;step 0;comp s fwd 50;endstep;copy t h2d 999999;step 1;sleep 3;endstep;
        step 2;push a;comp s fwd 7;pop;endstep;comp s fwd 9""",
    "a later step begins early on another stream": """
        comp s fwd 90;step 0;comp s fwd 50;endstep;step 1;comp t fwd 7;comp s fwd 1;endstep""",
    "what takes no time makes no window": """
        step 0;comp s fwd 0;comp s fwd 5;endstep;step 1;comp s fwd 0;endstep;
        step 2;comp s fwd 1;endstep""",
}


@pytest.mark.parametrize("program", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_steps_are_analysed_exactly(program: str, tmp_path: Path) -> None:
    simulation = simulate(from_text("rank 0 h\n" + program.replace(";", "\n")))
    write_traces(simulation, tmp_path)
    _assert_analysed_exactly(simulation, tmp_path)


CUTS = {0: Cut(3), 1: Cut(11, 90), 2: Cut(0, 60), 5: Cut(7, 8)}


@each_vendor
def test_cut_recordings_are_analysed_as_what_is_left_of_them(vendor: Any, tmp_path: Path) -> None:
    simulation = cut(simulate(SCENARIOS["tp_dp_pp"](JOB)), CUTS)
    write_traces(simulation, tmp_path, Style(vendor))
    _assert_analysed_exactly(simulation, tmp_path)


def test_cut_recordings_hold_the_operations_asked_for() -> None:
    whole = simulate(SCENARIOS["tp_dp_pp"](JOB))
    part = cut(whole, CUTS)

    def operations(simulation: Simulation, rank: int) -> list[int]:
        found = [a for a in simulation.ranks[rank].activities if a.instance is not None]
        return [a.start_ns for a in sorted(found, key=lambda a: a.start_ns)]

    assert operations(part, 1) == operations(whole, 1)[11:90]
    assert operations(part, 5) == operations(whole, 5)[7:8]
    assert part.ranks[3] == whole.ranks[3]
    assert part.ranks[0].steps == whole.ranks[0].steps


def test_what_lacks_a_member_is_neither_wait_nor_transfer() -> None:
    program = "step 0\ncoll s c barrier 0 us=5\ncomp s fwd 2\ncoll s c barrier 0 us=3\nendstep\n"
    text = f"comm c 0,1\nrank 0 h\n{program}rank 1 h\n{program}"
    whole = simulate(from_text(text))
    part = cut(whole, {1: Cut(first=1)})
    assert [t.index for t in instance_truths(part)] == [1]
    step = step_truths(part)[0]
    assert (step.exposed_unmatched_ns, step.exposed_transfer_ns) == (5000, 3000)


@pytest.mark.parametrize("wanted", [Cut(-1), Cut(99), Cut(3, 3), Cut(0, 99)])
def test_cuts_name_operations_that_are_there(wanted: Cut) -> None:
    simulation = simulate(tp(Job(ranks=2, steps=1), MODEL))
    with pytest.raises(ScheduleError, match="rank 1: no operations"):
        cut(simulation, {1: wanted})


HOUR_NS = 3600 * 10**9


@pytest.mark.parametrize("offset_ns", [1_234_567_891, -5 * HOUR_NS, 11 * HOUR_NS + 1])
def test_clocks_that_are_set_wrong_do_not_change_the_partition(
    offset_ns: int, tmp_path: Path
) -> None:
    simulation = simulate(SCENARIOS["tp_dp_pp"](JOB))
    write_traces(simulation, tmp_path, clocks={"host1": Clock(offset_ns)})
    _assert_analysed_exactly(simulation, tmp_path)


def test_clocks_that_go_wrong_stretch_the_trace(tmp_path: Path) -> None:
    simulation = simulate(SCENARIOS["ddp_tail"](JOB))
    clock = Clock(5, 20_000)
    write_traces(simulation, tmp_path, clocks={"host1": clock})
    # 20 ppm of a step of at most 12 ms, and 1 ns for every begin and end that is rounded.
    _assert_analysed_exactly(simulation, tmp_path, tolerance_ns=240 + 100)
    times = int64(commscope.load(tmp_path / "rank4.json").events, "start_ns").tolist()
    written = sorted(clock.written_ns(a.start_ns) for a in simulation.ranks[4].activities)
    assert times == [Style().base_ns + time for time in written]


@pytest.mark.parametrize("true_ns", [0, 1, 49_999, 50_000, 10**9, 60 * 10**9 + 1])
def test_drift_is_exact(true_ns: int) -> None:
    assert Clock(7, 20_000).written_ns(true_ns) - ORIGIN_NS == 7 + true_ns + true_ns // 50_000
    assert Clock(0, -20_000).written_ns(true_ns) - ORIGIN_NS == true_ns - -(-true_ns // 50_000)


def _collectives(folder: Path) -> list[dict[str, Any]]:
    trace = _load(folder)
    rows = trace.collectives.to_pylist()
    starts = int64(trace.events, "start_ns").tolist()
    return [row | {"start_ns": starts[row["event"]]} for row in rows]


def _expected(simulation: Simulation, rank: int) -> list[tuple[Any, ...]]:
    found = []
    for activity in simulation.ranks[rank].activities:
        if activity.instance is not None:
            instance = simulation.instances[activity.instance]
            members = simulation.schedule.communicators[instance.communicator].members
            start = Style().base_ns + Clock().written_ns(activity.start_ns)
            is_message = instance.op == "send_recv"
            op = type(activity.operation).__name__ if is_message else instance.op
            seq = None if is_message else instance.seq
            found.append(
                (start, instance.communicator, seq, op, instance.size_bytes, list(members))
            )
    return sorted(found)


@each_vendor
@pytest.mark.parametrize("metadata", ["args", "record"])
@pytest.mark.parametrize("name", ["tp_dp_pp", "fsdp_prefetch", "moe"])
def test_the_reader_finds_what_the_trace_says_of_collectives(
    name: str, metadata: Any, vendor: Any, tmp_path: Path
) -> None:
    simulation = simulate(SCENARIOS[name](Job(ranks=8, steps=1)))
    write_traces(simulation, tmp_path, Style(vendor, metadata))
    rows = _collectives(tmp_path)
    words = {"send": "Send", "recv": "Receive"}
    for rank in range(8):
        found = [
            (row["start_ns"], row["comm"], row["seq"], op, row["bytes"], row["members"])
            for row in rows
            if row["rank"] == rank and (op := words.get(row["op"], row["op"]))
        ]
        assert sorted(found) == _expected(simulation, rank)
    assert {row["source"] for row in rows} == {metadata}


@each_vendor
@pytest.mark.parametrize("metadata", ["args", "record", "annotation", "none"])
def test_traces_are_sound_json_whatever_the_names(
    vendor: Any, metadata: Any, tmp_path: Path
) -> None:
    text = 'comm "c\\ 0 the "only" one\nrank 0 "h\npush "p\ncoll s "c\\ barrier 0\npop\n'
    simulation = simulate(from_text(text))
    (file,) = write_traces(simulation, tmp_path, Style(vendor, metadata, with_host=True))
    document = json.loads(file.read_bytes())
    assert document["host"] == '"h'
    assert document["distributedInfo"]["pg_config"][0]["pg_desc"] == 'the "only" one'
    assert [e["name"] for e in document["traceEvents"] if e["cat"] == "user_annotation"] == ['"p']


def test_traces_may_lack_sequence_numbers(tmp_path: Path) -> None:
    simulation = simulate(tp(Job(ranks=2, steps=1), MODEL))
    write_traces(simulation, tmp_path, Style(with_seq=False))
    assert {row["seq"] for row in _collectives(tmp_path)} == {None}


@pytest.mark.parametrize(
    ("vendor", "metadata", "ops"),
    [("rocm", "none", {None}), ("cuda", "none", {"all_reduce"}),
     ("rocm", "annotation", {"all_reduce"})],
)  # fmt: skip
def test_traces_may_lack_metadata(
    vendor: Any, metadata: Any, ops: set[Any], tmp_path: Path
) -> None:
    simulation = simulate(tp(Job(ranks=2, steps=1), MODEL))
    write_traces(simulation, tmp_path, Style(vendor, metadata))
    rows = _collectives(tmp_path)
    assert {row["op"] for row in rows} == ops
    assert {(row["comm"], row["bytes"], row["group_size"]) for row in rows} == {(None, None, None)}


def test_traces_tell_rank_host_and_vendor(tmp_path: Path) -> None:
    simulation = simulate(tp(Job(ranks=4, steps=1, ranks_per_host=2), MODEL))
    write_traces(simulation, tmp_path, Style("cuda", with_host=True))
    trace = _load(tmp_path)
    rows = trace.ranks.to_pylist()
    assert [(row["rank"], row["host"], row["device"], row["world_size"]) for row in rows] == [
        (0, "host0", 0, 4), (1, "host0", 1, 4), (2, "host1", 0, 4), (3, "host1", 1, 4)
    ]  # fmt: skip
    assert {row["source"] for row in rows} == {"metadata"}
    assert {file.is_rocm for file in trace.files} == {False}


def test_traces_may_lack_who_they_are(tmp_path: Path) -> None:
    simulation = simulate(tp(Job(ranks=2, steps=1), MODEL))
    style = Style(metadata="none", with_distributed_info=False)
    (tmp_path / "x").mkdir()
    files = write_traces(simulation, tmp_path / "x", style)
    rows = _load(tmp_path).ranks.to_pylist()
    assert [(row["world_size"], row["source"]) for row in rows] == [(None, "file")] * len(files)
