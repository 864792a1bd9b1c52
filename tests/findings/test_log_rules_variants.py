"""Rules on logs: the ways in which those on errors and settings can fire."""

from __future__ import annotations

import pytest
from log_rule_cases import (
    RCCL,
    Lines,
    begun,
    call,
    channel,
    completed,
    examine_log,
    found_by,
    info,
    placed,
    warn,
)
from log_rule_cases_errors import calls, timeout
from log_rule_cases_settings import setting
from log_rule_cases_transport import SHM, on_one_host

PAIR = (begun(0), placed(0, 2, 1, 2), begun(1), placed(1, 2, 1, 2))
BROKEN = warn("n1", 1, "Could not enable P2P between dev 0 and dev 1")
IOMMU = warn("n1", 1, 'Missing "iommu=pt" from kernel command line')
OLD = ("RCCL version : 2.20.5-HEAD:1", "Kernel version: 6.8.0-40-generic")
IONIC = "NET/IB : Using [0]ionic_0:1/RoCE [RO]; OOB eth0:192.0.2.2<0>"


@pytest.mark.parametrize(
    ("lines", "says", "rank"),
    [
        ([timeout(0), timeout(1, 9)], "rank 0 stopped first, others went on to 9", 0),
        ([timeout(0), timeout(1, count=9)], "the ranks do not agree on operation or size", None),
        ([timeout(0), timeout(1), timeout(2, count=9)], "do not agree on operation or size", 2),
        ([timeout(0), timeout(1), timeout(2, 9)], "ranks 0, 1 stopped first, others went", None),
        ([timeout(3)], "no other rank reported", 3),
        (
            [*info("n1", 1, begun(0, 4)), timeout(0), timeout(2)],
            "on ranks 0, 2, not on ranks 1, 3: all were at the same operation",
            None,
        ),
    ],
)
def test_what_the_watchdog_tells(lines: Lines, says: str, rank: int | None) -> None:
    (finding,) = found_by("L3", lines)
    assert says in finding.says
    assert finding.rank == rank


LAST = (
    "[rank{rank}]:[E1206 18:44:12.7 ProcessGroupNCCL.cpp:1664] [PG 1 Rank {rank}] Exception "
    "(either an error or timeout) detected by watchdog at work: 7, last enqueued NCCL work: 9, "
    "last completed NCCL work: {done}."
)


@pytest.mark.parametrize("nranks", [1 << 17, 2**31 - 1])
def test_silent_ranks_of_a_job_of_a_damaged_size_are_not_listed(nranks: int) -> None:
    lines = [*info("n1", 1, begun(0, nranks)), timeout(0), timeout(2)]
    (finding,) = found_by("L3", lines)
    assert "on ranks 0, 2: all were" in finding.says


def test_the_rank_that_completed_least_is_the_one_to_look_at() -> None:
    lines = [timeout(0), timeout(1), LAST.format(rank=0, done=6), LAST.format(rank=1, done=4)]
    (finding,) = found_by("L3", lines)
    assert "rank 1 completed less than the others" in finding.says
    assert finding.rank == 1


def test_calls_without_numbers_are_compared_by_turn() -> None:
    lines = calls([call(0, 0), call(0, 0, count=9)], [call(1, 0), call(1, 0, count=7)])
    (finding,) = found_by("L4", lines)
    assert "from their first call that differs on" in finding.says
    assert finding.confidence == "medium"
    torn = "n1:10:10 [0] NCCL INFO AllReduce: opCount 0 sendb"
    assert not found_by("L4", [*lines, torn])


def test_a_call_whose_line_was_lost_is_no_mismatch() -> None:
    grouped = [call(0, 1), call(0, 1, count=9), call(0, 2)]
    assert not found_by("L4", calls(grouped, [call(1, 1, count=9), call(1, 2)]))


def test_sends_and_receives_need_not_agree() -> None:
    lines = calls([call(0, 1, "Send"), call(0, 2)], [call(1, 1, "Recv"), call(1, 2)])
    assert not found_by("L4", lines)


def test_ranks_that_are_far_behind_without_a_hang() -> None:
    lines = calls([call(0, n) for n in range(1, 20)], [call(1, n) for n in range(1, 5)])
    (finding,) = found_by("L5", lines)
    assert finding.severity == "low"
    assert finding.says.endswith("; the log may have been cut there")
    assert not found_by("L5", lines, limits={"L5.min_behind": 100})
    end = info("n1", 10, "comm 0x10 rank 0 nranks 2 cudaDev 0 busId 1000 - Destroy COMPLETE")
    assert not found_by("L5", [*lines, *end])


CONNECTED = "Connected all rings comm 0x{}0 nRanks 02 busId 1000"


@pytest.mark.parametrize(
    ("lines", "says", "severity", "rank"),
    [
        (
            [
                *info("n1", 1, begun(0), CONNECTED.format(1)),
                *info("n1", 2, begun(1), CONNECTED.format(2)),
            ],
            "though all of them are connected: the log may end too early",
            "low",
            None,
        ),
        (
            [*info("n1", 1, begun(0, 3)), *info("n1", 2, begun(1, 3))],
            "on ranks 0, 1; of rank 2 there is no record at all",
            "high",
            2,
        ),
        (
            [*info("n1", 1, begun(0)), *info("n1", 2, begun(1))],
            "they stopped on the way, or the log ends there",
            "medium",
            None,
        ),
    ],
)  # fmt: skip
def test_initialisations_that_do_not_finish(
    lines: Lines, says: str, severity: str, rank: int | None
) -> None:
    (finding,) = found_by("L6", lines)
    assert says in finding.says
    assert (finding.severity, finding.rank) == (severity, rank)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "NET/IB : mlx5_0:1 Got async event : port error",
            "a port or link reported port error",
        ),
        ("Call to ibv_create_qp failed", "ibv_create_qp failed"),
        ("Call to ibv_modify_qp failed with error Invalid argument", "ibv_modify_qp failed"),
    ],
)
def test_errors_of_the_network(text: str, says: str) -> None:
    (finding,) = found_by("L7", warn("n1", 1, text))
    assert finding.says.startswith(says)
    assert finding.severity == "high"


def test_who_loses_a_peer_to_the_network_did_not_fail_first() -> None:
    lines = [
        *warn("n1", 1, "NET/IB : Got completion from peer x with status=12 opcode=1"),
        *info("n1", 1, "transport/net.cc:1227 -> 6"),
    ]
    assert not found_by("L8", lines)


def test_two_ranks_on_one_gpu() -> None:
    text = "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000"
    (finding,) = found_by("L8", warn("n1", 1, text))
    assert finding.says == f"two ranks use one GPU: {text}"


@pytest.mark.parametrize("text", ["misc/ibvwrap.cc:94 -> 3", "Cuda failure 'invalid argument'"])
def test_what_fails_while_the_library_tries_something_is_no_failure(text: str) -> None:
    assert not found_by("L8", info("n1", 1, text))


def test_a_call_of_rdma_that_is_only_tried_is_no_error() -> None:
    text = "Call to ibv_set_ece failed with error Operation not supported"
    assert not found_by("L7", info("n1", 1, text))
    assert found_by("L7", warn("n1", 1, text))


def test_network_devices_far_from_a_gpu_are_no_warning() -> None:
    text = "GPU Direct RDMA Disabled for GPU 0 / HCA 3 (distance 7 > 4)"
    assert not found_by("L1", info("n1", 1, begun(0), placed(0, 2, 2, 1), text))


def test_communicators_that_may_be_others_are_not_compared() -> None:
    three = [info("n1", 10 + rank, call(rank, 1, count=rank + 1)) for rank in range(3)]
    assert not found_by("L4", [line for lines in three for line in lines])
    pair = [line for lines in three[:2] for line in lines]
    assert [one.confidence for one in found_by("L4", pair)] == ["medium"]


def test_calls_that_end_early_after_a_failure_are_less_sure_than_a_hang() -> None:
    lines = calls([call(0, 1), call(0, 2)], [call(1, 1)])
    failed = warn("n1", 10, "NET/IB : mlx5_0:1 Got async event : port error")
    assert [one.severity for one in found_by("L5", [*lines, *failed])] == ["medium"]
    assert [one.severity for one in found_by("L5", [*lines, timeout(0)])] == ["high"]


def test_missing_iommu_is_worse_where_something_failed() -> None:
    lines = [*IOMMU, *on_one_host(*PAIR, SHM)]
    assert [one.severity for one in found_by("L1", lines)] == ["high"]


def test_p2p_that_could_not_be_enabled_is_told_once() -> None:
    assert [one.severity for one in found_by("L1", BROKEN)] == ["medium"]
    assert not found_by("L1", [*BROKEN, *on_one_host(*PAIR, SHM)])


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        # Banners have no head.
        (["RCCL version : 2.21.5-HEAD:1", "ROCm version : 6.3.0.0-39"], "2.21.5 of ROCm 6.3.0"),
        (
            ["ROCm version : 7.1.1.0-1", RCCL, *info("n1", 1, IONIC)],
            "ROCm 7.1.1 with Pollara network devices",
        ),
        (
            ["ROCm version : 7.14.0.0-1", RCCL, *info("n1", 1, begun(0), placed(0, 2, 2, 1))],
            "ROCm 7.14.0 on several hosts",
        ),
        (info("n1", 1, *OLD, begun(0), placed(0, 2, 2, 1)), "Linux from 6.8 on"),
    ],
)  # fmt: skip
def test_issues_that_versions_are_known_for(lines: Lines, says: str) -> None:
    (finding,) = found_by("S3", lines)
    assert says in finding.says
    assert finding.severity == "low"


@pytest.mark.parametrize(
    ("rule", "lines", "says"),
    [
        ("S4", [setting("NCCL_MIN_NCHANNELS", "112")], "NCCL_MIN_NCHANNELS=112 is set by hand"),
        (
            "S5",
            info("n1", 1, "NCCL_MIN_NCHANNELS set by environment to 8 is ignored due to"),
            "the library ignores NCCL_MIN_NCHANNELS=8",
        ),
        (
            "S5",
            [*info("n1", 1, RCCL), setting("HSA_FORCE_FINE_GRAIN_PCIE", "1")],
            "HSA_FORCE_FINE_GRAIN_PCIE=1 is not needed",
        ),
        ("S7", [setting("NCCL_P2P_DISABLE", "1")], "NCCL_P2P_DISABLE=1 keeps GPUs of a host"),
        ("S7", [setting("NCCL_SHM_DISABLE", "1")], "NCCL_SHM_DISABLE=1 takes shared memory"),
        ("S7", [setting("HIP_LAUNCH_BLOCKING", "1")], "makes the host wait for each kernel"),
    ],
)
def test_settings(rule: str, lines: Lines, says: str) -> None:
    (finding,) = found_by(rule, lines)
    assert says in finding.says


def test_disputed_settings_are_not_recommended() -> None:
    (finding,) = found_by("S6", [setting("HSA_ENABLE_SDMA", "0")])
    assert finding.severity == "low"
    assert "neither is recommended" in finding.advice[0].do


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            [
                *info("n1", 1, "Using network IB", begun(0)),
                *info("n2", 2, "Using network Socket", begun(1)),
            ],
            "members of the communicator use different networks (IB, Socket)",
        ),
        (
            [setting("NCCL_SOCKET_IFNAME", "eth0", 1), setting("NCCL_SOCKET_IFNAME", "eth1", 2)],
            "NCCL_SOCKET_IFNAME differs between processes (eth0, eth1)",
        ),
    ],
)
def test_ranks_that_are_set_up_differently(lines: Lines, says: str) -> None:
    assert [one.says for one in found_by("C5e", lines)] == [says]


def test_what_differs_by_design_is_no_difference() -> None:
    name = "HIP_VISIBLE_DEVICES"
    assert not found_by("C5e", [setting(name, "0", 1), setting(name, "1", 2)])


def test_completed_and_connected_runs_are_clean() -> None:
    lines = on_one_host(
        RCCL, *PAIR, channel(0, 1, "P2P/IPC"), channel(1, 0, "P2P/IPC"), completed(0), completed(1)
    )
    assert examine_log(lines)[0] == ()
