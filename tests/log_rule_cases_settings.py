"""Cases of the rules on what the logs hold, on hosts, versions and settings."""

from __future__ import annotations

from log_rule_cases import (
    ANY,
    NO_COMMUNICATOR,
    NO_RECORD,
    NO_SETTING,
    NOTHING_READ,
    RCCL,
    LogRuleCase,
    begun,
    call,
    info,
    warn,
)

_SETTINGS_BLIND = [(ANY, NO_SETTING)]


def setting(name: str, value: str, pid: int = 1) -> str:
    """What the library says of a variable."""
    return info("n1", pid, f"{name} set by environment to {value}")[0]


_OTHER = setting("NCCL_SOCKET_IFNAME", "eth0")
CASES = {
    "C5e": LogRuleCase(
        fires=[*info("n1", 1, RCCL), *info("n2", 2, RCCL.replace("2.22.3", "2.21.5"))],
        says="ranks use different versions of RCCL (2.21.5, 2.22.3)",
        severity="medium",
        shown=("2.22.3", "2.21.5"),
        quiet=[*info("n1", 1, RCCL), *info("n2", 2, RCCL)],
        blind=[(ANY, "the logs hold one process only")],
    ),
    "S1": LogRuleCase(
        fires=info("n1", 1, begun(0, 6)),
        says="the logs hold 1 of 6 ranks: nothing is known of the connections, calls and errors of "
        "the others",
        severity="low",
        shown=("rank 0 nranks 6",),
        quiet=[*info("n1", 1, begun(0)), *info("n1", 2, begun(1))],
        blind=[(ANY, NO_COMMUNICATOR)],
    ),
    "S2": LogRuleCase(
        fires=warn("n1", 1, "NUMA auto balancing enabled which can lead to variability"),
        says="the kernel balances memory between NUMA nodes",
        severity="medium",
        shown=("NUMA auto balancing",),
        quiet=ANY,
        blind=[(NOTHING_READ, NO_RECORD)],
    ),
    "S3": LogRuleCase(
        fires=info("n1", 1, RCCL.replace("2.22.3", "2.28.3"), call(0, 1, "AllGather")),
        says="RCCL 2.28.3: all_gather below 1 MiB is slow, for the direct algorithm it takes "
        "(calls of this kind are in the logs)",
        severity="medium",
        shown=("RCCL version", "AllGather"),
        quiet=info("n1", 1, RCCL, call(0, 1, "AllGather")),
        blind=[(ANY, "the logs do not say which library this is")],
    ),
    "S4": LogRuleCase(
        fires=[setting("NCCL_ALGO", "Ring"), setting("NCCL_PROTO", "Simple")],
        says="NCCL_ALGO=Ring, NCCL_PROTO=Simple decides in place of the library",
        severity="medium",
        shown=("NCCL_ALGO", "NCCL_PROTO"),
        quiet=[_OTHER],
        blind=_SETTINGS_BLIND,
    ),
    "S5": LogRuleCase(
        fires=[*info("n1", 1, "Using network IB", begun(0)), setting("UCX_TLS", "rc")],
        says="UCX_TLS=rc has no effect: the communicators do not use UCX",
        severity="low",
        shown=("UCX_TLS",),
        quiet=[*info("n1", 1, "Using network UCX", begun(0)), setting("UCX_TLS", "rc")],
        blind=_SETTINGS_BLIND,
    ),
    "S6": LogRuleCase(
        fires=[setting("HSA_NO_SCRATCH_RECLAIM", "1")],
        says="HSA_NO_SCRATCH_RECLAIM=1: recipes contradict each other on this setting",
        severity="low",
        shown=("HSA_NO_SCRATCH_RECLAIM",),
        quiet=[_OTHER],
        blind=_SETTINGS_BLIND,
    ),
    "S7": LogRuleCase(
        fires=[setting("TORCH_NCCL_BLOCKING_WAIT", "1")],
        says="TORCH_NCCL_BLOCKING_WAIT=1 makes the host wait in each collective",
        severity="medium",
        shown=("TORCH_NCCL_BLOCKING_WAIT",),
        quiet=[setting("TORCH_NCCL_BLOCKING_WAIT", "0")],
        blind=_SETTINGS_BLIND,
    ),
}
