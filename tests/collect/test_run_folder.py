"""The folder of a run: what is in it, who meets in it, and how little its troubles matter."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from run_jobs import LATE_S, Ran, begin, end, environment, line_of, python, ran, wrapper

from commscope.collect.nodes import Place
from commscope.collect.run_folder import Run, default_folder, open_node

#: Writes as RCCL does, and what it was told to.
LOGS = """
import os
name = os.environ["NCCL_DEBUG_FILE"].replace("%h", "here").replace("%p", str(os.getpid()))
open(name, "w").write("NCCL INFO\\n")
print(os.path.dirname(name), os.environ["NCCL_DEBUG"], os.environ["NCCL_DEBUG_SUBSYS"])
"""


def document(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_bytes())
    return read


def leftovers(tmp: Path) -> list[str]:
    """What is left of temporary files."""
    return [path.name for path in (tmp / "tmp").iterdir()]


def test_what_a_folder_holds(tmp_path: Path) -> None:
    command = python(LOGS, "--hf-token", "hunter2", "API_KEY=hunter2", "--tokenizer", "t5")
    run = ran(tmp_path, command, "--name", "my job/1")
    assert (run.code, run.problems, leftovers(tmp_path)) == (0, [], [])
    told = document(run.folder / "run.json")
    assert (told["schema"], told["name"], told["nodes"]) == ("commscope.job/1", "my-job-1", 1)
    assert told["command"][-5:] == ["--hf-token", "***", "API_KEY=***", "--tokenizer", "t5"]
    assert document(run.node() / "node.json")["node"] == 0
    assert (run.node() / "environment" / "collected.json").is_file()
    (log,) = (run.node() / "logs").iterdir()
    assert log.read_text() == "NCCL INFO\n"
    assert sorted(run.status()) == ["ended", "exit_code", "hanging", "hung", "problems", "signal"]


def test_logs_are_written_on_the_node_itself(tmp_path: Path) -> None:
    folder, level, subsystems = ran(tmp_path, python(LOGS)).out.decode().split()
    assert folder.startswith(str(tmp_path / "tmp"))
    assert (level, subsystems) == ("INFO", "INIT,ENV,GRAPH,NET")
    assert ran(tmp_path, python(LOGS), "--log-calls").out.decode().endswith(",COLL,TUNING\n")


def test_jobs_on_nodes_without_a_wrapper_log_into_the_run_folder(tmp_path: Path) -> None:
    (tmp_path / "srun").write_text('#!/bin/sh\nexec "$@"\n')
    (tmp_path / "srun").chmod(0o755)
    run = ran(tmp_path, ["./srun", *python(LOGS)], SLURM_JOB_NUM_NODES="2", SLURM_JOB_ID="7")
    assert run.out.decode().split()[0] == str(run.node() / "logs")
    assert len(list((run.node() / "logs").iterdir())) == 1
    assert not (run.node() / ".scratch").exists()


SHOWS = "import os; print(sorted(it for it in os.environ.items() if 'NCCL' in it[0]))"


@pytest.mark.parametrize(
    "own",
    [
        {"NCCL_DEBUG": "WARN", "NCCL_IB_HCA": "mlx5_0", "TORCH_FR_DUMP_TEMP_FILE": "/x"},
        {"NCCL_DEBUG_FILE": "/dev/stderr", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": "/x"},
    ],
)
def test_variables_of_the_user_stay_as_they_are(tmp_path: Path, own: dict[str, str]) -> None:
    shown = ran(tmp_path, python(SHOWS), **own).out.decode()
    assert shown == f"{sorted(it for it in own.items() if 'NCCL' in it[0])}\n"


def test_nothing_is_set_without_logs(tmp_path: Path) -> None:
    assert ran(tmp_path, python(SHOWS), "--no-log").out == b"[]\n"


def test_settings_in_a_file_of_nccl_are_the_users_too(tmp_path: Path) -> None:
    (tmp_path / ".nccl.conf").write_text("# mine\nNCCL_DEBUG = WARN\n")
    run = ran(tmp_path, python(SHOWS), "--log-calls", TORCH_FR_DUMP_TEMP_FILE="/x")
    assert run.out == b"[]\n"
    (told,) = run.problems
    assert told == "commscope: NCCL_DEBUG=WARN is set: --log-calls changes nothing about it"


def test_logs_that_the_user_asked_for_are_copied(tmp_path: Path) -> None:
    (tmp_path / "mine.here.1.log").write_text("of an earlier job")
    name = str(tmp_path / "mine.%h.%p.log")
    writes = "import os; open('mine.' + os.uname().nodename.split('.')[0] + '.23.log', 'w').close()"
    run = ran(tmp_path, python(writes), NCCL_DEBUG="INFO", NCCL_DEBUG_FILE=name)
    (copied,) = (run.node() / "logs").iterdir()
    assert copied.name.endswith(".23.log")
    assert len(list(tmp_path.glob("mine.*.log"))) == 2


def test_logs_of_a_relative_name_are_copied(tmp_path: Path) -> None:
    writes = "open('rel.23.log', 'w').close()"
    run = ran(tmp_path, python(writes), NCCL_DEBUG="INFO", NCCL_DEBUG_FILE="rel.%p.log")
    assert [path.name for path in (run.node() / "logs").iterdir()] == ["rel.23.log"]


def test_a_file_without_a_level_is_told_to_stay_empty(tmp_path: Path) -> None:
    (told,) = ran(tmp_path, ["true"], NCCL_DEBUG_FILE="/logs/%p").problems
    assert "NCCL_DEBUG_FILE=/logs/%p is set, and NCCL_DEBUG is not: no log is written" in told


def test_a_folder_that_cannot_be_made_is_made_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"")
    run = ran(tmp_path, python(f"print('fine')\n{LOGS}\nraise SystemExit(4)"))
    assert (run.code, run.out.splitlines()[0]) == (4, b"fine")
    (told,) = run.problems
    assert "run cannot be made (Not a directory): the run is collected in " in told
    elsewhere = Ran(run.code, run.out, run.err, Path(told.rpartition(" ")[2]))
    assert elsewhere.status()["exit_code"] == 4
    assert elsewhere.status()["problems"] == [told.partition(": ")[2]]


def test_without_any_folder_the_job_runs(tmp_path: Path) -> None:
    # Every folder for temporary files is tried, the current one last.
    change = "import tempfile; tempfile.tempdir = '/proc/no-such-folder'"
    (tmp_path / "run").write_bytes(b"")
    run = ran(tmp_path, python(f"{SHOWS}; raise SystemExit(4)"), change=change)
    assert (run.code, run.out) == (4, b"[]\n")
    (told,) = run.problems
    assert told.endswith("(No such file or directory): nothing is collected")


FULL = """
import builtins, errno, os
real = os.replace
def replace(source, target):
    if os.path.exists("full"):
        raise OSError(errno.ENOSPC, "No space left on device")
    real(source, target)
os.replace = replace
"""


def test_a_full_disk_costs_no_more_than_a_line(tmp_path: Path) -> None:
    job = f"{LOGS}\nopen('full', 'w').close()\nraise SystemExit(6)"
    run = ran(tmp_path, python(job), change=FULL)
    assert run.code == 6
    (told,) = run.told
    assert told.startswith(f"commscope: {run.node()}/logs cannot be written (No space left on ")
    (kept,) = (tmp_path / "tmp").iterdir()
    assert told.endswith(f"; logs stay in {kept}/logs (and 2 more)")
    assert len(list((kept / "logs").iterdir())) == 1
    assert [path.name for path in run.node().rglob("*") if path.is_file()] == ["node.json"]


def test_a_disk_that_is_full_at_once_costs_no_more_than_a_line(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(b"")
    run = ran(tmp_path, python("raise SystemExit(6)"), change=FULL)
    assert (run.code, len(run.told)) == (6, 1)
    assert run.told[0].endswith("(No space left on device): nothing is collected")


def test_a_profiler_that_is_missing_costs_one_line(tmp_path: Path) -> None:
    run = ran(tmp_path, python("raise SystemExit(4)"), "--profile", "rocprofv3", PATH=str(tmp_path))
    assert run.code == 4
    (told,) = run.problems
    assert told == "commscope: rocprofv3 is not installed: the job runs without a profiler"


def test_a_profiler_without_a_folder_costs_one_line(tmp_path: Path) -> None:
    change = "import errno, os, pathlib\nreal = pathlib.Path.mkdir\n" + NO_TRACES
    run = ran(tmp_path, python("raise SystemExit(4)"), "--profile", "kineto", change=change)
    assert run.code == 4
    (told,) = run.problems
    assert told.startswith("commscope: the profiler cannot be made ready (Permission denied)")


NO_TRACES = """
def mkdir(path, *arguments, **named):
    if path.name == "traces":
        raise OSError(errno.EACCES, "Permission denied")
    real(path, *arguments, **named)
pathlib.Path.mkdir = mkdir
"""


def test_a_folder_that_vanishes_costs_no_more_than_a_line(tmp_path: Path) -> None:
    job = f"import shutil\n{LOGS}\nshutil.rmtree('run')\nraise SystemExit(6)"
    run = ran(tmp_path, python(job))
    assert run.code == 6
    (told,) = run.told
    assert "has vanished; logs stay in " in told
    assert not run.folder.exists()


def slurm(index: int, count: int = 2) -> dict[str, str]:
    return {
        "SLURM_JOB_ID": "7",
        "SLURM_STEP_ID": "0",
        "SLURM_PROCID": str(index),
        "SLURM_STEP_NUM_TASKS": str(count),
    }


def test_two_nodes_meet_in_a_folder(tmp_path: Path) -> None:
    command = [*python("print(flush=True); input()"), "torchrun", "--nproc-per-node=2"]
    command += ["--nnodes=2", "--node-rank", "X", "train.py"]
    nodes = []
    for index in range(2):
        command[-2] = str(index)
        nodes.append(begin(tmp_path, command, **slurm(index)))
    assert [line_of(node) for node in nodes] == ["", ""]
    runs = [end(tmp_path, node, b"\n") for node in nodes]
    assert [(run.code, run.problems) for run in runs] == [(0, []), (0, [])]
    assert document(runs[0].folder / "run.json")["nodes"] == 2
    told = [document(runs[0].node(index) / "node.json") for index in range(2)]
    assert [(it["node"], it["ranks"], it["world_size"]) for it in told] == [
        (0, [0, 1], 4),
        (1, [2, 3], 4),
    ]
    assert all((runs[0].node(index) / "status.json").is_file() for index in range(2))


def test_nodes_of_a_slurm_job_meet_without_being_told_where(tmp_path: Path) -> None:
    for index in range(2):
        command = [*wrapper(), "true"]
        variables = environment(tmp_path, **slurm(index))
        subprocess.run(command, cwd=tmp_path, env=variables, check=True, timeout=LATE_S)
    (run,) = (tmp_path / "commscope-runs").iterdir()
    assert run.name == "slurm7.0-true"
    assert len(list((run / "nodes").glob("0*"))) == 2


def test_an_earlier_run_is_not_written_over(tmp_path: Path) -> None:
    first = ran(tmp_path, ["true"])
    second = ran(tmp_path, ["false"])
    assert first.status()["exit_code"] == 0
    (told,) = second.problems[:1]
    assert told.endswith(f"holds an earlier run: this one is in {tmp_path}/run-2")
    assert Ran(1, b"", b"", tmp_path / "run-2").status()["exit_code"] == 1


RUN = Run(["python", "train.py"], "train", "2026-11-30T18:30:05+0100")


def test_a_run_in_progress_is_no_earlier_one_and_can_be_joined_by_hand(tmp_path: Path) -> None:
    first = begin(tmp_path, ["cat"], COMMSCOPE_NODE="0", COMMSCOPE_NODES="2")
    while not list(tmp_path.glob("run/nodes/0000-*/node.json")):
        assert first.poll() is None
    (told,) = ran(tmp_path, ["true"]).problems
    assert told.endswith(
        "run holds a run that has not ended (set COMMSCOPE_NODE and COMMSCOPE_NODES on each node,"
        f" if it is of the same job): this one is in {tmp_path}/run-2"
    )
    joined = ran(tmp_path, ["true"], COMMSCOPE_NODE="1", COMMSCOPE_NODES="2")
    assert (joined.problems, joined.node(1).is_dir()) == ([], True)
    assert end(tmp_path, first).code == 0


def test_a_wrong_number_by_hand_is_told(tmp_path: Path) -> None:
    (told,) = ran(tmp_path, ["true"], COMMSCOPE_NODE="1").problems
    assert told.startswith("commscope: COMMSCOPE_NODE=1: give ")


def test_nodes_without_numbers_take_one_each(tmp_path: Path) -> None:
    place = Place(None, 2)
    names = [open_node(tmp_path / "run", RUN, place, host) for host in ("b", "a", "c")]
    assert [(it.run.name, it.name) for it in names] == [
        ("run", "0000-b"),
        ("run", "0001-a"),
        ("run-2", "0000-c"),
    ]


def test_a_job_does_not_join_the_run_of_another(tmp_path: Path) -> None:
    open_node(tmp_path / "run", RUN, Place(0, 2, job="slurm7"), "a")
    other = open_node(tmp_path / "run", RUN, Place(1, 2, job="slurm8"), "b")
    assert other.run.name == "run-2"


def test_a_file_system_without_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    node = open_node(tmp_path / "run", RUN, Place(0, 1), "a")
    assert document(node.run / "run.json")["name"] == "train"


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (Place(0, 1), "2026-11-30T18-30-05-train"),
        (Place(0, 1, job="slurm7.0"), "2026-11-30T18-30-05-train"),
        (Place(1, 2), "2026-11-30T18-30-05-train"),
        (Place(1, 2, job="slurm7.0"), "slurm7.0-train"),
    ],
)
def test_where_a_run_goes_by_default(place: Place, name: str) -> None:
    assert default_folder(RUN, place) == Path("commscope-runs") / name


def test_a_line_that_nobody_reads_is_lost(tmp_path: Path) -> None:
    command = [*wrapper("--run-dir", str(tmp_path / "run")), "sh", "-c", "exit 3"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *command], env=environment(tmp_path), check=False
    )
    assert done.returncode == 3
