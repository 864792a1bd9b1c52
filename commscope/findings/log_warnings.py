"""Rules on the library's own warnings: what each means, and what mends it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commscope.findings.log_case import LogCase, Row, quotes
from commscope.findings.log_sources import (
    MI300A_NOTES,
    NO_GDR,
    SLINGSHOT,
    UCX,
    USAGE_TIPS,
)
from commscope.findings.model import Advice, Grade, Measured
from commscope.findings.rule import NOTHING, LogDraft, LogRule, Outcome, Rule


@dataclass(frozen=True, slots=True)
class Known:
    """A warning that is known, the rule that is about it, and what the first rule here says.

    ``says`` is null where another rule looks at it; ``{named}`` in it is what the pattern's group
    matches, and ``{hosts}`` of which hosts it was said. ``on_several_hosts`` is how bad it is then.
    """

    pattern: str
    rule: str
    says: str | None = None
    severity: Grade = "low"
    on_several_hosts: Grade | None = None
    advice: Advice | None = None


_IOMMU = Advice(
    "Boot the hosts with iommu=pt (and amd_iommu=on on AMD CPUs).",
    "Without it P2P may be lost or hang; NCCL_P2P_DISABLE=1 is a slow way out until then.",
    MI300A_NOTES,
)
#: The first that matches a warning holds.
KNOWN = (
    Known(r"NUMA auto balancing", "S2"),
    Known(
        r'Missing "(amd_iommu=on|iommu=pt)"',
        "L1",
        "the kernel{hosts} runs without {named}, which can lose P2P or hang",
        "medium",
        advice=_IOMMU,
    ),
    Known(
        r'Missing "HSA_FORCE_FINE_GRAIN_PCIE=1"',
        "L1",
        "RCCL asks for HSA_FORCE_FINE_GRAIN_PCIE=1, which older ROCm needs over PCIe",
        "low",
        advice=Advice(
            "Ignore it where GPUs are linked by xGMI, and from ROCm 5.7 on.",
            "Only P2P over PCIe on older ROCm needs it, and it is known to break plugins.",
            UCX,
        ),
    ),
    Known(
        r"Failed to open libibverbs",
        "C5b",
        "libibverbs could not be opened: no RDMA",
        "low",
        advice=Advice(
            "Install libibverbs and the NIC's provider library in the container if the job is to "
            "span hosts.",
            "Between hosts the library has only TCP without it.",
            "https://github.com/ROCm/ROCm/issues/5656",
        ),
    ),
    Known(
        r"GDRDMA not enabled",
        "C5c",
        "the library says that GPUDirect RDMA is off",
        "low",
        "medium",
        Advice(
            "Load the peer-memory driver or use DMA-BUF (NCCL_DMABUF_ENABLE=1); turn ACS off.",
            "Between hosts each message is copied through host memory without it.",
            NO_GDR,
        ),
    ),
    # Off for many pairs of a GPU and a distant network device, with no harm.
    Known(r"GPU Direct RDMA Disabled for", "C5c"),
    Known(
        r"Could not enable P2P|P2P is disabled between NVLINK",
        "C5a",
        "the library could not enable P2P between GPUs of a host",
        "medium",
        advice=Advice(
            "Give the container /dev/kfd and the render devices of all GPUs, boot with iommu=pt, "
            "turn ACS off.",
            "Without P2P data goes through host memory.",
            MI300A_NOTES,
        ),
    ),
    Known(
        r"MSCCL\+\+: Cannot enable",
        "L1",
        "MSCCL++ was asked for and cannot be used",
        "low",
        advice=Advice(
            "Unset RCCL_MSCCLPP_ENABLE, or meet what the message names.",
            "It serves small messages on one host only, and is off by default from 2.27.7 on.",
            USAGE_TIPS,
        ),
    ),
    Known(
        r'Missing "',
        "L1",
        "RCCL misses a setting of the host",
        "low",
        advice=Advice(
            "Set what the message names, or find out that the hardware does not need it.",
            "RCCL checks the host as it starts, and warns of what has caused trouble before.",
            SLINGSHOT,
        ),
    ),
    Known(r"Got completion |Got async event|Call to ibv_\w+ failed|ibv_\w+ failed", "L7"),
    Known(
        r"Duplicate GPU detected|Connection closed by|Proxy Call to rank|Socket recv failed"
        r"|Failed to execute operation|Error encountered progressing|Ipc\w+ failed"
        r"|(?:HIP|Cuda|CUDA) failure|^Failed: | -> \d+$|unhandled \w+ error",
        "L8",
    ),
)
_COMPILED = tuple((re.compile(known.pattern), known) for known in KNOWN)


def known_of(text: str) -> Known | None:
    """What is known of a warning; null where nothing is."""
    return next((known for pattern, known in _COMPILED if pattern.search(text)), None)


@lru_cache(maxsize=4096)
def rule_of_warning(text: str) -> str | None:
    """The rule that is about a warning; null where none is."""
    known = known_of(text)
    return None if known is None else known.rule


def messages(case: LogCase) -> str | None:
    """Anything that the library says when it warns."""
    if case.summary.coverage.records:
        return None
    return "no record in the logs tells anything"


def look_balancing(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """S2: NUMA balancing of the kernel."""
    rows = case.said(r"NUMA auto balancing")
    if not rows:
        return NOTHING
    says = f"the kernel{_where(case, rows)} balances memory between NUMA nodes"
    return Outcome((LogDraft(says, "medium", quotes(*rows[:1])),))


def _where(case: LogCase, rows: Sequence[Row]) -> str:
    """Of how many hosts something was said."""
    texts = {row["text"] for row in rows}
    hosts = {row["host"] for row in case.messages if row["text"] in texts and row["host"]}
    every = len(case.summary.hosts)
    if len(hosts) == every:
        return " of all hosts" if every > 1 else ""
    return f" of {len(hosts):,} of {every:,} hosts" if hosts else ""


def look_warnings(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L1: known warnings that no other rule is about, each kind once."""
    found: dict[str, tuple[Known, list[Row]]] = {}
    for row in case.summary.warnings:
        known = known_of(row["text"])
        if known is not None and not _is_told(case, known):
            found.setdefault(known.pattern, (known, []))[1].append(row)
    drafts = tuple(
        _draft(case, known, known.says, rows)
        for known, rows in found.values()
        if known.says is not None
    )
    return Outcome(drafts) if drafts else NOTHING


def _is_told(case: LogCase, known: Known) -> bool:
    """Whether the rule that the warning is for finds something to say of connections."""
    transports = {"C5a": "SHM", "C5b": "NET/Socket", "C5c": r"NET/(?!Socket)"}
    return known.rule in transports and bool(case.transports(transports[known.rule]).any())


def _draft(case: LogCase, known: Known, says: str, rows: Sequence[Row]) -> LogDraft:
    count = sum(row["count"] for row in rows)
    severity = known.severity
    if known.on_several_hosts is not None and case.spans_hosts:
        severity = known.on_several_hosts
    if known.advice is _IOMMU and _is_broken(case):
        severity = "high"
    pattern = re.compile(known.pattern)
    named = {match[1] for row in rows if pattern.groups and (match := pattern.search(row["text"]))}
    return LogDraft(
        says.format(named=" and ".join(sorted(named)), hosts=_where(case, rows)),
        severity,
        quotes(*rows[:2]),
        measured={"warnings": Measured(count, "count")},
        advice=() if known.advice is None else (known.advice,),
    )


def _is_broken(case: LogCase) -> bool:
    """Whether what a missing setting can lead to shows in the logs."""
    failed = any(one.aborted for one in case.communicators)
    return failed or bool(case.summary.hangs) or bool(case.transports("SHM").any())


RULES: tuple[LogRule, ...] = (
    Rule(
        "S2", "log", "NUMA balancing",
        "Does the kernel move memory of the job between NUMA nodes?",
        look_balancing,
        (
            Advice(
                "Set kernel.numa_balancing=0 on all hosts.",
                "Its scans stop processes for milliseconds at random: ranks arrive late by turns.",
                "https://github.com/ROCm/rccl/pull/696",
            ),
        ),
        needs=(messages,),
    ),
    Rule(
        "L1", "log", "Warnings of the library",
        "What does the library itself warn of, and what mends it?",
        look_warnings,
        tuple(dict.fromkeys(known.advice for known in KNOWN if known.advice is not None)),
        needs=(messages,),
    ),
)  # fmt: skip
