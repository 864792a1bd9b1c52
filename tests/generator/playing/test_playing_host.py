"""The program played by threads of the host: what it records holds together."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_program import ended, lines, play, start, write_schedule

from commscope.generator import Job, Model, Schedule, from_text
from commscope.generator.scenarios import ddp
from commscope.generator.schedule import Collective, DeviceOperation, Sync

pytestmark = pytest.mark.long

_MODEL = Model(layers=2, fwd_ns=300_000, bwd_ns=300_000, opt_ns=300_000, input_bytes=1 << 20)


@pytest.fixture(scope="module")
def ddp_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Schedule, Path]:
    schedule = ddp(Job(ranks=2, steps=2), _MODEL, bucket_layers=1)
    folder = tmp_path_factory.mktemp("ddp")
    assert play(schedule, folder) == [(0, ""), (0, "")]
    return schedule, folder


def test_every_operation_has_a_line_in_order(ddp_run: tuple[Schedule, Path]) -> None:
    schedule, folder = ddp_run
    for rank, program in enumerate(schedule.programs):
        header, *recorded = lines(folder / f"recorded_rank{rank}.jsonl")
        assert (header["schema"], header["backend"]) == ("commscope.recorded/1", "host")
        assert (header["world"], header["rank"]) == (2, rank)
        assert [line["i"] for line in recorded] == list(range(len(program)))
        for operation, line in zip(program, recorded):
            assert ("begin_ns" in line) == isinstance(operation, DeviceOperation)
            assert line["host_begin_ns"] <= line["host_end_ns"]


def test_what_runs_comes_after_its_launch_and_before_the_sync(
    ddp_run: tuple[Schedule, Path],
) -> None:
    schedule, folder = ddp_run
    for rank, program in enumerate(schedule.programs):
        _, *recorded = lines(folder / f"recorded_rank{rank}.jsonl")
        open_ones = []
        for operation, line in zip(program, recorded):
            if "begin_ns" in line:
                assert line["host_begin_ns"] <= line["begin_ns"] <= line["end_ns"]
                open_ones.append(line)
            if isinstance(operation, Sync):
                assert all(each["end_ns"] <= line["host_end_ns"] for each in open_ones)


def test_no_member_of_a_collective_ends_before_the_last_has_begun(
    ddp_run: tuple[Schedule, Path],
) -> None:
    schedule, folder = ddp_run
    runs = [lines(folder / f"recorded_rank{rank}.jsonl")[1:] for rank in (0, 1)]
    met = 0
    for place, operation in enumerate(schedule.programs[0]):
        if isinstance(operation, Collective):
            members = [run[place] for run in runs]
            last = max(member["begin_ns"] for member in members)
            assert all(member["end_ns"] > last for member in members)
            met += 1
    assert met == 4


def test_the_collector_sees_what_was_recorded_with_clocks_of_its_own(
    ddp_run: tuple[Schedule, Path],
) -> None:
    _, folder = ddp_run
    header, *recorded = lines(folder / "recorded_rank0.jsonl")
    seen = [a for a in lines(folder / "activities_rank0.jsonl") if a["kind"] != "runtime"]
    offset = header["clock"]["realtime_ns"] - header["clock"]["monotonic_ns"]
    truth = sorted(line["begin_ns"] + offset for line in recorded if "begin_ns" in line)
    assert len(seen) == len(truth)
    assert {a["name"] for a in seen} == {
        "csg_fwd", "csg_bwd", "csg_opt", "Memcpy HtoD (Pinned -> Device)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    }  # fmt: skip
    launches = {
        a["correlation"]
        for a in lines(folder / "activities_rank0.jsonl")
        if a["name"] in ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync")
    }
    assert launches == {a["correlation"] for a in seen}


_EVERYTHING = """
comm all 0,1 all of them
comm one 0,1
rank 0 host0
step -1
push outer
coll c all all_gather 1024 0
coll c all reduce_scatter 1024 1
coll c all all_to_all 1024 2
coll c all broadcast 1024 3 root=1
coll c all reduce 2097152 4 root=1
coll c one gather 1024 root=0
coll c one scatter 1024 root=0 us=50
coll c all barrier 0
send p one 1 4096
recv q one 1 4096
pop
copy d h2d 1024 pageable
copy d d2h 1024
rec d done
syncevent done
query done 50
malloc 1024 10
free 10
free 10
syncstream d
sync
endstep
rank 1 host0
step -1
coll c all all_gather 1024 0
coll c all reduce_scatter 1024 1
coll c all all_to_all 1024 2
coll c all broadcast 1024 3 root=1
coll c all reduce 2097152 4 root=1
coll c one gather 1024 root=0
coll c one scatter 1024 root=0 us=50
coll c all barrier 0
send q one 0 4096
recv p one 0 4096
sync
endstep
"""


def test_all_kinds_of_operations_are_played(tmp_path: Path) -> None:
    schedule = from_text(_EVERYTHING)
    assert play(schedule, tmp_path) == [(0, ""), (0, "")]
    _, *recorded = lines(tmp_path / "recorded_rank0.jsonl")
    assert sum("begin_ns" in line for line in recorded) == 12


def test_mock_collectives_need_nobody(tmp_path: Path) -> None:
    path = write_schedule(from_text(_EVERYTHING), tmp_path)
    options = ("--comm", "mock", "--mock-us", "300", "--truth", "none")
    assert ended(start(path, 0, *options)) == (0, "")
    names = {a["name"] for a in lines(tmp_path / "activities_rank0.jsonl")}
    assert {"ncclDevKernel_Mock_all_gather", "ncclDevKernel_Mock_send"} <= names
    assert all("begin_ns" not in line for line in lines(tmp_path / "recorded_rank0.jsonl"))


def test_who_waits_for_ever_is_ended_and_says_where(tmp_path: Path) -> None:
    path = write_schedule(ddp(Job(ranks=2, steps=1), _MODEL), tmp_path)
    code, errors = ended(start(path, 0, "--timeout", "1"))
    assert code == 124
    assert "rank 0: hangs: no progress in 1 s (operation" in errors
    assert "coll dp 0 all_reduce 67108864, has not ended" in errors
    assert errors.count("\n") == 1


def test_the_folder_of_an_earlier_run_is_refused(ddp_run: tuple[Schedule, Path]) -> None:
    _, folder = ddp_run
    code, errors = ended(start(folder / "schedule.txt", 0))
    assert code == 2
    assert "communicator0.meeting is of an earlier run: give another folder as --rend" in errors


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the schedule is for 0 ranks, there is no rank 0"),
        ("rank 0 host0\nstep x", "line 2 of the schedule, 'step x', is not understood"),
        ("rank 0 host0\ncomp s fwd 1.2345", "line 2 of the schedule, 'comp s fwd 1.2345', is not"),
        ("rank 0 host0\ncoll s dp all_reduce 4", "rank 0 is no member of a communicator dp"),
        ("rank 0 h\nwait s e", "event e, which was not recorded (operation 0, wait s e)"),
        ("rank 0 h\nstep 0\nstep 1", "step 1 begins inside another (operation 1, step 1)"),
    ],
)
def test_a_wrong_schedule_is_refused_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.txt"
    path.write_text(text, encoding="utf-8")
    code, errors = ended(start(path, 0))
    assert (code, errors.count("\n")) == (2, 1)
    assert said in errors
    assert errors.startswith("commscope-gen: rank 0: ")


def test_a_wrong_option_is_refused_with_the_usage(tmp_path: Path) -> None:
    code, errors = ended(start(tmp_path / "none", 0, "--compute", "fast"))
    assert code == 2
    assert errors.startswith("commscope-gen: option --compute is spin or gemm, not fast\nusage: ")
