"""Rules on how a job starts: initialisation, how long it takes, who does not come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from commscope.columns import where_equal
from commscope.findings.log_case import LogCase, Row, quotes
from commscope.findings.log_sources import NCCL_TROUBLE, XGMI_BLOG
from commscope.findings.log_warnings import messages
from commscope.findings.model import Advice, Grade, Measured, Quote
from commscope.findings.rule import NOTHING, Limit, LogDraft, LogRule, Outcome, Rule
from commscope.normalize.logged_communicators import Communicator
from commscope.units import percent, span
from commscope.wording import counted, rank_list


def communicators(case: LogCase) -> str | None:
    """Communicators of which the number of ranks is known."""
    if any(one.nranks is not None for one in case.communicators):
        return None
    return "the logs tell of no communicator: they need NCCL_DEBUG=INFO"


# S1: ranks that the logs lack


def look_missing(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """S1: ranks of the largest communicator without a record."""
    nranks = max(one.nranks or 0 for one in case.communicators)
    rows = [row for row in case.members if row["nranks"] == nranks]
    ranks = {row["rank"] for row in rows if row["rank"] is not None}
    seen = max(len(ranks), min(case.summary.processes, nranks), min(case.summary.ranks, nranks))
    if seen >= nranks:
        return NOTHING
    says = (
        f"the logs hold {seen:,} of {nranks:,} ranks: nothing is known of the connections, calls "
        "and errors of the others"
    )
    measured = {"missing": Measured(nranks - seen, "count")}
    return Outcome((LogDraft(says, "low", quotes(rows[0]), measured=measured),))


# L6: initialisation that does not finish

#: Of more communicators than these, the smaller ones are not told.
_MOST_UNFINISHED = 8


def look_unfinished(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L6: members that began the initialisation and did not complete it."""
    began: dict[int, list[Row]] = {}
    for row in case.members:
        if row["start_line"] and not row["complete_line"]:
            began.setdefault(row["group"], []).append(row)
    if began:
        return Outcome(
            tuple(
                _unfinished(case, group, case.communicators[group], rows)
                for group, rows in sorted(began.items())[:_MOST_UNFINISHED]
            )
        )
    if any(one.started for one in case.communicators):
        return NOTHING
    return Outcome(unable="the logs do not say where an initialisation starts")


def _unfinished(case: LogCase, group: int, one: Communicator, began: Sequence[Row]) -> LogDraft:
    absent = [rank for rank in range(min(one.nranks or 0, 1 << 16)) if rank not in one.members]
    severity, more = _how_unfinished(case, group, one, began, absent)
    ranks = sorted({row["rank"] for row in began if row["rank"] is not None})
    return LogDraft(
        f"the initialisation of {case.group_name(group)} did not finish on {rank_list(ranks)}"
        f"{more}",
        severity,
        tuple(Quote(row["file"], row["start_line"]) for row in began[:2]),
        absent[0] if len(absent) == 1 else None,
        {"waiting": Measured(len(began), "count")},
        confidence="high" if severity == "high" else "medium",
    )


def _how_unfinished(
    case: LogCase, group: int, one: Communicator, began: Sequence[Row], absent: Sequence[int]
) -> tuple[Grade, str]:
    if one.completed:
        return "high", f", on {counted(one.completed, 'other')} it did"
    if _connected(case, group) >= len(began):
        return "low", ", though all of them are connected: the log may end too early"
    if absent and len(began) > 1:
        return "high", f"; of {rank_list(absent)} there is no record at all"
    return "medium", ": they stopped on the way, or the log ends there"


def _connected(case: LogCase, group: int) -> int:
    """Members that say that their rings or trees are connected."""
    table = case.table("GRAPHS")
    table = table.append_column("group", pa.array(case.group_of(table)))
    rows = table.filter(pa.array(where_equal(table, "kind", "connected"))).to_pylist()
    return len({row["comm"] for row in rows if row["group"] == group})


# L9: slow initialisation

_PARTS = {
    "kernels": ("low", "loading of kernels, once a process"),
    "alloc": ("low", "allocating memory"),
    "bootstrap": ("medium", "waiting for a rank that starts late"),
    "allgathers": ("medium", "waiting for a rank that starts late"),
    "topo": ("medium", "finding the topology"),
    "graphs": ("medium", "choosing rings and trees"),
    "connections": ("medium", "connecting, as over a slow network"),
    "rest": ("medium", "parts that the library does not name"),
}


def timings(case: LogCase) -> str | None:
    """How long an initialisation took."""
    if any(one.slowest is not None for one in case.communicators):
        return None
    return "the logs tell no time of an initialisation: NCCL from 2.22 on does, with INFO"


def look_slow(case: LogCase, limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L9: the longest initialisation."""
    timed = [row for row in case.members if row["total_ns"] is not None]
    slowest = max(timed, key=lambda row: row["total_ns"])
    if slowest["total_ns"] <= limits["min_total_ns"]:
        return NOTHING
    part = max(_PARTS, key=lambda name: slowest[f"{name}_ns"] or 0)
    part_ns = slowest[f"{part}_ns"] or 0
    severity, meaning = _PARTS[part]
    says = f"an initialisation takes {span(slowest['total_ns'])}"
    if part_ns:
        share = percent(part_ns / slowest["total_ns"])
        says += f", {share} of it {part}: {meaning}"
    measured = {"total": Measured(slowest["total_ns"], "ns"), "part": Measured(part_ns, "ns")}
    grade: Grade = "low" if severity == "low" else "medium"
    lines = (Quote(slowest["file"], slowest["timings_line"]),)
    return Outcome((LogDraft(says, grade, lines, slowest["rank"], measured),))


# L10: the cost of logging


def look_chatter(case: LogCase, limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L10: records that RCCL writes at each call."""
    count = sum(file.counts.chatter for file in case.summary.files)
    seen = case.summary.coverage
    share = count / max(seen.records + seen.unused + seen.torn, 1)
    if share <= limits["max_share"]:
        return NOTHING
    says = (
        f"{percent(share)} of the records ({count:,}) are those on channels and thresholds that "
        "RCCL 2.27 writes at each call: logging slows the job"
    )
    return Outcome((LogDraft(says, "low", (), measured={"records": Measured(count, "count")}),))


# L12: one process with several GPUs


def look_shared_process(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L12: several ranks of a communicator in one process, on AMD."""
    if case.library is None:
        return Outcome(unable="the logs do not say whether this is RCCL or NCCL")
    ranks: dict[tuple[object, ...], list[Row]] = {}
    for row in case.members:
        if row["pid"] is not None and row["rank"] is not None:
            ranks.setdefault((row["host"], row["pid"], row["group"]), []).append(row)
    rows = max(ranks.values(), key=len, default=[])
    if case.library != "rccl" or len({row["rank"] for row in rows}) < 2:
        return NOTHING
    says = f"one process (pid {rows[0]['pid']}) drives {len(rows)} GPUs"
    measured = {"ranks": Measured(len(rows), "count")}
    return Outcome((LogDraft(says, "medium", quotes(*rows[:2]), measured=measured),))


RULES: tuple[LogRule, ...] = (
    Rule(
        "S1", "log", "Ranks without a log",
        "Do the logs hold all ranks?",
        look_missing,
        (
            Advice(
                "Give the logs of all ranks (NCCL_DEBUG_FILE=nccl.%h.%p.log writes one a process).",
                "A network connection, a call or an error may show on one end only.",
                NCCL_TROUBLE,
            ),
        ),
        needs=(communicators,),
    ),
    Rule(
        "L6", "log", "Initialisation that does not finish",
        "Did each rank complete the initialisation that it began?",
        look_unfinished,
        (
            Advice(
                "Check that all ranks live and reach each other: NCCL_SOCKET_IFNAME, firewall, and "
                "the output of ranks without a record.",
                "An initialisation ends when all its ranks have come and are connected.",
                NCCL_TROUBLE,
            ),
        ),
        needs=(communicators,),
    ),
    Rule(
        "L9", "log", "Slow initialisation",
        "How long does an initialisation take, and what takes most of it?",
        look_slow,
        (
            Advice(
                "Leave the first steps out of measurements; look at the named part, not at the "
                "collectives.",
                "It happens once, and mostly shows when ranks start, not how they communicate.",
                "https://github.com/ROCm/omnistat/pull/312",
            ),
        ),
        {"min_total_ns": Limit(5e9, "ns", "an initialisation that takes longer is said")},
        needs=(timings,),
    ),
    Rule(
        "L10", "log", "Cost of logging",
        "Does the log itself slow the job?",
        look_chatter,
        (
            Advice(
                "NCCL_DEBUG=WARN for measurements, or NCCL_DEBUG_FILE with one file a process.",
                "Some versions write gigabytes an hour, and tear the output of the job.",
                "https://github.com/ROCm/rocm-systems/pull/4703",
            ),
        ),
        {"max_share": Limit(0.2, "ratio", "of all records")},
        needs=(messages,),
    ),
    Rule(
        "L12", "log", "One process with several GPUs",
        "Does one process drive several GPUs?",
        look_shared_process,
        (
            Advice(
                "Use one process for each GPU.",
                "Launches of one process come one after the other, and so do the collectives.",
                XGMI_BLOG,
            ),
        ),
        needs=(communicators,),
    ),
)  # fmt: skip
