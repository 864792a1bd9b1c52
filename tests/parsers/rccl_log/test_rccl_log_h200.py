"""Logs of NCCL 2.28.9 on two GPUs, one a process or torn on the output of torchrun."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from support import case

from commscope.engine.logs import load_logs
from commscope.parsers.rccl_log import Logs

CASES = ("a2a", "busbw", "ddp_default", "ddp_nosteps", "ddp_small_buckets", "ddp_straggler",
         "fsdp", "tp", "blocking_stdout", "ddp_shm_stdout")  # fmt: skip
RANK = re.compile(rb":(\d+):\d+ \[\d\] NCCL INFO \w+ comm (0x\w+) rank (\d) .*Init START")
CALL = re.compile(rb":(\d+):\d+ \[\d\] NCCL INFO (\w+): opCount .*? count (\d+) .* comm (0x\w+)")


def _logs(name: str) -> tuple[Logs, bytes]:
    """What the reader and what an independent search finds in the logs of a case."""
    folder = case(f"h200/{name}")
    text = b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))
    return load_logs([folder]).logs, text


@pytest.mark.parametrize("name", CASES)
def test_every_record_is_read_and_the_traces_are_passed_over(name: str) -> None:
    logs, _ = _logs(name)
    assert {Path(file.file).suffix for file in logs.files} == {".log"}
    assert sum(file.counts.records for file in logs.files) > 50
    assert [file.counts.torn for file in logs.files] == [0] * len(logs.files)


@pytest.mark.parametrize("name", CASES)
def test_ranks_are_those_of_the_init_records(name: str) -> None:
    logs, text = _logs(name)
    expected = {
        (int(pid), address.decode(), int(rank)) for pid, address, rank in RANK.findall(text)
    }
    found = {(row["pid"], row["address"], row["rank"]) for row in logs.tables["COMMS"].to_pylist()}
    assert found == expected
    assert {rank for _, _, rank in found} == {0, 1}


@pytest.mark.parametrize("name", CASES)
def test_every_call_is_read_with_its_communicator(name: str) -> None:
    logs, text = _logs(name)
    expected = Counter(
        (int(pid), int(count), at.decode()) for pid, _, count, at in CALL.findall(text)
    )
    calls = logs.tables["CALLS"].to_pylist()
    assert Counter((row["pid"], row["count"], row["address"]) for row in calls) == expected
    ranks = {int(pid): int(rank) for pid, _, rank in RANK.findall(text)}
    assert {(row["pid"], row["rank"]) for row in calls} <= set(ranks.items())


@pytest.mark.parametrize(
    ("name", "transport", "channels"),
    [("ddp_shm_stdout", "SHM", 4), ("fsdp", "P2P/CUMEM", 24), ("a2a", "P2P/CUMEM", 32)],
)
def test_transport(name: str, transport: str, channels: int) -> None:
    found = _logs(name)[0].tables["CHANNELS"].to_pylist()
    assert {row["transport"] for row in found} == {transport}
    assert len({row["channel"] for row in found}) == channels
    assert {(row["src"], row["dst"]) for row in found} == {(0, 1), (1, 0)}
    assert all(row["rank"] == row["src"] for row in found)


def test_disabled_peer_access_is_in_the_environment() -> None:
    found = _logs("ddp_shm_stdout")[0].tables["ENVIRONMENT"].to_pylist()
    values = {(row["pid"], row["variable"], row["value"]) for row in found}
    pids = {row["pid"] for row in found}
    assert len(pids) == 2
    assert {(pid, "NCCL_P2P_DISABLE", "1") for pid in pids} <= values


def test_choices_belong_to_rank_0_and_its_communicator() -> None:
    logs, text = _logs("fsdp")
    rows = logs.tables["TUNING"].to_pylist()
    assert len(rows) == text.count(b" Bytes -> Algo")
    assert {row["rank"] for row in rows} == {0}
    assert Counter((r["op"], r["bytes"], r["algorithm"], r["protocol"]) for r in rows)[
        "reduce_scatter", 12596224, "ring", "simple"
    ] == text.count(b"ReduceScatter: 12596224 Bytes -> Algo RING proto SIMPLE")


def test_torn_output_of_torchrun_gives_both_ranks_times_of_their_initialisation() -> None:
    rows = _logs("blocking_stdout")[0].tables["COMMS"].to_pylist()
    assert all(row["total_ns"] is not None and row["complete_line"] for row in rows)
