"""Cases of the rules on what failed, hangs or takes long."""

from __future__ import annotations

from log_rule_cases import (
    ANY,
    NO_COMMUNICATOR,
    NO_LIBRARY,
    NO_RECORD,
    NOTHING_READ,
    RCCL,
    LogRuleCase,
    begun,
    call,
    completed,
    info,
    warn,
)

TIMEOUT = (
    "[rank{rank}]:[E1206 18:44:12.7 ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn={count}, "
    "NumelOut={count}, Timeout(ms)=600000) ran for 600061 milliseconds before timing out."
)
NO_CALLS = "the logs show no calls: they need NCCL_DEBUG_SUBSYS=INIT,ENV,COLL"
ONE_CALLER = "the logs hold calls of one rank of each communicator only"


def timeout(rank: int, seq: int = 7, count: int = 8) -> str:
    """What the watchdog of a rank says."""
    return TIMEOUT.format(rank=rank, seq=seq, count=count)


def calls(*of_ranks: list[str]) -> list[str]:
    """Ranks of one communicator, each a process, and their calls."""
    lines = []
    for rank, mine in enumerate(of_ranks):
        lines += info("n1", 10 + rank, begun(rank, len(of_ranks)), *mine)
    return lines


_TIMED = "Init timings - ncclCommInitRank: rank 0 nranks 2 total {} (kernels {}, bootstrap {})"
_CHATTER = "pre-adjustment threadThreshold:512 nBytes:4 nc:1"
_COMPLETION = (
    "NET/IB : Got completion from peer 192.0.2.7<5> with status={} opcode=0 len=0 vendor err 129 "
    "(Send) hca mlx5_0"
)


CASES = {
    "L1": LogRuleCase(
        fires=warn("n1", 1, 'Missing "iommu=pt" from kernel command line which can lead to'),
        says="the kernel runs without iommu=pt, which can lose P2P or hang",
        severity="medium",
        shown=('Missing "iommu=pt"',),
        quiet=warn("n1", 1, "Something that nobody knows"),
        blind=[(NOTHING_READ, NO_RECORD)],
    ),
    "L3": LogRuleCase(
        fires=[timeout(0), timeout(2)],
        says="the watchdog gave up ALLREDUCE 7 after 600.1 s on ranks 0, 2: all were at the same "
        "operation, so it began and did not end: a rank that never came, or the network",
        severity="high",
        shown=("[rank0]", "[rank2]"),
        quiet=ANY,
        blind=[(NOTHING_READ, NO_RECORD)],
    ),
    "L4": LogRuleCase(
        fires=calls(
            [call(0, 26), call(0, 27)],
            [call(1, 26), call(1, 27, "AllGather", 9, 0)],
            [call(2, 26), call(2, 27)],
        ),
        says="ranks of the communicator call different operations from opCount 0x1b on: rank 1 "
        "all_gather of 9 int8, the others all_reduce of 8 float32 (sum)",
        severity="high",
        shown=("AllGather: opCount 1b", "AllReduce: opCount 1b"),
        rank=1,
        quiet=calls([call(0, 26), call(0, 27)], [call(1, 26)], [call(2, 26), call(2, 27)]),
        blind=[(ANY, NO_CALLS), (calls([call(0, 1)]), ONE_CALLER)],
    ),
    "L5": LogRuleCase(
        fires=[*calls([call(0, 1), call(0, 2)], [call(1, 1)]), timeout(0)],
        says="rank 1 of the communicator made 1 call less than the one that is furthest: the last "
        "is all_reduce of 8 float32 (sum)",
        severity="high",
        shown=("opCount 1 ", "opCount 2 "),
        rank=1,
        quiet=calls([call(0, 1), call(0, 2)], [call(1, 1)]),
        blind=[(ANY, NO_CALLS), (calls([call(0, 1)]), ONE_CALLER)],
    ),
    "L6": LogRuleCase(
        fires=[*info("n1", 1, begun(0), completed(0)), *info("n1", 2, begun(1))],
        says="the initialisation of the communicator did not finish on rank 1, on 1 other it did",
        severity="high",
        shown=("rank 1 nranks 2",),
        quiet=[*info("n1", 1, begun(0), completed(0)), *info("n1", 2, begun(1), completed(1))],
        blind=[
            (ANY, NO_COMMUNICATOR),
            (
                info("n1", 1, "comm 0x10 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0"),
                "the logs do not say where an initialisation starts",
            ),
        ],
    ),
    "L7": LogRuleCase(
        fires=warn("n1", 1, _COMPLETION.format(5), _COMPLETION.format(12)),
        says="RDMA sends failed with status 12 (the peer did not answer: retries exceeded), peer "
        "192.0.2.7<5> (n1)",
        severity="high",
        shown=("status=12",),
        quiet=info(
            "n1", 1, "Call to mlx5dv_get_data_direct_sysfs_path failed with error No such device"
        ),
        blind=[(NOTHING_READ, NO_RECORD)],
    ),
    "L8": LogRuleCase(
        fires=[
            *warn("n1", 1, "socketProgress: Connection closed by remote peer n2<5>"),
            *info("n2", 2, "transport/p2p.cc:709 -> 1"),
            *warn("n2", 2, "Cuda failure 'invalid argument'"),
        ],
        says="a process (n2) failed first with HIP or CUDA error: Cuda failure 'invalid argument'; "
        "1 process followed",
        severity="high",
        shown=("Cuda failure", "p2p.cc:709"),
        quiet=info("n1", 1, "/src/transport/net_ib.cc:652 -> 2"),
        blind=[(NOTHING_READ, NO_RECORD)],
    ),
    "L9": LogRuleCase(
        fires=info("n1", 1, begun(0), _TIMED.format("9.00", "1.00", "7.50")),
        says="an initialisation takes 9.00 s, 83.3 % of it bootstrap: waiting for a rank that "
        "starts late",
        severity="medium",
        shown=("Init timings",),
        rank=0,
        quiet=info("n1", 1, begun(0), _TIMED.format("4.66", "4.32", "0.02")),
        blind=[
            (
                ANY,
                "the logs tell no time of an initialisation: NCCL from 2.22 on does, with INFO",
            )
        ],
    ),
    "L10": LogRuleCase(
        fires=info("n1", 1, begun(0), *[_CHATTER] * 9),
        says="90.0 % of the records (9) are those on channels and thresholds that RCCL 2.27 writes "
        "at each call: logging slows the job",
        severity="low",
        shown=(),
        quiet=info("n1", 1, begun(0), *[completed(0)] * 9, _CHATTER),
        blind=[(NOTHING_READ, NO_RECORD)],
    ),
    "L12": LogRuleCase(
        fires=info("n1", 1, RCCL, begun(0), begun(1)),
        says="one process (pid 1) drives 2 GPUs",
        severity="medium",
        shown=("rank 0 nranks", "rank 1 nranks"),
        quiet=[*info("n1", 1, RCCL, begun(0)), *info("n1", 2, begun(1))],
        blind=[(ANY, NO_COMMUNICATOR), (info("n1", 1, begun(0), begun(1)), NO_LIBRARY)],
    ),
}
