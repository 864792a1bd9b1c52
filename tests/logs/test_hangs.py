"""Hangs of synthetic jobs with one planted fault, and of real logs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from flight_dumps import Dump, entry, job, waiting, write_job
from support import case

from commscope.engine.logs import load_logs
from commscope.engine.neighbors import load_neighbors
from commscope.log_schema import HANGS
from commscope.logs.hang_model import Hang
from commscope.logs.hangs import find_hangs, hangs_to_dicts
from commscope.neighbor_schema import RAS
from commscope.sanitize import json_text
from commscope.schema import table_of


def rows_table(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    made = list(rows)
    return table_of({name: [row.get(name) for row in made] for name in schema.names}, schema, "t")


def hangs_of(folder: Path, dumps: dict[int, Dump]) -> tuple[Hang, ...]:
    found = load_neighbors([write_job(folder, dumps)])
    assert found is not None
    return find_hangs(neighbors=found.tables)


def only(hangs: tuple[Hang, ...]) -> Hang:
    (hang,) = hangs
    return hang


def test_a_job_that_ends_well_has_no_hang(tmp_path: Path) -> None:
    assert hangs_of(tmp_path, job(lambda rank: [entry(41, rank)])) == ()


def test_a_rank_that_never_calls_is_the_suspect(tmp_path: Path) -> None:
    dumps = job(
        lambda rank: [] if rank == 3 else [waiting(41, rank), waiting(42, rank, "scheduled")]
    )
    hang = only(hangs_of(tmp_path, dumps))
    assert (hang.kind, hang.group, hang.nranks, hang.seq) == ("missing", "default_pg", 8, 41)
    assert (hang.suspects, hang.waiting, hang.unknown) == ((3,), (0, 1, 2, 4, 5, 6, 7), ())
    assert hang.says == (
        "default_pg (8 ranks): ranks 0-2, 4-7 wait in collective 41, all_reduce of 32x32 Float; "
        "rank 3 never called it (last: 40)"
    )
    assert hang.sides[0].at == "step (/job/train.py:42)"


def test_a_rank_without_a_dump_is_said(tmp_path: Path) -> None:
    dumps = job(lambda rank: [waiting(41, rank)])
    del dumps[5]
    hang = only(hangs_of(tmp_path, dumps))
    assert (hang.kind, hang.suspects, hang.unknown) == ("stuck", (5,), (5,))
    assert hang.says.endswith("the cause is likely on ranks without a dump; no dump of rank 5")


def test_one_dump_alone_says_what_is_missing(tmp_path: Path) -> None:
    dumps = job(lambda rank: [waiting(41, rank)])
    hang = only(hangs_of(tmp_path, {2: dumps[2]}))
    assert (hang.kind, hang.seq, hang.waiting) == ("stuck", 41, (2,))
    assert hang.unknown == (0, 1, 3, 4, 5, 6, 7)
    assert "no dump of ranks 0-1, 3-7" in hang.says


def test_all_ranks_stuck_is_no_rank_s_fault(tmp_path: Path) -> None:
    hang = only(hangs_of(tmp_path, job(lambda rank: [waiting(41, rank)])))
    assert (hang.kind, hang.suspects) == ("stuck", ())
    assert "the network or a device is stuck" in hang.says


def test_a_rank_whose_device_is_held_up(tmp_path: Path) -> None:
    dumps = job(lambda rank: [waiting(41, rank, "scheduled" if rank == 6 else "started")])
    hang = only(hangs_of(tmp_path, dumps))
    assert (hang.kind, hang.suspects) == ("not_started", (6,))
    assert "rank 6 called collective 41" in hang.says


@pytest.mark.parametrize(
    ("changes", "called"),
    [
        ({"profiling_name": "nccl:all_gather"}, "rank 2 calls all_gather of 32x32 Float"),
        ({"input_sizes": [[32, 33]]}, "rank 2 calls all_reduce of 32x33 Float"),
        ({"input_dtypes": ["Half"]}, "rank 2 calls all_reduce of 32x32 Half"),
    ],
)
def test_a_rank_that_calls_something_else(
    changes: dict[str, Any], called: str, tmp_path: Path
) -> None:
    dumps = job(lambda rank: [waiting(41, rank, **(changes if rank == 2 else {}))])
    hang = only(hangs_of(tmp_path, dumps))
    assert (hang.kind, hang.seq, hang.suspects) == ("mismatch", 41, (2,))
    assert hang.waiting == (0, 1, 3, 4, 5, 6, 7)
    assert called in hang.says
    assert "ranks 0-1, 3-7 call all_reduce of 32x32 Float" in hang.says


def test_two_halves_that_differ_are_both_suspects(tmp_path: Path) -> None:
    dumps = job(lambda rank: [waiting(41, rank, input_sizes=[[rank % 2]])])
    assert only(hangs_of(tmp_path, dumps)).suspects == tuple(range(8))


def test_sizes_of_all_to_all_may_differ(tmp_path: Path) -> None:
    dumps = job(
        lambda rank: [waiting(41, rank, profiling_name="nccl:all_to_all", input_sizes=[[rank]])]
    )
    assert only(hangs_of(tmp_path, dumps)).kind == "stuck"


def test_a_mismatch_that_all_have_completed_is_no_hang(tmp_path: Path) -> None:
    assert hangs_of(tmp_path, job(lambda rank: [entry(41, rank, input_sizes=[[rank]])])) == ()


def test_old_entries_that_a_ring_buffer_lost_are_not_missing(tmp_path: Path) -> None:
    dumps = job(lambda rank: [entry(41, rank)])
    dumps[4]["entries"] = dumps[4]["entries"][-3:]
    assert hangs_of(tmp_path, dumps) == ()


def test_ranks_that_came_differently_far_and_do_not_wait(tmp_path: Path) -> None:
    hang = only(hangs_of(tmp_path, job(lambda rank: [] if rank == 1 else [entry(41, rank)])))
    assert (hang.kind, hang.suspects, hang.seq) == ("behind", (1,), 41)


def test_sends_and_receives_are_left_out(tmp_path: Path) -> None:
    def last(rank: int) -> list[dict[str, Any]]:
        p2p: dict[str, Any] = {"is_p2p": True, "profiling_name": "nccl:send 0->1"}
        return [entry(41, rank), waiting(41, rank, **p2p)]

    assert hangs_of(tmp_path, job(last)) == ()


def test_groups_of_one_name_and_other_members_keep_apart(tmp_path: Path) -> None:
    """Names of groups may be those of their process: rank 0's tp is not rank 4's."""

    def last(rank: int) -> list[dict[str, Any]]:
        group: dict[str, Any] = {"process_group": ("tp", "tensor"), "pg_id": 1}
        return [entry(41, rank), *([waiting(1, rank, **group)] if rank in (0, 1, 2) else [])]

    dumps = job(last)
    for rank, dump in dumps.items():
        members = [rank // 4 * 4 + n for n in range(4)]
        dump["pg_config"]["tp"] = {"name": "tp", "desc": "tensor", "ranks": members}
    hang = only(hangs_of(tmp_path, dumps))
    assert (hang.group, hang.nranks, hang.kind, hang.suspects) == ("tensor", 4, "missing", (3,))


def test_the_group_that_hangs_first_comes_first(tmp_path: Path) -> None:
    def last(rank: int) -> list[dict[str, Any]]:
        early = waiting(1, rank, process_group=("dp", "data"), pg_id=1, time_created_ns=5)
        return [waiting(41, rank), early]

    assert [hang.group for hang in hangs_of(tmp_path, job(last))] == ["data", "default_pg"]


def logs_of(name: str) -> dict[str, pa.Table]:
    tables: dict[str, pa.Table] = load_logs([case(f"rccl_logs/{name}")]).logs.tables
    return tables


@pytest.mark.parametrize("folder", ["ddp_default", "fsdp", "tp", "a2a", "ddp_shm_stdout"])
def test_healthy_runs_have_no_hang(folder: str) -> None:
    assert find_hangs(load_logs([case(f"h200/{folder}")]).logs.tables) == ()


def test_the_watchdog_of_a_real_log_names_who_waits() -> None:
    hang = only(find_hangs(logs_of("torch_watchdog_reduce_scatter_timeout.log")))
    assert (hang.source, hang.kind, hang.seq, hang.suspects) == ("watchdog", "stuck", 7753, ())
    assert hang.waiting == (0, 3, 4)
    assert hang.group == "process group 1"
    (side,) = hang.sides
    assert (side.op, side.size) == ("reduce_scatter_base", "544,997,376 elements")
    assert hang.says.startswith("the watchdog gave up _REDUCE_SCATTER_BASE 7,753 (2 more queued be")


def watchdog(*rows: tuple[Any, ...]) -> dict[str, pa.Table]:
    """Messages on rank, operation, its name, elements and process group, as far as given."""
    names = ("rank", "seq", "op", "elements_in", "group")
    made = [{"file": "f", "line": n, **dict(zip(names, row))} for n, row in enumerate(rows, 1)]
    return {"HANGS": rows_table(made, HANGS)}


def test_watchdogs_at_different_operations() -> None:
    hang = only(find_hangs(watchdog((0, 9, "ALLREDUCE", 1), (1, 7, "BROADCAST", 1))))
    assert (hang.kind, hang.seq, hang.suspects, hang.waiting) == ("behind", 7, (1,), (0,))


def test_watchdogs_with_different_operations() -> None:
    rows = [(rank, 9, "ALLREDUCE", 1 + (rank == 2)) for rank in range(4)]
    hang = only(find_hangs(watchdog(*rows)))
    assert (hang.kind, hang.suspects) == ("mismatch", (2,))


def test_watchdogs_that_do_not_name_an_operation_disagree_on_none() -> None:
    hang = only(find_hangs(watchdog((0, 9, "ALLREDUCE", 1), (1, 9, None, None))))
    assert (hang.kind, hang.suspects, hang.waiting) == ("stuck", (), (0, 1))


def test_a_rank_counts_with_the_first_operation_that_timed_out() -> None:
    hang = only(find_hangs(watchdog((0, 8, "ALLREDUCE", 1), (0, 7, "ALLREDUCE", 1))))
    assert (hang.kind, hang.seq, hang.suspects) == ("stuck", 7, (0,))
    assert "ALLREDUCE 7 on rank 0: no other rank reported" in hang.says


def test_messages_without_a_group_are_of_the_only_one_that_is_named() -> None:
    hang = only(find_hangs(watchdog((0, 7, "ALLREDUCE", 1, "tp"), (1, 7, "ALLREDUCE", 1))))
    assert (hang.group, hang.waiting) == ("process group tp", (0, 1))
    rows = ((0, 7, None, None, "tp"), (1, 7, None, None, "pp"), (2, 7))
    groups = [hang.group for hang in find_hangs(watchdog(*rows))]
    assert groups == ["process group tp", "process group pp", "a process group"]


def test_ras_and_watchdog_of_a_real_log() -> None:
    path = case("rccl_logs/nccl_ras_report_and_watchdog.log")
    found = load_neighbors([path])
    assert found is not None
    ras, dog = find_hangs(load_logs([path]).logs.tables, found.tables)
    assert (ras.source, ras.kind, ras.seq, ras.suspects) == ("ras", "behind", 6650, (118,))
    assert (dog.source, dog.seq, dog.suspects) == ("watchdog", 2398459, (118,))
    assert "(119 more queued behind it)" in dog.says


def test_ras_with_missing_ranks_and_dead_processes() -> None:
    shared = {"file": "f", "line": 1, "comm_id": "0xa", "nranks": 4}
    rows = [
        {**shared, "kind": "summary"},
        *({**shared, "kind": "incomplete", "rank": rank} for rank in (1, 3)),
        {"file": "f", "kind": "dead", "pid": 7, "host": "h"},
    ]
    missing, dead = find_hangs(neighbors={"RAS": rows_table(rows, RAS)})
    assert (missing.kind, missing.nranks, missing.suspects) == ("missing", 4, (1, 3))
    assert "process 7 on h did not answer" in dead.says


def test_ras_counts_of_json() -> None:
    rows = [
        {"file": "f", "comm_id": "0xa", "kind": "rank", "rank": r, "op": op, "count": count}
        for r, counts in enumerate([(5, 8), (5, 9), (5, 9)])
        for op, count in zip(("AllGather", "AllReduce"), counts)
    ]
    hang = only(find_hangs(neighbors={"RAS": rows_table(rows, RAS)}))
    assert (hang.suspects, hang.seq) == ((0,), 9)
    assert "rank 0 launched 8 AllReduce operations, others 9" in hang.says


def test_hangs_become_json(tmp_path: Path) -> None:
    hangs = hangs_of(tmp_path, job(lambda rank: [waiting(41, rank)]))
    assert '"kind": "stuck"' in json_text(hangs_to_dicts(hangs))


def test_a_dump_names_groups_that_its_rank_is_no_member_of(tmp_path: Path) -> None:
    def last(rank: int) -> list[dict[str, Any]]:
        group: dict[str, Any] = {"process_group": ("tp", "tensor"), "pg_id": 1}
        return [entry(41, rank), *([waiting(1, rank, **group)] if rank < 4 else [])]

    dumps = job(last)
    for dump in dumps.values():
        dump["pg_config"]["tp"] = {"name": "tp", "desc": "tensor", "ranks": "[0, 1, 2, 3]"}
    hang = only(hangs_of(tmp_path, dumps))
    assert (hang.kind, hang.group, hang.suspects, hang.waiting) == (
        "stuck", "tensor", (), (0, 1, 2, 3)
    )  # fmt: skip
