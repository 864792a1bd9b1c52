"""Rules on versions: known problems of those in use, and ranks that are set up differently."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from commscope.findings.log_case import LogCase, Row, quotes, version_of
from commscope.findings.log_sources import KERNEL_6_8, NCCL_ENV
from commscope.findings.log_transport import kernel_without_gdr
from commscope.findings.model import Advice, Grade
from commscope.findings.rule import NOTHING, LogDraft, LogRule, Outcome, Rule
from commscope.wording import listed

_MIB = 1 << 20
#: Variables that differ between ranks for a reason.
_BY_RANK = re.compile(r"\w+_VISIBLE_DEVICES|\w+_FILE|UCX_NET_DEVICES|NCCL_IB_HCA|NCCL_HOSTID")


@dataclass(frozen=True, slots=True)
class KnownIssue:
    """A problem of some versions; ``holds`` gives the rows that name them, and what is affected."""

    versions: str
    holds: Callable[[LogCase], tuple[Sequence[Row], Sequence[Row]]]
    says: str
    advice: Advice


def _of(component: str, *begin: int) -> Callable[[LogCase], list[Row]]:
    return lambda case: [
        row for row in case.versions(component) if version_of(row["version"])[: len(begin)] == begin
    ]


def _calls(case: LogCase, op: str, below: int = 1 << 62) -> list[Row]:
    """Calls of an operation, smaller than so many bytes a rank."""
    return [r for r in case.summary.calls if r["op"] == op and (r["call_bytes"] or 0) < below]


def _direct_gather(case: LogCase) -> tuple[Sequence[Row], Sequence[Row]]:
    return _of("rccl", 2, 28, 3)(case), _calls(case, "all_gather", _MIB)


def _gather_without_msccl(case: LogCase) -> tuple[Sequence[Row], Sequence[Row]]:
    rows = _of("rocm", 6, 3, 0)(case) if _of("rccl", 2, 21, 5)(case) else []
    return rows, _calls(case, "all_gather", 2 * _MIB)


def _pollara(case: LogCase) -> tuple[Sequence[Row], Sequence[Row]]:
    nics = [row for row in case.nics if row["name"].startswith("ionic")]
    affected = [*_calls(case, "scatter"), *_calls(case, "all_to_all")]
    return (_of("rocm", 7, 1, 1)(case) if nics else []), affected


def _fault_injection(case: LogCase) -> tuple[Sequence[Row], Sequence[Row]]:
    rows = _of("rocm", 7, 14, 0)(case) if case.spans_hosts else []
    sizes = [r for r in case.summary.calls if 64 * _MIB <= (r["bytes"] or 0) <= 512 * _MIB]
    return rows, sizes


def _kernel(case: LogCase) -> tuple[Sequence[Row], Sequence[Row]]:
    """Only where no connection shows it: there C5c says so."""
    if not case.spans_hosts or case.transports("NET/").any():
        return (), ()
    return kernel_without_gdr(case), ()


KNOWN_ISSUES = (
    KnownIssue(
        "RCCL 2.28.3",
        _direct_gather,
        "all_gather below 1 MiB is slow, for the direct algorithm it takes",
        Advice(
            "A newer RCCL; until then compare with another algorithm (NCCL_ALGO for a test only).",
            "A regression that its own list of changes names.",
            "https://github.com/ROCm/rocm-systems/blob/develop/projects/rccl/CHANGELOG.md",
        ),
    ),
    KnownIssue(
        "RCCL 2.21.5 of ROCm 6.3.0",
        _gather_without_msccl,
        "all_gather below 2 MB takes up to twice as long, as MSCCL is off for it",
        Advice(
            "A newer RCCL, if small all_gather calls matter to the job.",
            "A known issue of this version; older ones do not have it.",
            "https://github.com/ROCm/rccl/pull/1414",
        ),
    ),
    KnownIssue(
        "ROCm 7.1.1 with Pollara network devices",
        _pollara,
        "scatter and all_to_all are slow",
        Advice(
            "ROCm 7.2.0 or later.",
            "A known issue that was resolved there.",
            "https://github.com/ROCm/legacy-rocm-build/issues/5717",
        ),
    ),
    KnownIssue(
        "ROCm 7.14.0 on several hosts",
        _fault_injection,
        "collectives of 64 MB to 512 MB may be slow, as fault injection is built in",
        Advice(
            "RCCL built with FAULT_INJECTION=OFF.",
            "A known issue of the packages; one host alone does not have it.",
            "https://github.com/ROCm/TheRock/issues/7903",
        ),
    ),
    KnownIssue(
        "RCCL up to 2.20.5 on Linux from 6.8 on, on several hosts",
        _kernel,
        "GPUDirect RDMA is not found",
        Advice(
            "RCCL from 2.21.5 (ROCm 6.3) on, or a kernel before 6.8.",
            "Data between hosts goes through host memory.",
            KERNEL_6_8,
        ),
    ),
)


def versions(case: LogCase) -> str | None:
    """The version of the library."""
    return None if case.library else "the logs do not say which library this is"


def look_known_issues(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """S3: problems that the versions in use are known for."""
    drafts = []
    for issue in KNOWN_ISSUES:
        rows, affected = issue.holds(case)
        if rows:
            seen = (
                "calls of this kind are in the logs" if affected else "see whether it matters here"
            )
            severity: Grade = "medium" if affected else "low"
            says = f"{issue.versions}: {issue.says} ({seen})"
            lines = quotes(*rows[:1], *affected[:1])
            drafts.append(LogDraft(says, severity, lines, advice=(issue.advice,)))
    return Outcome(tuple(drafts)) if drafts else NOTHING


# C5e: ranks that are set up differently


def look_different(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """C5e: versions, networks or settings that are not the same on all ranks."""
    if case.summary.processes < 2:
        return Outcome(unable="the logs hold one process only")
    drafts = [*_versions(case), *_networks(case), *_settings(case)]
    return Outcome(tuple(drafts)) if drafts else NOTHING


def _versions(case: LogCase) -> Iterator[LogDraft]:
    """Libraries of different versions, as a whole job has one."""
    for component in ("rccl", "nccl"):
        rows = case.versions(component)
        builds = {(row["version"], row["build"]): row for row in rows}
        if len({version for version, _ in builds}) > 1:
            named = listed(sorted({row["version"] for row in rows}))
            yield LogDraft(
                f"ranks use different versions of {component.upper()} ({named})",
                "medium",
                quotes(*builds.values()),
            )


def _networks(case: LogCase) -> Iterator[LogDraft]:
    for group, one in enumerate(case.communicators):
        if len(one.networks) > 1:
            rows = {r["network"]: r for r in case.members if r["group"] == group and r["network"]}
            yield LogDraft(
                f"members of {case.group_name(group)} use different networks "
                f"({listed(one.networks)})",
                "medium",
                quotes(*rows.values()),
            )
            return


def _settings(case: LogCase) -> Iterator[LogDraft]:
    """A variable with one value in some processes and another in others."""
    for name, rows in case.variables.items():
        once = sum(row["process_count"] for row in rows) <= case.summary.processes
        if len(rows) > 1 and once and not _BY_RANK.fullmatch(name):
            values = listed(str(row["value"]) for row in rows)
            yield LogDraft(f"{name} differs between processes ({values})", "low", quotes(*rows[:2]))


RULES: tuple[LogRule, ...] = (
    Rule(
        "S3", "log", "Known issues of these versions",
        "Are the versions in use known for a problem?",
        look_known_issues,
        tuple(issue.advice for issue in KNOWN_ISSUES),
        needs=(versions,),
    ),
    Rule(
        "C5e", "log", "Ranks set up differently",
        "Do versions, networks or settings differ between ranks?",
        look_different,
        (
            Advice(
                "Use the same image and the same environment on all hosts.",
                "The library does not check all of it: ranks that differ may hang or fall back to "
                "the slowest network.",
                "https://github.com/NVIDIA/nccl/issues/2428",
            ),
            Advice(
                "Interfaces that have other names on some hosts can be given as a prefix in "
                "NCCL_SOCKET_IFNAME.",
                "A rank that uses another interface may send over the slow one.",
                NCCL_ENV,
            ),
        ),
    ),
)  # fmt: skip
