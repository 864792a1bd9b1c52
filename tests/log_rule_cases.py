"""Small logs, and what a rule must say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from log_samples import joined, read_text

from commscope.findings.log_case import LogCase
from commscope.findings.log_rules import BUILT_IN_LOG, look_at_logs
from commscope.findings.model import Finding, Grade, Looked
from commscope.logs.summary import summarize

Lines = Sequence[str]

#: A record that belongs to a table, and tells no rule anything.
ANY = ("n1:1:1 [0] NCCL INFO Connected all rings",)
#: A record that belongs to no table.
NOTHING_READ = ("n1:1:1 [0] NCCL INFO RAS client listening socket at 127.0.0.1<28028>",)
NO_CONNECTION = "the logs show no connection between ranks: they need NCCL_DEBUG=INFO"
NO_TOPOLOGY = "the logs show no topology: they need NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH"
NO_SETTING = "the logs name no setting: none is set, or NCCL_DEBUG_SUBSYS lacks ENV"
NO_LIBRARY = "the logs do not say whether this is RCCL or NCCL"
NO_RDMA = "no connection in the logs goes over a network with RDMA"
NO_RECORD = "no record in the logs tells anything"
NO_COMMUNICATOR = "the logs tell of no communicator: they need NCCL_DEBUG=INFO"
RCCL = "RCCL version : 2.22.3-HEAD:7d8d67c"


def info(host: str, pid: int, *messages: str) -> list[str]:
    """Records of one process."""
    return [f"{host}:{pid}:{pid} [0] NCCL INFO {message}" for message in messages]


def warn(host: str, pid: int, *messages: str) -> list[str]:
    """Warnings of one process."""
    return [f"{host}:{pid}:{pid} [0] /src/init.cc:1 NCCL WARN {message}" for message in messages]


def begun(rank: int, nranks: int = 2, *, bus: str = "", comm_id: str = "0xabc") -> str:
    """That a rank begins the initialisation; its communicator is at ``0x<rank>0``."""
    return (
        f"ncclCommInitRank comm 0x{rank + 1:x}0 rank {rank} nranks {nranks} cudaDev 0 nvmlDev 0 "
        f"busId {bus or f'{rank + 1}000'} commId {comm_id} - Init START"
    )


def completed(rank: int, nranks: int = 2) -> str:
    """That a rank completes the initialisation."""
    return begun(rank, nranks).replace("START", "COMPLETE")


def placed(rank: int, nranks: int, nnodes: int, local: int) -> str:
    """On how many hosts a communicator is, and how many of its ranks are on this one."""
    return (
        f"comm 0x{rank + 1:x}0 rank {rank} nRanks {nranks} nNodes {nnodes} localRanks {local} "
        f"localRank {rank % local} MNNVL 0"
    )


def channel(src: int, dst: int, via: str, number: int = 0, *, own: int | None = None) -> str:
    """A connection, as its sender or the rank given writes it."""
    side = "" if not via.startswith("NET") else " [send]" if own in (None, src) else " [receive]"
    rank = src if own is None else own
    ends = f"{src}[{src}] -> {dst}[{dst}]{side}"
    return f"Channel {number:02d}/0 : {ends} via {via} comm 0x{rank + 1:x}0 nRanks 02"


def call(rank: int, number: int, what: str = "AllReduce", count: int = 8, datatype: int = 7) -> str:
    """A call of a collective."""
    return (
        f"{what}: opCount {number:x} sendbuff 0x1 recvbuff 0x2 count {count} datatype {datatype} "
        f"op 0 root 0 comm 0x{rank + 1:x}0 [nranks=2] stream 0x3"
    )


@dataclass(frozen=True)
class LogRuleCase:
    """Logs in which a rule fires, their nearest innocent relative, and those it cannot judge.

    ``shown`` are parts of the lines that the finding quotes, in their order.
    """

    fires: Lines
    says: str
    severity: Grade
    shown: Sequence[str]
    quiet: Lines
    blind: Sequence[tuple[Lines, str]]
    rank: int | None = None


def examine_log(
    *files: Lines, limits: Mapping[str, float] | None = None
) -> tuple[tuple[Finding, ...], Mapping[str, Looked]]:
    """What all rules find in files of these lines, and how each of them ended."""
    logs = read_text(*(joined(lines) for lines in files))
    findings, looked = look_at_logs(LogCase(logs, summarize(logs)), BUILT_IN_LOG, limits or {})
    return findings, {one.rule: one for one in looked}


def found_by(rule: str, *files: Lines, limits: Mapping[str, float] | None = None) -> list[Finding]:
    """What one rule finds."""
    return [one for one in examine_log(*files, limits=limits)[0] if one.rule == rule]


def assert_log_fires(rule: str, case: LogRuleCase) -> None:
    """The rule gives the finding that it should, first of all of its own."""
    finding = found_by(rule, case.fires)[0]
    assert (finding.says, finding.severity, finding.rank) == (case.says, case.severity, case.rank)
    lines = [case.fires[quote.line - 1] for quote in finding.quotes]
    assert len(lines) == len(case.shown)
    for part, line in zip(case.shown, lines):
        assert part in line
    assert finding.advice


def assert_log_quiet(rule: str, lines: Lines) -> None:
    """The rule looks, and finds nothing."""
    findings, looked = examine_log(lines)
    assert [one.says for one in findings if one.rule == rule] == []
    assert looked[rule].result == "nothing"


def assert_log_blind(rule: str, lines: Lines, reason: str) -> None:
    """The rule says why it cannot look."""
    looked = examine_log(lines)[1][rule]
    assert (looked.result, looked.says) == ("could_not_look", reason)
