"""Kernels that RCCL traces on the GPU, and what its proxies had not finished."""

from __future__ import annotations

from typing import Any

import pytest
from log_samples import joined, read_text
from support import case

from commscope.engine.logs import load_logs

HEAD = "n1:5:6 [0] NCCL INFO "
FUNCTION = "ncclDevFunc_AllReduce_TREE_LL128_Sum_bf16"
END = "KE busId d6000 nRanks 8"
DUMP = (
    "0x7ff5ee771d48 [0-1|0| coll:3 comm:0x1b88 [{}] dtype:9 redOp:0 proto:2  nb:64 ns:16 p:4 t:3 "
    "r:0, d:2   myrank:6 peer:10 chan:1 tail:5 recvtail:7 reg:0 connSz:-1(retries:99)]"
)


def _begin(function: str = FUNCTION, kind: str = "KL HWID 42302510") -> str:
    return f"{kind} {function} nw 4 bi 0 nc 8 root 0 busId d6000 nRanks 8"


def _line(time: str, text: str, channel: int = 3, thread: int = 6) -> str:
    head = HEAD.replace(":6 ", f":{thread} ")
    return f"{head}## [{time}] [02:{channel:02}:00] 00001f {text}"


def _kernels(*lines: str) -> list[dict[str, Any]]:
    return read_text(joined(lines)).tables["KERNELS"].to_pylist()


def test_kernel_of_a_real_log_that_hangs() -> None:
    logs = load_logs([case("rccl_logs/rccl_63_4096rank_libfabric_colltrace.log")]).logs
    (kernel,) = logs.tables["KERNELS"].to_pylist()
    assert kernel["end_ns"] - kernel["start_ns"] == 45_425_113_000
    assert (kernel["op"], kernel["algorithm"], kernel["protocol"]) == (
        "all_gather",
        "ring",
        "simple",
    )
    assert (kernel["comm"], kernel["rank"], kernel["nranks"]) == (0, 0, 4096)
    (proxy,) = logs.tables["PROXIES"].to_pylist()
    assert (proxy["rank"], proxy["peer"], proxy["direction"]) == (6, 10, "send")
    assert (proxy["done"], proxy["tail"], proxy["retries"]) == (4428, 4428, 265446404)


def test_kernel_is_told_whole() -> None:
    (row,) = _kernels(_line("000012.000001", _begin()), _line("000013.500000", END, thread=7))
    assert (row["start_ns"], row["end_ns"]) == (12_000_001_000, 13_500_000_000)
    names = ("op", "algorithm", "protocol", "reduction", "dtype")
    assert [row[name] for name in names] == ["all_reduce", "tree", "ll128", "sum", "bfloat16"]
    numbers = ("rank", "channel", "opcount", "warps", "channels", "nranks")
    assert [row[name] for name in numbers] == [2, 3, 31, 4, 8, 8]
    assert (row["bus_id"], row["line"], row["thread"]) == ("d6000", 1, 6)


def test_times_of_today_are_exact() -> None:
    (row,) = _kernels(_line("999999999.123456789", _begin()))
    assert row["start_ns"] == 999_999_999_123_456_789


def test_channels_end_each_for_themselves() -> None:
    rows = _kernels(
        _line("1.0", _begin(), channel=0),
        _line("2.0", _begin(), channel=1),
        _line("3.0", END, channel=1),
        _line("5.0", END, channel=0),
        _line("6.0", _begin(), channel=0),
    )
    found = [(row["channel"], row["start_ns"], row["end_ns"]) for row in rows]
    assert found == [(0, 10**9, 5 * 10**9), (1, 2 * 10**9, 3 * 10**9), (0, 6 * 10**9, None)]


def test_processes_end_each_for_themselves() -> None:
    other = _line("3.0", END).replace("n1:5:", "n1:9:")
    rows = _kernels(_line("1.0", _begin()), other)
    assert [(row["start_ns"], row["end_ns"]) for row in rows] == [
        (10**9, None),
        (None, 3 * 10**9),
    ]


@pytest.mark.parametrize(
    ("kind", "meaning"), [("CL", "launch"), ("CE", "collective"), ("PE", "p2p"), ("DT", "data")]
)
def test_what_a_kernel_does(kind: str, meaning: str) -> None:
    (row,) = _kernels(_line("1.0", _begin("AllGather_RING_SIMPLE_Sum_i8", kind)))
    assert (row["kind"], row["op"], row["dtype"]) == (meaning, "all_gather", "int8")
    assert (row["reduction"], row["end_ns"]) == (None, None)


def test_function_of_another_kind_stays_as_it_is() -> None:
    (row,) = _kernels(_line("1.0", _begin("someKernel_of_mine")))
    assert (row["function"], row["op"], row["warps"]) == ("someKernel_of_mine", None, 4)


@pytest.mark.parametrize("text", ["KL", "[x] KL HWID 1 f", "KX busId d6000 nRanks 8"])
def test_torn_trace_gives_no_kernel_that_ends(text: str) -> None:
    rows = _kernels(_line("1.0", text))
    assert [row["end_ns"] for row in rows] in ([], [None])


@pytest.mark.parametrize(("printed", "direction"), [("SEND", "send"), ("RECV", "receive")])
def test_proxy(printed: str, direction: str) -> None:
    (row,) = read_text(joined([DUMP.format(printed)])).tables["PROXIES"].to_pylist()
    assert (row["address"], row["direction"], row["channel"]) == ("0x1b88", direction, 1)
    steps = ("steps", "posted", "transmitted", "received", "done", "tail", "receive_tail")
    assert [row[name] for name in steps] == [16, 4, 3, 0, 2, 5, 7]


def test_torn_proxy_is_left_out() -> None:
    whole = DUMP.format("SEND")
    torn = [whole[:end] for end in range(len(whole))]
    rows = read_text(joined([*torn, whole])).tables["PROXIES"].to_pylist()
    assert [row["line"] for row in rows] == [len(whole) + 1]
