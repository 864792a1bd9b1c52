"""Cases of the rules on how ranks are connected."""

from __future__ import annotations

from log_rule_cases import (
    ANY,
    NO_CONNECTION,
    NO_LIBRARY,
    NO_RDMA,
    NO_TOPOLOGY,
    RCCL,
    LogRuleCase,
    begun,
    channel,
    info,
    placed,
)

_XGMI = (
    "CPU/0-0 (1/2/6)",
    "+ PCI[24.0] - GPU/0-1000 (0)",
    "              + XGMI[48.0] - GPU/0-2000",
    "+ PCI[24.0] - GPU/0-2000 (1)",
    "              + XGMI[48.0] - GPU/0-1000",
)
_PCIE = (
    "GPU/0-1000 :GPU/0-1000 (0/5000.0/LOC) GPU/0-2000 (4/12.0/PHB) CPU/0-0 (2/24.0/PHB) ",
    "GPU/0-2000 :GPU/0-1000 (4/12.0/PHB) GPU/0-2000 (0/5000.0/LOC) CPU/0-0 (2/24.0/PHB) ",
)
_PAIR = (begun(0), placed(0, 2, 1, 2), begun(1), placed(1, 2, 1, 2))


def on_one_host(*messages: str) -> list[str]:
    """Two ranks on one host, the second in a process of its own."""
    second = [m for m in messages if "comm 0x20" in m]
    first = [m for m in messages if "comm 0x20" not in m]
    return [*info("n1", 1, *first), *info("n1", 2, *second)]


def on_two_hosts(*messages: str, via: str, each: int = 1) -> list[str]:
    """Two ranks, each on a host of its own, connected both ways; ``messages`` are of both."""
    lines = []
    for rank in (0, 1):
        mine = [begun(rank), placed(rank, 2, 2, 1)]
        for number in range(each):
            mine += [
                channel(rank, 1 - rank, via, number),
                channel(1 - rank, rank, via, number, own=rank),
            ]
        lines += info(f"n{rank}", 10 + rank, *messages, *mine)
    return lines


SHM = channel(0, 1, "SHM/direct/direct")
OFF = "NCCL_P2P_DISABLE set by environment to 1"
IB = "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.2<0>"
ETH = "NET/Socket : Using [0]eth0:192.0.2.2<0>"


def two_rails(*devices: int, listed: str = IB) -> list[str]:
    """Four ranks on two hosts, two on each; rank r of the first host sends over devices[r]."""
    lines = []
    for rank in range(4):
        mine = [listed, begun(rank, 4), placed(rank, 4, 2, 2)]
        peer = (rank + 2) % 4
        mine += [
            channel(rank, peer, f"NET/IB/{device}/GDRDMA", number)
            for number, device in enumerate(devices[rank % 2 :: 2])
        ]
        lines += info(f"n{rank // 2}", 10 + rank, *mine)
    return lines


def _ring(*orders: str) -> list[str]:
    """Three GPUs of which the first and the last have no link, and rings over them."""
    links = (
        "+ PCI[24.0] - GPU/0-1000 (0)", "  + XGMI[48.0] - GPU/0-2000",
        "+ PCI[24.0] - GPU/0-2000 (1)", "  + XGMI[48.0] - GPU/0-1000",
        "  + XGMI[48.0] - GPU/0-3000",
        "+ PCI[24.0] - GPU/0-3000 (2)", "  + XGMI[48.0] - GPU/0-2000",
    )  # fmt: skip
    lines = [line for rank in range(3) for line in info("n1", 10 + rank, begun(rank, 3))]
    return [*info("n1", 10, *links), *lines, *info("n1", 10, *orders)]


CASES = {
    "C5a": LogRuleCase(
        fires=on_one_host(OFF, *_XGMI, *_PAIR, SHM),
        says="P2P disabled by NCCL_P2P_DISABLE, shared memory between xGMI peers: 1 pair of ranks "
        "(0 -> 1) on n1",
        severity="high",
        shown=("NCCL_P2P_DISABLE", "via SHM", "+ XGMI[48.0] - GPU/0-2000"),
        quiet=on_one_host(OFF, *_XGMI, *_PAIR, channel(0, 1, "P2P/IPC")),
        blind=[(ANY, NO_CONNECTION)],
    ),
    "C5b": LogRuleCase(
        fires=on_two_hosts(IB, ETH, via="NET/Socket/0"),
        says="TCP sockets carry the traffic between hosts (2 pairs of ranks (0 -> 1, 1 -> 0) over "
        "eth0): although there are RDMA devices (mlx5_0, mlx5_1)",
        severity="high",
        shown=("via NET/Socket/0", "mlx5_0"),
        quiet=on_one_host(ETH, "Using network Socket", *_PAIR, channel(0, 1, "P2P/IPC")),
        blind=[
            (
                [*info("n0", 1, begun(0)), *info("n1", 2, begun(1))],
                "the logs show neither connections nor networks between hosts",
            )
        ],
    ),
    "C5c": LogRuleCase(
        fires=on_two_hosts(
            "GDRDMA not enabled. Could not find memory_peers directory", via="NET/IB/0"
        ),
        says="no network connection uses GPUDirect RDMA: the data goes through host memory",
        severity="high",
        shown=("via NET/IB/0 ", "GDRDMA not enabled"),
        quiet=on_two_hosts(via="NET/IB/0/GDRDMA"),
        blind=[(ANY, NO_CONNECTION), (on_two_hosts(via="NET/Socket/0"), NO_RDMA)],
    ),
    "C5d": LogRuleCase(
        fires=_ring("Channel 00/01 : 0 1 2", "Channel 01/01 : 0 2 1"),
        says="rings leave xGMI inside a host: no link joins ranks 0 -> 2, though both GPUs have "
        "links to others",
        severity="medium",
        shown=("0 2 1", "GPU/0-2000"),
        quiet=_ring("Channel 00/01 : 0 1 2"),
        blind=[
            (ANY, NO_TOPOLOGY),
            (on_one_host(*_XGMI, *_PAIR), "the logs show no rings: they need NCCL_DEBUG=INFO"),
        ],
    ),
    "C5f": LogRuleCase(
        fires=on_one_host(RCCL, *_PCIE, *_PAIR, channel(0, 1, "P2P/IPC")),
        says="P2P goes over PCIe (PHB, 12 GB/s as the library counts it): on Radeon cards that can "
        "be slower than shared memory",
        severity="low",
        shown=("via P2P/IPC", "(4/12.0/PHB)"),
        quiet=on_one_host(RCCL, *_XGMI, *_PAIR, channel(0, 1, "P2P/IPC")),
        blind=[
            (ANY, NO_CONNECTION),
            (on_one_host(*_PAIR, channel(0, 1, "P2P/IPC")), NO_TOPOLOGY),
            (on_one_host(*_PCIE, *_PAIR, channel(0, 1, "P2P/IPC")), NO_LIBRARY),
        ],
    ),
    "L2": LogRuleCase(
        fires=two_rails(0, 1, 0, 0, 0, 0, 0, 0),
        says="network devices carry unequal loads: on n0 device 0 has 7 connections, device 1 has "
        "1 (2 of 2 hosts)",
        severity="medium",
        shown=("via NET/IB/0", "via NET/IB/1"),
        quiet=two_rails(0, 1, 0, 1),
        blind=[
            (ANY, NO_CONNECTION),
            (on_two_hosts(via="NET/Socket/0"), NO_RDMA),
            (
                two_rails(0, 1)[:5],
                "of no host the logs hold all ranks: its devices cannot be compared",
            ),
        ],
    ),
    "L11": LogRuleCase(
        fires=on_one_host(
            RCCL, *_XGMI, *_PAIR, "32 coll channels, 32 collnet channels, 0 nvls channels, "
            "32 p2p channels, 4 p2p channels per peer",
        ),
        says="the communicator has 2 GPUs of a full mesh: each uses 1 of its 7 xGMI links",
        severity="low",
        shown=("+ XGMI[48.0] - GPU/0-2000",),
        quiet=on_one_host(
            RCCL, *_XGMI, *_PAIR, "112 coll channels, 112 collnet channels, 0 nvls channels, "
            "112 p2p channels, 4 p2p channels per peer",
        ),
        blind=[(ANY, NO_TOPOLOGY)],
    ),
}  # fmt: skip
