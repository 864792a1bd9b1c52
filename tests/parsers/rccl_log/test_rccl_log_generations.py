"""Records as each generation of the libraries spells them."""

from __future__ import annotations

from typing import Any

import pytest
from log_samples import joined, read_text

HEAD = "n1:5:6 [0] NCCL INFO "
START = f"{HEAD}comm 0xa rank 3 nranks 8 cudaDev 1 busId 2000 commId 0xc - Init START"


def _rows(table: str, *lines: str) -> list[dict[str, Any]]:
    return read_text(joined(lines)).tables[table].to_pylist()


BASE = {"address": "0xa", "rank": 3, "nranks": 8, "cuda_dev": 1, "bus_id": "2000"}


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("comm 0xa rank 3 nranks 8 cudaDev 1 busId 2000 - Init COMPLETE", {"complete_line": 1}),
        (
            "comm 0xa rank 3 nranks 8 cudaDev 1 busId 2000 used 9 bytes - Init COMPLETE",
            {"complete_line": 1, "start_line": None},
        ),
        (
            "comm 0xa rank 3 nranks 8 cudaDev 1 nvmlDev 2 busId 2000 commId 0xc - Init START",
            {"start_line": 1, "nvml_dev": 2, "comm_id": "0xc", "complete_line": None},
        ),
        (
            (
                "ncclCommInitRank comm 0xa rank 3 nranks 8 cudaDev 1 busId 2000 commId 0xc "
                "localSize 304 used 22 bytes on core 13 - Init COMPLETE"
            ),
            {"complete_line": 1, "comm_id": "0xc"},
        ),
        (
            (
                "ncclCommSplit comm 0xa rank 3 nranks 8 cudaDev 1 nvmlDev 2 busId 2000 parent 0xb "
                "splitCount 2 color 1 key 3- Init START"
            ),
            {"start_line": 1, "parent": "0xb", "color": 1, "comm_id": None},
        ),
        (
            (
                "[Rank 3] ncclCommInitRankConfig_impl comm 0xa rank 3 nranks 8 cudaDev 1 nvmlDev 2 "
                "busId 2000 commId 0xc - Init START"
            ),
            {"start_line": 1},
        ),
        ("comm 0xa rank 3 nranks 8 cudaDev 1 busId 2000 - Abort COMPLETE", {"end": "aborted"}),
        ("comm 0xa rank 3 nranks 8 cudaDev 1 busId 2000 - Destroy COMPLETE", {"end": "destroyed"}),
    ],
)
def test_communicator(text: str, more: dict[str, Any]) -> None:
    (row,) = _rows("COMMS", f"{HEAD}{text}")
    assert {name: row[name] for name in {**BASE, **more}} == {**BASE, **more}


@pytest.mark.parametrize(
    ("text", "coll", "nvls", "p2p", "peer"),
    [
        ("4 coll channels, 6 p2p channels, 2 p2p channels per peer", 4, None, 6, 2),
        ("4 coll channels, 1 nvls channels, 6 p2p channels, 2 p2p channels per peer", 4, 1, 6, 2),
        (
            (
                "4 coll channels, 4 collnet channels, 1 nvls channels, 6 p2p channels, "
                "2 p2p channels per peer"
            ),
            *(4, 1, 6, 2),
        ),
        (
            (
                "comm:0xa, nRanks:8, nNodes:2, coll channels:4 collnet channels:4, "
                "nvls channels:1, p2p channels:6, p2p channels per peer:2, shiftSize:4"
            ),
            *(4, 1, 6, 2),
        ),
    ],
)
def test_numbers_of_channels(text: str, coll: int, nvls: int | None, p2p: int, peer: int) -> None:
    (row,) = _rows("COMMS", START, f"{HEAD}{text}")
    assert row["coll_channels"] == coll
    assert row["nvls_channels"] == nvls
    assert (row["p2p_channels"], row["p2p_channels_per_peer"]) == (p2p, peer)


@pytest.mark.parametrize(
    ("text", "total", "kernels"),
    [
        ("Init timings: rank 3 nranks 8 total 4.66 (kernels 4.32, bootstrap 0.02)", 4660, 4320),
        (
            (
                "Init timings - ncclCommInitRank_impl: rank 3 nranks 8 total 0.07 (kernels 0.01, "
                "alloc 0.01, bootstrap 0.02, rest 0.03)"
            ),
            *(70, 10),
        ),
    ],
)
def test_timings(text: str, total: int, kernels: int) -> None:
    (row,) = _rows("COMMS", START, f"{HEAD}{text}")
    assert (row["total_ns"], row["kernels_ns"]) == (total * 10**6, kernels * 10**6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P2P/IPC", ("P2P/IPC", None, None, None, None)),
        ("P2P/IPC/read", ("P2P/IPC", None, None, None, "read")),
        ("P2P/CUMEM/read", ("P2P/CUMEM", None, None, None, "read")),
        ("P2P/direct pointer", ("P2P/direct pointer", None, None, None, None)),
        ("P2P/direct pointer/read", ("P2P/direct pointer", None, None, None, "read")),
        ("P2P/indirect/5[5]", ("P2P/indirect", None, 5, None, None)),
        ("SHM/direct/direct", ("SHM", None, None, None, "direct/direct")),
        ("NET/Socket/1", ("NET/Socket", 1, None, False, None)),
        ("NET/IB/2/GDRDMA", ("NET/IB", 2, None, True, None)),
        ("NET/IB/2(4)/GDRDMA(PCI)/Shared", ("NET/IB", 2, 4, True, "Shared")),
        ("NET/AWS Libfabric/3/Shared", ("NET/AWS Libfabric", 3, None, False, "Shared")),
    ],
)
@pytest.mark.parametrize("tail", ["", " comm 0xa nRanks 08", " comm 0xa nRanks 08 12%|##"])
def test_transport(text: str, expected: tuple[Any, ...], tail: str) -> None:
    line = f"{HEAD}Channel 01/1 : 3[2000] -> 4[2] [send] via {text}{tail}"
    (row,) = _rows("CHANNELS", START, line)
    columns = ("transport", "net_device", "via_rank", "gpu_direct", "detail")
    assert tuple(row[name] for name in columns) == expected
    assert (row["channel"], row["connection"], row["src"], row["dst"]) == (1, 1, 3, 4)
    assert (row["comm"], row["rank"], row["src_device"], row["dst_device"]) == (0, 3, "2000", "2")


def test_receiver_writes_of_itself_as_the_end() -> None:
    line = f"{HEAD}Channel 01 : 2[1] -> 3[2] [receive] via NET/IB/0/GDRDMA comm 0xa nRanks 08"
    (row,) = _rows("CHANNELS", line)
    (comm,) = _rows("COMMS", line)
    assert (row["rank"], row["connection"], row["direction"]) == (3, None, "receive")
    assert (comm["rank"], comm["nranks"], comm["rank_source"]) == (3, 8, "channel")


def test_network_that_reduces_has_one_end() -> None:
    (row,) = _rows("CHANNELS", f"{HEAD}CollNet 00/0 : 3 [send] via COLLNET/SHARP/0/GDRDMA")
    assert (row["src"], row["dst"], row["transport"]) == (3, None, "COLLNET/SHARP")
    assert row["gpu_direct"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4096 Bytes -> Algo 1 proto 2 time 5.25", (None, "ring", "simple", None, None, 5.25)),
        (
            "AllReduce: 4096 Bytes -> Algo 0 proto 0 time 5.25",
            ("all_reduce", "tree", "ll", None, None, 5.25),
        ),
        (
            "AllGather: 4096 Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}",
            ("all_gather", "nvls", "simple", 0, 15, None),
        ),
        (
            "AllReduce [Symmetric]: 4096 Bytes -> Kernel AllReduce_LL_R nchannels 8 nthreads 512",
            ("all_reduce", None, None, 0, 7, None),
        ),
    ],
)
def test_choice(text: str, expected: tuple[Any, ...]) -> None:
    (row,) = _rows("TUNING", START, f"{HEAD}{text}")
    columns = ("op", "algorithm", "protocol", "first_channel", "last_channel", "time_us")
    assert tuple(row[name] for name in columns) == expected
    assert (row["bytes"], row["rank"]) == (4096, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "Send: opCount 12 sendbuff 0x7f recvbuff (nil) count 10 datatype 7 op 0 root 1 "
                "comm 0xa [nranks=8] stream 0x55"
            ),
            ("send", 18, 40, 40, None, 1),
        ),
        (
            (
                "ReduceScatter: opCount e sendbuff 0x7 recvbuff 0x7 count 10 datatype 9 op 4 "
                "root 0 comm 0xa [nranks=8] stream (nil)"
            ),
            ("reduce_scatter", 14, 20, 160, "avg", 0),
        ),
        (
            (
                "AllReduce: opCount 0 sendbuff 0x7 recvbuff 0x7 acc (nil) count 10 datatype 6 op 7 "
                "root 0 comm 0xa [nranks=8] stream (nil) task 0 globalrank 3"
            ),
            ("all_reduce", 0, 20, 20, "user", 0),
        ),
        (
            (
                "AlltoAll: opCount 0 sendbuff 0x7 recvbuff 0x7 count 10 datatype 8 op 0 root 0 "
                "comm 0xa [nranks=8] stream (nil)"
            ),
            ("all_to_all", 0, 80, 640, None, 0),
        ),
    ],
)
def test_call(text: str, expected: tuple[Any, ...]) -> None:
    columns = ("op", "opcount", "call_bytes", "bytes", "reduction", "root")
    for row in _rows("CALLS", START, f"{HEAD}{text}", f"{HEAD}{text}"):
        assert tuple(row[name] for name in columns) == expected
        assert (row["rank"], row["nranks"]) == (3, 8)


@pytest.mark.parametrize("name", ["mscclFuncAllReduce", "mscclpp_ncclAllReduce"])
def test_call_that_is_told_again_counts_once(name: str) -> None:
    call = (
        "AllReduce: opCount 0 sendbuff 0x7 recvbuff 0x7 count 10 datatype 8 op 0 root 0 "
        "comm 0xa [nranks=8] stream (nil)"
    )
    logs = read_text(joined([f"{HEAD}{call}", f"{HEAD}{call.replace('AllReduce', name)}"]))
    assert logs.tables["CALLS"].num_rows == 1
    assert logs.files[0].counts.torn == 0


def test_call_of_the_level_call_has_no_device_and_no_number() -> None:
    line = "n1:5:5 NCCL CALL ncclAllReduce(7f0a,7f0b,1024,7,0,0,0xa,0xb)"
    (row,) = _rows("CALLS", START, line)
    assert (row["op"], row["count"], row["opcount"], row["rank"]) == ("all_reduce", 1024, None, 3)


@pytest.mark.parametrize(
    ("text", "component", "version", "build"),
    [
        ("NCCL version 2.21.5+cuda12.4", "nccl", "2.21.5", "cuda12.4"),
        (f"{HEAD}NCCL version 2.27.5+cuda12.9", "nccl", "2.27.5", "cuda12.9"),
        ("NCCL version 2.26.2 compiled with CUDA 12.8", "nccl", "2.26.2", "CUDA 12.8"),
        ("RCCL version 2.18.3+hip6.0 HEAD:2f6d59e+", "rccl", "2.18.3", "hip6.0 HEAD:2f6d59e+"),
        ("RCCL version : 2.21.5-HEAD:eef7b29", "rccl", "2.21.5", "HEAD:eef7b29"),
        (f"{HEAD}RCCL version : 2.27.7-HEAD:0d2c4fd", "rccl", "2.27.7", "HEAD:0d2c4fd"),
        ("ROCm version : 6.3.0.0-39-ce2be3b", "rocm", "6.3.0.0-39-ce2be3b", None),
        (f"{HEAD}ROCr version 1.18", "rocr", "1.18", None),
        (f"{HEAD}cudaDriverVersion 13000", "cuda_driver", "13000", None),
    ],
)
def test_version(text: str, component: str, version: str, build: str | None) -> None:
    (row,) = _rows("VERSIONS", text)
    assert (row["component"], row["version"], row["build"]) == (component, version, build)


def test_warning_with_stamp_source_and_function() -> None:
    line = "[2026-01-02 03:04:05] n1:5:6 [0] /a/b.cc:12 (ncclInit) NCCL WARN Something broke"
    (row,) = _rows("WARNINGS", START, line)
    assert (row["level"], row["text"], row["rank"]) == ("warn", "Something broke", 3)
    assert (row["time"], row["source"]) == ("2026-01-02 03:04:05", "/a/b.cc:12")


def test_error_of_the_newest_level_and_its_trace() -> None:
    rows = _rows(
        "WARNINGS",
        "n1:5:6 [0] [FATAL ERROR]: HIP failure: 'invalid argument'",
        f"{HEAD}/a/p2p.cc:709 -> 1 [Async thread]",
    )
    assert [(row["level"], row["pid"], row["code"]) for row in rows] == [
        ("error", 5, None),
        ("trace", 5, 1),
    ]


def test_trees_that_the_buffer_cut_lose_their_last() -> None:
    trees = " ".join(f"[{n}] {n + 1000}/-1/-1->{n}->{n + 2000}" for n in range(50))
    assert len(trees) > 1000
    rows = _rows("GRAPHS", f"{HEAD}Trees {trees}")
    assert [row["channel"] for row in rows] == list(range(49))
    assert rows[3]["ranks"] == [2003, 3, 1003, None, None]


def test_paths_tell_links_once_a_host() -> None:
    text = "GPU/0-b000 :GPU/0-b000 (0/5000.0/LOC) GPU/0-e000 (3/24.0/XGMI) CPU/0-0 (4/12.0/PHB) "
    (row,) = _rows("GRAPHS", f"{HEAD}{text}", f"{HEAD.replace('5:6', '7:7')}{text}")
    assert (row["name"], row["peer"], row["link"]) == ("GPU/0-b000", "GPU/0-e000", "XGMI")
    assert (row["hops"], row["bandwidth_gbps"]) == (3, 24.0)


def test_network_devices() -> None:
    line = f"{HEAD}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:198.51.100.1<0>"
    found = [(row["name"], row["link"]) for row in _rows("GRAPHS", line)]
    assert found == [("mlx5_0", "IB"), ("mlx5_1", "RoCE")]


@pytest.mark.parametrize(
    ("text", "value", "ignored"),
    [
        ("NCCL_P2P_DISABLE set by environment to 1", "1", False),
        ("NCCL_IB_DISABLE set by environment to 0.", "0", False),
        ("NCCL_IB_HCA set to mlx5_0,mlx5_1", "mlx5_0,mlx5_1", False),
        (
            "NCCL_MIN_NCHANNELS set by environment is ignored due to less than 8 GPUs.",
            *(None, True),
        ),
    ],
)
def test_environment(text: str, value: str | None, ignored: bool) -> None:
    (row,) = _rows("ENVIRONMENT", f"{HEAD}{text}")
    assert (row["variable"], row["value"], row["ignored"]) == (
        text.split(maxsplit=1)[0],
        value,
        ignored,
    )
