"""Real traces with the logs of their jobs, against what a search through the logs finds."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest
from support import case

import commscope
from commscope.analysis.result import analyse
from commscope.findings.quality import trust_of
from commscope.joined.result import Joined, join
from commscope.report.log_section import log_section
from commscope.report.model import LogSection

CASES = (
    "a2a", "blocking_stdout", "busbw", "ddp_default", "ddp_nosteps", "ddp_shm_stdout",
    "ddp_small_buckets", "ddp_straggler", "fsdp", "tp",
)  # fmt: skip
#: Whose logs hold calls, and choices of algorithm and protocol.
WITH_CALLS = tuple(name for name in CASES if name not in ("ddp_nosteps", "ddp_shm_stdout"))
TUNED = ("busbw", "ddp_default", "fsdp", "tp")
SHARED_MEMORY = "ddp_shm_stdout"
_CALL = re.compile(rb"(\w+): opCount .* count (\d+) datatype (\d+) .*\[nranks=(\d+)\]")
_TUNED = re.compile(rb"(\w+): (\d+) Bytes -> Algo (\w+) proto (\w+) channel\{Lo..Hi\}=\{0..(\d+)\}")
_SIZES = {b"0": 1, b"2": 4, b"4": 8, b"6": 2, b"7": 4, b"9": 2}
_OPS = {
    b"AllReduce": "all_reduce", b"AllGather": "all_gather", b"Broadcast": "broadcast",
    b"ReduceScatter": "reduce_scatter", b"AlltoAll": "all_to_all",
}  # fmt: skip
_OF_ALL = ("all_gather", "reduce_scatter", "all_to_all")


@cache
def joined(name: str) -> tuple[commscope.Trace, Joined, LogSection]:
    trace = commscope.load(case(f"h200/{name}"))
    analysis = analyse(trace)
    assert trace.logs is not None
    found = join(analysis, trace.logs)
    return trace, found, log_section(analysis, trust_of(analysis), found)


def texts(name: str) -> list[bytes]:
    folder: Path = case(f"h200/{name}")
    return [path.read_bytes() for path in sorted(folder.glob("*.log"))]


def called(name: str) -> Counter[tuple[str, int]]:
    """Calls by operation and size of all ranks, as a search for them finds."""
    found: Counter[tuple[str, int]] = Counter()
    for op, count, dtype, ranks in _CALL.findall(b"\n".join(texts(name))):
        if op in (b"Send", b"Recv"):
            continue
        each = int(count) * _SIZES[dtype]
        found[_OPS[op], each * (int(ranks) if _OPS[op] in _OF_ALL else 1)] += 1
    return found


@pytest.mark.parametrize("name", CASES)
def test_each_rank_has_its_process_and_the_communicator_is_found(name: str) -> None:
    trace, found, section = joined(name)
    assert found.processes.by == "process id"
    pids = trace.ranks.column("pid").to_pylist()
    comms = found.logs.tables["COMMS"].to_pylist()
    assert [comms[rows[0]]["pid"] for rows in found.processes.comms] == pids
    assert [row["nranks"] for row in section.communicators] == [2]
    assert section.notes == ()


@pytest.mark.parametrize("name", WITH_CALLS)
def test_every_collective_with_metadata_finds_its_class(name: str) -> None:
    _, _, section = joined(name)
    counted, expected = called(name), 0
    for row in section.paths:
        if row["bytes"] is not None:
            assert row["logged"] == counted[row["op"], row["bytes"]] > 0
            expected += 1
    assert expected


@pytest.mark.parametrize("name", TUNED)
def test_algorithm_protocol_and_channels_are_those_that_the_log_tells(name: str) -> None:
    chosen: defaultdict[tuple[str, int], set[tuple[str, str, int]]] = defaultdict(set)
    for op, size, algorithm, protocol, last in _TUNED.findall(b"\n".join(texts(name))):
        whole = int(size) * (2 if _OPS[op] in _OF_ALL else 1)
        choice = (algorithm.decode().lower(), protocol.decode().lower(), int(last) + 1)
        chosen[_OPS[op], whole].add(choice)
    for row in joined(name)[2].paths:
        if row["bytes"] is None or row["op"] == "all_to_all":
            assert (row["algorithm"], row["protocol"], row["choices"]) == (None, None, 0)
            continue
        assert {(row["algorithm"], row["protocol"], row["channels"])} == chosen[
            row["op"], row["bytes"]
        ]
        assert row["choices"] == 1


@pytest.mark.parametrize("name", CASES)
def test_exposed_time_by_transport_adds_up_to_all_of_it(name: str) -> None:
    section = joined(name)[2]
    report = commscope.analyze(joined(name)[0])
    in_steps = sum(row["exposed_comm_ns"] for row in report.steps if row["exposed_comm_ns"])
    gaps = sum(row["dur_ns"] for row in report.gaps)
    for table in (section.transports, section.paths):
        assert sum(row["exposed_ns"] for row in table) == gaps >= in_steps
        for row in table:
            parts = (row[f"exposed_{part}_ns"] for part in ("wait", "transfer", "unmatched"))
            assert row["exposed_ns"] == sum(parts)


@pytest.mark.parametrize("name", CASES)
def test_the_transport_is_that_of_the_rank_s_own_edges(name: str) -> None:
    (row,) = joined(name)[2].transports
    is_shared = name == SHARED_MEMORY
    assert row["transport"] == ("SHM" if is_shared else "P2P/CUMEM")
    assert (row["link"] == "host memory") == is_shared
    assert row["ranks"] == [0, 1]
    assert any(b"via " + row["transport"].encode() in text for text in texts(name))


@pytest.mark.parametrize("name", WITH_CALLS)
def test_calls_are_told_apart_only_where_their_order_allows_one_way(name: str) -> None:
    _, found, section = joined(name)
    shifts = {row["shifts"] for row in section.stretches}
    if name == "busbw":
        assert shifts == {1}
        assert (found.call >= 0).all()
    else:
        assert min(shifts) > 1
        assert (found.call == -1).all()


def test_a_call_that_is_found_is_of_its_collective() -> None:
    """Operation and size of each, and the order of the lines."""
    trace, found, _ = joined("busbw")
    calls = found.logs.tables["CALLS"].take(found.call)
    shown = analyse(trace).across.calls
    assert calls.column("bytes").to_pylist() == shown.column("bytes").to_pylist()
    assert calls.column("op").to_pylist() == shown.column("op").to_pylist()
    for rank in (0, 1):
        of_rank = [
            (start, line)
            for start, line, own in zip(
                shown.column("start_ns").to_pylist(),
                calls.column("line").to_pylist(),
                shown.column("rank").to_pylist(),
            )
            if own == rank
        ]
        assert sorted(of_rank) == sorted(of_rank, key=lambda pair: pair[1])


def test_logs_of_another_run_are_not_joined() -> None:
    path = case("h200/ddp_straggler/nccl.vm.846.log")
    trace = commscope.load(case("h200/ddp_default/rank0.json.gz"), logs=path)
    report = commscope.analyze(trace)
    assert report.log is not None
    assert report.log.joined_by == "nothing"
    assert report.log.notes == (
        "the logs are of another run: their processes are 846, those of the trace 682",
    )
    assert all(row["transport"] is None for row in report.log.transports)
