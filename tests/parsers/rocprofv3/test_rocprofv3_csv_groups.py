"""Which csv files belong together, what their names tell, and what of them is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from grouped_files import read_folder
from logical_rows import EVENT_COLUMNS, expected_events, rows_of
from logical_trace import LogicalTrace, Transfer, three_steps

import commscope
from commscope.errors import NoDeviceEvents
from commscope.generator.rocprofv3.csv_files import write_csv
from commscope.parsers.opening import Source
from commscope.parsers.placing import NO_GPU, UNKNOWN
from commscope.parsers.rocprofv3_csv.agents import Agents
from commscope.parsers.rocprofv3_csv.files import group_of, host_of, pid_of

TRACE = three_steps()


def named(label: str, member: str | None = None) -> Source:
    return Source(Path("/data") / label, member=member, label=label)


@pytest.mark.parametrize(
    ("label", "group"),
    [
        ("nodeA/908_kernel_trace.csv", "nodeA/908"),
        ("nodeA/908_hip_api_trace.csv.gz", "nodeA/908"),
        ("nodeA/908_hip_runtime_api_trace.csv", "nodeA/908"),
        ("nodeA/908_rccl_api_trace.csv", "nodeA/908"),
        ("nodeA/908_agent_info.csv", "nodeA/908"),
        ("nodeB/908_agent_info.csv", "nodeB/908"),
        ("out_3_marker_api_trace.csv", "out_3"),
        ("pass_1/908_counter_collection.csv", "pass_1/908"),
        ("kernel_trace.csv", "*"),
        ("x/kernel_trace.csv", "x/*"),
        ("x/something.csv", "x/something"),
    ],
)
def test_groups(label: str, group: str) -> None:
    assert group_of(named(label)) == group


@pytest.mark.parametrize(
    ("label", "pid"),
    [
        ("nodeA/908_kernel_trace.csv", 908),
        ("x/results_908_kernel_trace.csv", None),
        ("out_kernel_trace.csv", None),
        ("kernel_trace.csv", None),
    ],
)
def test_pids(label: str, pid: int | None) -> None:
    assert pid_of(named(label)) == pid


@pytest.mark.parametrize(
    ("source", "host"),
    [
        (named("nodeA/908_kernel_trace.csv"), "nodeA"),
        (named("nodeA/pass_1/908_kernel_trace.csv"), "nodeA"),
        (named("nodeA/out_kernel_trace.csv"), None),
        (named("rank3/908_kernel_trace.csv"), None),
        (named("traces/908_kernel_trace.csv"), None),
        (named("a.zip", "node7/908_kernel_trace.csv"), None),
        (Source(None, label="stdin"), None),
    ],
)
def test_hosts(source: Source, host: str | None) -> None:
    assert host_of(source) == host


def test_the_host_of_a_member_is_the_folder_in_the_archive() -> None:
    label = "a.zip/node7/908_kernel_trace.csv"
    source = Source(Path("/data/a.zip"), member="node7/908_kernel_trace.csv", label=label)
    assert host_of(source) == "node7"


_LISTED = Agents({2: 0, 5: 1}, {1: 0, 2: 1}, {})


@pytest.mark.parametrize(
    ("agents", "text", "device"),
    [
        (Agents(), "4", 4),
        (Agents(), "Agent 4", 4),
        (Agents(), "GPU 1", 1),
        (Agents(), "CPU 1", NO_GPU),
        (Agents(), "", UNKNOWN),
        (Agents(), "device 4", UNKNOWN),
        (Agents(), "Agent 99999999999999999999", UNKNOWN),
        (_LISTED, "GPU 1", 1),
        (_LISTED, "5", 1),
        (_LISTED, "2", 0),  # a node
        (_LISTED, "Agent 2", 1),  # a logical node
        (_LISTED, "Agent 5", 1),
        (_LISTED, "Agent 0", NO_GPU),
    ],
)
def test_agents(agents: Agents, text: str, device: int) -> None:
    assert agents.device(text) == device


def without_agents(folder: Path) -> Path:
    (folder / "100_agent_info.csv").unlink()
    return folder


def test_without_agent_info_devices_keep_their_numbers(tmp_path: Path) -> None:
    [reading] = read_folder(without_agents(write_csv(tmp_path / "nodeA", TRACE)))
    assert set(reading.events.column("device").to_pylist()) == {2}
    assert (reading.facts.gpus, reading.facts.gpu_names) == ({}, ())


def test_a_list_of_agents_of_another_node_moves_no_kernel_off_its_gpu(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "nodeA", TRACE)
    path = folder / "100_agent_info.csv"
    path.write_text(path.read_text().replace('"GPU"', '"CPU"', 1).replace("2,2,", "20,20,", 1))
    events = read_folder(folder)[0].events
    assert events.column("kind").to_pylist().count("kernel") == 9


def test_agent_info_alone_is_no_trace(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "nodeA", TRACE)
    with pytest.raises(NoDeviceEvents, match=r"100_agent_info\.csv: no GPU activity"):
        commscope.load([folder / "100_agent_info.csv"])


def test_processes_without_kernels_take_no_rank(tmp_path: Path) -> None:
    """Launchers and loaders of data write files too, of agents and perhaps of calls."""
    write_csv(tmp_path, TRACE)
    idle = replace(TRACE, pid=50, dispatches=(), transfers=())
    write_csv(tmp_path, idle)
    write_csv(tmp_path, replace(idle, pid=60, calls=(), markers=()))
    trace = commscope.load([tmp_path])
    assert trace.ranks.column("rank").to_pylist() == [0]
    says = [note.says for note in trace.notes]
    assert sum("is left out" in line for line in says) == 2
    assert sum("assumed" in line for line in says) == 1


def test_calls_alone_are_no_activity_and_say_what_to_record(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "nodeA", TRACE)
    with pytest.raises(NoDeviceEvents, match="--kernel-trace"):
        commscope.load([folder / "100_hip_api_trace.csv"])


def test_copies_alone_stand_for_their_process(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "nodeA", TRACE)
    trace = commscope.load([folder / "100_memory_copy_trace.csv"])
    assert trace.events.num_rows == 3
    assert trace.ranks.column("pid").to_pylist() == [100]


def _moved(trace: LogicalTrace, seconds: int, thread: int) -> LogicalTrace:
    by_ns = seconds * 10**9
    calls = [
        replace(c, start_ns=c.start_ns + by_ns, end_ns=c.end_ns + by_ns, thread=thread)
        for c in trace.calls
    ]
    return replace(trace, calls=tuple(calls))


@pytest.mark.parametrize(("seconds", "thread"), [(-59, 7), (-100, 101), (3_500, 101)])
def test_calls_of_one_run_may_lie_apart(tmp_path: Path, seconds: int, thread: int) -> None:
    [reading] = read_folder(write_csv(tmp_path / "nodeA", _moved(TRACE, seconds, thread)))
    assert reading.host.num_rows == 13 + 3


@pytest.mark.parametrize(("seconds", "thread"), [(-100, 7), (3_700, 101)])
def test_calls_of_another_run_are_left_out(tmp_path: Path, seconds: int, thread: int) -> None:
    [reading] = read_folder(write_csv(tmp_path / "nodeA", _moved(TRACE, seconds, thread)))
    assert reading.host.num_rows == 3


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    [far] = read_folder(write_csv(tmp_path / "far", _moved(TRACE, -100, 7)))
    assert far.health.notes[0] == (
        "left out: 100_hip_api_trace.csv, which is of another run, 100.0 s away"
    )


def test_calls_of_another_process_are_left_out_and_said(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "nodeA", TRACE)
    other = replace(TRACE, pid=7, markers=(), calls=TRACE.calls[:4])
    strange = write_csv(tmp_path / "other", other)
    calls = folder / "100_hip_runtime_trace.csv"
    calls.write_bytes((strange / "7_hip_api_trace.csv").read_bytes())
    [reading] = read_folder(folder)
    assert reading.host.num_rows == 13 + 3
    assert reading.facts.pid == 100
    assert reading.health.notes[0].startswith("4 calls of other processes than 100 left out")


def test_processes_of_a_converted_database_are_told_by_guid(tmp_path: Path) -> None:
    one = write_csv(tmp_path / "nodeA", TRACE, "convert")
    other = write_csv(tmp_path / "other", replace(TRACE, pid=200, markers=()), "convert")
    for path in other.glob("200_*_trace.csv"):
        mine = one / path.name.replace("200_", "100_")
        rows = path.read_text().replace("0000ddb5", "1111ddb5").splitlines(keepends=True)
        mine.write_text(mine.read_text() + "".join(rows[1:]))
    readings = read_folder(one)
    assert [reading.facts.pid for reading in readings] == [100, 200]
    for reading in readings:
        assert rows_of(reading.events, EVENT_COLUMNS) == expected_events(TRACE, "bytes")
        assert not any("left out" in note for note in reading.health.notes)
    assert [reading.host.num_rows for reading in readings] == [16, 13]


def test_copies_from_host_to_host_are_no_activity(tmp_path: Path) -> None:
    copy = TRACE.transfers[0]
    within = Transfer("HOST_TO_HOST", copy.start_ns, copy.end_ns, 77, device=-1)
    trace = replace(TRACE, transfers=(*TRACE.transfers, within))
    [reading] = read_folder(write_csv(tmp_path / "nodeA", trace))
    assert reading.events.num_rows == 12
    assert reading.health.notes[-1] == "1 copy from host to host is left out"


def test_streams_that_are_not_told_are_the_queues(tmp_path: Path) -> None:
    trace = replace(
        TRACE,
        dispatches=tuple(replace(d, stream=0) for d in TRACE.dispatches),
        transfers=(),
    )
    [reading] = read_folder(write_csv(tmp_path / "nodeA", trace))
    assert set(reading.events.column("stream").to_pylist()) == {1, 2}
    assert "queues are used" in reading.health.notes[0]


@pytest.mark.parametrize(
    ("files", "host"), [({}, "nodeA"), ({"prefix": "7"}, None), ({"prefix": "out"}, None)]
)
def test_the_folder_is_the_host_only_where_the_name_is_the_process(
    tmp_path: Path, files: dict[str, str], host: str | None
) -> None:
    [reading] = read_folder(write_csv(tmp_path / "nodeA", TRACE, **files))
    assert (reading.facts.pid, reading.facts.host) == (100, host)


@pytest.mark.parametrize("pattern", ["out_%d", "rank%d", "node_rank_%d"])
def test_ranks_are_those_of_the_names(tmp_path: Path, pattern: str) -> None:
    for rank in (1, 0):
        trace = replace(TRACE, pid=100 - rank)
        write_csv(tmp_path, trace, prefix=pattern % rank)
    ranks = commscope.load([tmp_path]).ranks
    assert ranks.column("rank").to_pylist() == [0, 1]
    assert ranks.column("pid").to_pylist() == [100, 99]
    assert set(ranks.column("source").to_pylist()) == {"file"}
