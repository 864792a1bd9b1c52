"""Records that repeat, which are looked up rather than read: they mean what they meant."""

from __future__ import annotations

from typing import Any

import pytest
from log_samples import joined, log_of, read_text

HEAD = "n1:5:6 [0] NCCL INFO "


def _call(comm: str, opcount: int, name: str = "AllReduce") -> str:
    return (
        f"{HEAD}{name}: opCount {opcount:x} sendbuff 0x{opcount} recvbuff 0x2 count 8 datatype 7 "
        f"op 0 root 0 comm {comm} [nranks=2] stream 0x3 task 0 globalrank 0"
    )


def _start(comm: str, name: str) -> str:
    return f"{HEAD}comm {comm} rank 0 nranks 2 cudaDev 0 busId 1 commId {name} - Init START"


CHOICE = f"{HEAD}AllReduce: 32 Bytes -> Algo RING proto LL channel{{Lo..Hi}}={{0..1}}"


def _rows(table: str, *lines: str) -> list[dict[str, Any]]:
    return read_text(joined(lines)).tables[table].to_pylist()


def test_calls_keep_their_order_and_numbers() -> None:
    lines = [_start("0xa", "0x1"), *(_call("0xa", n, "AllReduce") for n in range(40))]
    lines[20:20] = [_call("0xa", 100, "Broadcast"), "a progress bar", _call("0xa", 101)]
    rows = _rows("CALLS", *lines)
    expected = [int(line.split()[6], 16) for line in lines if "opCount" in line]
    assert [row["opcount"] for row in rows] == expected
    assert [row["op"] for row in rows].index("broadcast") == expected.index(100)
    places = [n for n, line in enumerate(lines, 1) if "opCount" in line]
    assert [row["line"] for row in rows] == places


def test_choice_belongs_to_the_communicator_of_the_call_before() -> None:
    begin = [_start("0xa", "0x1"), _start("0xb", "0x2")]
    turns = ["0xa", "0xb", "0xb", "0xa", "0xa", "0xb"]
    calls = [line for comm in turns * 3 for line in (_call(comm, 1), CHOICE)]
    rows = _rows("TUNING", *begin, *calls)
    assert [row["comm"] for row in rows] == [{"0xa": 0, "0xb": 1}[comm] for comm in turns * 3]


def test_calls_of_several_communicators_in_a_row_leave_the_last() -> None:
    begin = [_start("0xa", "0x1"), _start("0xb", "0x2")]
    known = [_call("0xa", 1), _call("0xb", 1)]
    (row,) = _rows("TUNING", *begin, *known, *(_call(c, 2) for c in ("0xa", "0xb", "0xa")), CHOICE)
    assert row["comm"] == 0


def test_address_that_is_used_again_is_not_looked_up() -> None:
    lines = [_start("0xa", "0x1"), *[_call("0xa", 1)] * 3, _start("0xa", "0x2")]
    rows = _rows("CALLS", *lines, *[_call("0xa", 1)] * 3)
    assert [row["comm"] for row in rows] == [0, 0, 0, 1, 1, 1]


def test_same_warning_of_other_processes_is_theirs() -> None:
    lines = [f"n{n}:{n}:{n} [0] /a/b.cc:12 NCCL WARN Something broke" for n in (1, 2, 3)]
    rows = _rows("WARNINGS", *lines)
    assert [(row["host"], row["pid"], row["thread"]) for row in rows] == [
        ("n1", 1, 1),
        ("n2", 2, 2),
        ("n3", 3, 3),
    ]


@pytest.mark.parametrize(
    ("text", "chatter"),
    [
        ("pre-adjustment threadThreshold:16 nBytes:4 nc:2", 1),
        ("minNChannels:-2", 1),
        ("post-adjustment based on threadThreshold:16 nBytes:4 nc:1", 1),
        ("threadThresholds 8/8/64 | 16/8/64 | 256 | 256", 0),
    ],
)
def test_chatter_is_counted(text: str, chatter: int) -> None:
    counts = read_text(joined([HEAD + text] * 3)).files[0].counts
    assert (counts.unused, counts.chatter, counts.records) == (3, 3 * chatter, 0)


def test_output_of_a_program_hides_no_record() -> None:
    noise = [*["loss 0.1 at 12:13 [1]", "", "  "] * 20_000, "x" * 20_000]
    lines = [*noise, *log_of(), *noise]
    alone, logs = read_text(joined(log_of())), read_text(joined(lines))
    for name, table in alone.tables.items():
        assert logs.tables[name].num_rows == table.num_rows, name
    assert logs.files[0].counts.blank == 80_000 + alone.files[0].counts.blank
