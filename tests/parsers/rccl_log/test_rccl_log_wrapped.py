"""Logs inside what launchers, containers and collectors put around them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from log_samples import joined, log_of, read_text, said


def _cri(line: str) -> str:
    if len(line) < 200:
        return f"2026-01-02T03:04:05.678901234Z stdout F {line}"
    begin, end = line[:150], line[150:]
    head = "2026-01-02T03:04:05.678901234Z stdout"
    return f"{head} P {begin}\n{head} F {end}"


def _docker(line: str) -> str:
    text = json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2026-01-02T03:04:05Z"})
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


WRAPPERS: dict[str, Callable[[str], str]] = {
    "torchrun": lambda line: f"[rank0]: {line}",
    "torchrun tight": lambda line: f"[rank0]:{line}",
    "srun": lambda line: f" 0: {line}",
    "mpirun": lambda line: f"[1,3]<stdout>:{line}",
    "ray": lambda line: f"\x1b[36m(EngineCore pid=742)\x1b[0m (RayWorker pid=9, ip=1.2.3.4) {line}",
    "quoted": lambda line: f"> {line}",
    "table": lambda line: f"  | 2025-05-16T16:40:02.222-07:00 | {line}",
    "time before": lambda line: f"2025-05-16T16:40:02.222Z {line}",
    "time on its own line": lambda line: f"2025-05-16T16:40:02.222Z\n{line}",
    "cri": _cri,
    "docker": _docker,
    "carriage returns": lambda line: f" 12%|#   | 1/8 [00:01<00:07]\r{line}",
    "windows": lambda line: f"{line}\r",
    "colour behind": lambda line: f"{line}\x1b[0m",
    "utf-16": lambda line: "".join(f"{c}\0" for c in line),
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_wrapped_lines_say_the_same(wrap: Callable[[str], str]) -> None:
    lines = log_of()
    assert said(read_text(joined(map(wrap, lines)))) == said(read_text(joined(lines)))


def test_every_table_of_a_job_without_trouble_gets_rows() -> None:
    tables = read_text(joined(log_of())).tables
    empty = [name for name, table in tables.items() if not table.num_rows]
    assert empty == ["HANGS", "KERNELS", "PROXIES"]


def test_glued_records_are_told_apart() -> None:
    lines = [line for line in log_of() if " NCCL INFO " in line]
    glued = [lines[0], "".join(lines)]
    assert said(read_text(joined(glued))) == said(read_text(joined([lines[0], *lines])))


def test_record_torn_at_the_line_s_end_is_mended() -> None:
    torn = "\n".join(log_of()).replace(" via P2P/IPC", " via\n P2P/IPC").split("\n")
    assert said(read_text(joined(torn))) == said(read_text(joined(log_of())))


def test_torn_record_is_counted_and_no_row_invented() -> None:
    lines = ["node01:9:9 [0] NCCL IINFO 11-12 11:12:00 hello", "NFO TUNER/Plugin: Could not find"]
    logs = read_text(joined(lines))
    assert logs.files[0].counts.torn == 1
    assert all(not table.num_rows for table in logs.tables.values())


def test_threads_of_one_process_hold_ranks_of_their_own() -> None:
    lines = [line.replace("nodeA:11:11", "nodeA:10:11") for line in log_of(pid=11, rank=1)]
    logs = read_text(joined([*log_of(), *lines]))
    assert [(process.pid, process.rank) for process in logs.processes] == [(10, None)]
    calls = logs.tables["CALLS"].to_pylist()
    assert [(row["rank"], row["global_rank"]) for row in calls] == [(0, 0), (1, 1)]
    edges = logs.tables["CHANNELS"].to_pylist()
    assert all(row["rank"] == row["src"] for row in edges)


def test_device_in_brackets_is_no_rank() -> None:
    lines = [line.replace(" [1] ", " [0] ") for line in log_of(rank=1)]
    logs = read_text(joined(lines))
    for name in ("COMMS", "CHANNELS", "CALLS", "TUNING", "WARNINGS"):
        assert {row["rank"] for row in logs.tables[name].to_pylist()} == {1}


def test_process_in_two_files_is_one() -> None:
    lines = log_of()
    logs = read_text(joined(lines[:9]), joined(lines[9:]))
    assert said(logs) == said(read_text(joined(lines)))
    assert [row["file"] for row in logs.tables["CALLS"].to_pylist()] == ["log1"]


def test_address_that_is_used_again_is_another_communicator() -> None:
    again = [line.replace("commId 0xabc", "commId 0xdef") for line in log_of()]
    logs = read_text(joined([*log_of(), *again]))
    assert [row["comm_id"] for row in logs.tables["COMMS"].to_pylist()] == ["0xabc", "0xdef"]
    assert [row["comm"] for row in logs.tables["CALLS"].to_pylist()] == [0, 1]


def test_line_numbers_are_those_of_the_file() -> None:
    lines = log_of()
    logs = read_text(b"\n" * 5, joined(lines))
    for name, table in logs.tables.items():
        for row in table.to_pylist():
            assert row["file"] == "log1", name
            assert "NCCL" in lines[row["line"] - 1] or name == "VERSIONS"
    (comm,) = logs.tables["COMMS"].to_pylist()
    assert "Init START" in lines[comm["start_line"] - 1]
    assert "Init COMPLETE" in lines[comm["complete_line"] - 1]
