"""Rules on logs: what is said of transports, and of why they are used."""

from __future__ import annotations

import pytest
from log_rule_cases import (
    Lines,
    begun,
    channel,
    found_by,
    info,
    placed,
    warn,
)
from log_rule_cases_settings import setting
from log_rule_cases_transport import ETH, IB, OFF, SHM, on_one_host, on_two_hosts, two_rails

PAIR = (begun(0), placed(0, 2, 1, 2), begun(1), placed(1, 2, 1, 2))
PCIE = (
    "GPU/0-1000 :GPU/0-1000 (0/5000.0/LOC) GPU/0-2000 (4/12.0/PHB) ",
    "GPU/0-2000 :GPU/0-1000 (4/12.0/PHB) GPU/0-2000 (0/5000.0/LOC) ",
)
SWITCH = (
    "GPU/0-1000 :GPU/0-2000 (2/48.0/PHB) NVS/0-0 (1/370.8/NVL) ",
    "GPU/0-2000 :GPU/0-1000 (2/48.0/PHB) NVS/0-0 (1/370.8/NVL) ",
)
BROKEN = warn("n1", 1, "Could not enable P2P between dev 0 and dev 1")
IOMMU = warn("n1", 1, 'Missing "iommu=pt" from kernel command line')


@pytest.mark.parametrize(
    ("lines", "says", "severity"),
    [
        (on_one_host(OFF, *SWITCH, *PAIR, SHM), "shared memory between NVLink peers", "high"),
        (on_one_host(*PAIR, SHM), "peers on one host (the logs do not tell their links)", "medium"),
        (on_one_host(*PCIE, *PAIR, SHM), "shared memory between GPUs that only PCIe links", "low"),
        (on_one_host(*PAIR, SHM), "; the logs do not say why", "medium"),
        (
            [setting("NCCL_P2P_LEVEL", "LOC"), *on_one_host(*PAIR, SHM)],
            "P2P limited by NCCL_P2P_LEVEL=LOC, shared memory",
            "medium",
        ),
        ([*BROKEN, *on_one_host(*PAIR, SHM)], "P2P could not be enabled, shared", "medium"),
        ([*IOMMU, *on_one_host(*PAIR, SHM)], "no P2P, and iommu=pt is missing, shared", "medium"),
    ],
)
def test_why_memory_of_the_host_is_used(lines: Lines, says: str, severity: str) -> None:
    (finding,) = found_by("C5a", lines)
    assert says in finding.says
    assert finding.severity == severity
    assert finding.confidence == ("medium" if severity == "medium" else "high")


def test_what_keeps_p2p_off_decides_the_advice() -> None:
    told = (on_one_host(OFF, *PAIR, SHM), on_one_host(*PAIR, SHM), on_one_host(*PCIE, *PAIR, SHM))
    advice = [found_by("C5a", lines)[0].advice[0].do for lines in told]
    assert [text.split()[0] for text in advice] == ["Unset", "Find", "On"]


def test_a_level_that_permits_all_is_no_cause() -> None:
    lines = [setting("NCCL_P2P_LEVEL", "SYS"), *on_one_host(*PAIR, SHM)]
    assert "the logs do not say why" in found_by("C5a", lines)[0].says


@pytest.mark.parametrize(
    ("messages", "says", "severity"),
    [
        (("NCCL_IB_DISABLE set by environment to 1", IB), "disabled by NCCL_IB_DISABLE", "high"),
        (("NCCL_NET set by environment to Socket", IB), "NCCL_NET=Socket asks for them", "high"),
        (("NET/Socket : Using [0]hsn0:192.0.2.2<0>",), "Slingshot interfaces (hsn0)", "high"),
        (("Failed to open libibverbs.so[.1]", ETH), "libibverbs could not be opened", "high"),
        ((ETH,), "the logs list no RDMA device", "medium"),
    ],
)
def test_why_sockets_are_used(messages: tuple[str, ...], says: str, severity: str) -> None:
    (finding,) = found_by("C5b", on_two_hosts(*messages, via="NET/Socket/0"))
    assert says in finding.says
    assert finding.severity == severity
    assert len(finding.advice) == 1


def test_sockets_that_only_the_communicator_tells_of() -> None:
    lines = info("n0", 1, "Using network Socket", begun(0), placed(0, 2, 2, 1))
    (finding,) = found_by("C5b", lines)
    assert "as the communicators say" in finding.says


def test_sockets_inside_a_host_are_not_those_between_hosts() -> None:
    assert not found_by("C5b", on_one_host(*PAIR, channel(0, 1, "NET/Socket/0")))


@pytest.mark.parametrize(
    ("via", "says", "severity"),
    [
        (
            ("NET/IB/0", "NET/IB/0/GDRDMA"),
            "sending does not use GPUDirect RDMA, the other direction does",
            "medium",
        ),
        (
            ("NET/IB/0/GDRDMA", "NET/IB/0"),
            "receiving does not use GPUDirect RDMA, the other direction does",
            "medium",
        ),
    ],
)
def test_gpu_direct_on_one_side(via: tuple[str, str], says: str, severity: str) -> None:
    lines = info(
        "n0", 1, begun(0), placed(0, 2, 2, 1), channel(0, 1, via[0]), channel(1, 0, via[1], own=0)
    )
    (finding,) = found_by("C5c", lines)
    assert finding.says.startswith(says)
    assert finding.severity == severity


def test_gpu_direct_of_some_devices_only() -> None:
    more = info("n0", 10, channel(0, 1, "NET/IB/1", 1))
    (finding,) = found_by("C5c", [*on_two_hosts(via="NET/IB/0/GDRDMA"), *more])
    assert finding.says.startswith("1 of 5 network connections do not use GPUDirect RDMA")


OLD = ("RCCL version : 2.20.5-HEAD:1", "Kernel version: 6.8.0-40-generic")


def test_a_kernel_that_loses_gpu_direct() -> None:
    (finding,) = found_by("C5c", on_two_hosts(*OLD, via="NET/IB/0"))
    assert "RCCL 2.20.5 is known to lose GPUDirect RDMA on Linux 6.8.0-40-generic" in finding.says
    assert "1343" in finding.advice[0].source
    newer = ("RCCL version : 2.21.5-HEAD:1", OLD[1])
    assert "known" not in found_by("C5c", on_two_hosts(*newer, via="NET/IB/0"))[0].says


def test_devices_that_carry_nothing() -> None:
    (finding,) = found_by("L2", two_rails(0, 0))
    assert finding.says == (
        "1 of 2 network devices of n0 carry nothing (mlx5_1), with 2 ranks there"
    )


def test_network_devices_behind_the_cpu() -> None:
    pattern = "Pattern 4, crossNic 0, nChannels 1, bw 6.0/6.0, type XGMI/{}, sameChannels 1"
    for link, count in (("PHB", 1), ("PXB", 0)):
        lines = [*two_rails(0, 1), *info("n0", 10, pattern.format(link))]
        assert len(found_by("L2", lines)) == count


def test_one_rank_with_several_devices_is_not_uneven() -> None:
    assert not found_by("L2", two_rails(0, 1, 1, 0))
