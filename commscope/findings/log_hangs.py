"""Rules on jobs that hang: the watchdog, calls that do not agree, ranks that stay behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from commscope.findings.log_calls import Member, first_mismatch, rows_of
from commscope.findings.log_case import LogCase, Row, quotes
from commscope.findings.log_warnings import messages, rule_of_warning
from commscope.findings.model import Advice, Grade, Measured
from commscope.findings.rule import NOTHING, Limit, LogDraft, LogRule, Outcome, Rule
from commscope.logs.hangs_watchdog import Entry, hang_of, reports_of_watchdog
from commscope.wording import counted, listed, rank_list

#: A job of more ranks is none: a damaged log says so.
_MOST_RANKS = 1 << 16


# L3: the watchdog of PyTorch


def look_watchdog(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L3: operations that PyTorch's watchdog gave up."""
    groups = reports_of_watchdog(case.table("HANGS"))
    return Outcome(tuple(_hang(case, reports) for reports in groups)) if groups else NOTHING


def _hang(case: LogCase, reports: Sequence[Entry]) -> LogDraft:
    ranks = sorted(report["rank"] for report in reports)
    verdict = hang_of(reports, _silent(case, ranks))
    return LogDraft(
        verdict.says,
        "high",
        quotes(*reports[:3]),
        verdict.suspects[0] if len(verdict.suspects) == 1 else None,
        {"seq": Measured(reports[0]["seq"], "count"), "ranks": Measured(len(ranks), "count")},
    )


def _silent(case: LogCase, ranks: Sequence[int]) -> str:
    """Which ranks of the job did not report, where its size is known."""
    size = case.communicators[0].nranks if case.communicators else None
    if size is None or size <= len(ranks) or max(ranks) >= size or size > _MOST_RANKS:
        return ""
    return f", not on {rank_list(sorted(set(range(size)) - set(ranks)), most=6)}"


# L4: calls that do not agree


def calls(case: LogCase) -> str | None:
    """Calls of more than one rank of a communicator."""
    if not case.table("CALLS").num_rows:
        return "the logs show no calls: they need NCCL_DEBUG_SUBSYS=INIT,ENV,COLL"
    if any(len(members) > 1 for members in case.callers.values()):
        return None
    return "the logs hold calls of one rank of each communicator only"


def look_mismatch(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L4: the same call of a communicator is another one on another rank."""
    drafts = []
    for group, members in case.callers.items():
        found = first_mismatch(members, numbered=any(m.is_numbered for m in members))
        if found is not None and (found.is_numbered or not case.summary.coverage.torn):
            drafts.append(_mismatch(case, group, found.rows, found.opcount))
    return Outcome(tuple(drafts)) if drafts else NOTHING


def _mismatch(
    case: LogCase, group: int, places: Mapping[int, int], opcount: int | None
) -> LogDraft:
    """``places`` is the row of CALLS of each member."""
    rows = rows_of(case.table("CALLS"), places)
    usual = Counter(_call(row) for row in rows.values()).most_common(1)[0][0]
    odd = [row for row in rows.values() if _call(row) != usual]
    other = next(row for row in rows.values() if _call(row) == usual)
    tied = len(odd) * 2 >= len(rows)
    is_sure = opcount is not None and all(case.members[comm]["comm_id"] for comm in places)
    where = f"opCount 0x{opcount:x}" if opcount is not None else "their first call that differs"
    return LogDraft(
        f"ranks of {case.group_name(group)} call different operations from {where} on: "
        f"{listed(_who(row) for row in odd)} {_call(odd[0])}, the others {usual}",
        "high",
        quotes(odd[0], other),
        None if tied else odd[0]["rank"],
        {"ranks": Measured(len(odd), "count")},
        confidence="high" if is_sure else "medium",
    )


def _call(row: Row) -> str:
    return f"{row['op']} of {row['count']:,} {row['dtype'] or 'elements'}" + (
        f" ({row['reduction']})" if row["reduction"] else ""
    )


def _who(row: Row) -> str:
    if row["rank"] is not None:
        return f"rank {row['rank']}"
    return f"process {row['pid']} of {row['host']}" if row["host"] else f"process {row['pid']}"


# L5: ranks that stay behind


def look_behind(case: LogCase, limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L5: ranks of a communicator whose calls end earlier than those of others."""
    worst = _trouble(case)
    least = limits["min_behind"] if worst == "low" else 1
    drafts: list[LogDraft] = []
    for group, members in case.callers.items():
        if not any(case.members[member.comm]["end"] == "destroyed" for member in members):
            drafts += _behind(case, group, members, least, worst)
    return Outcome(tuple(drafts)) if drafts else NOTHING


def _trouble(case: LogCase) -> Grade:
    """How surely a rank that is behind is one that others wait for."""
    if case.summary.hangs:
        return "high"
    failed = (row for row in case.summary.warnings if row["level"] in ("warn", "error"))
    if any(rule_of_warning(row["text"]) in ("L7", "L8") for row in failed):
        return "medium"
    return "low"


def _behind(
    case: LogCase, group: int, members: Sequence[Member], least: float, worst: Grade
) -> Iterator[LogDraft]:
    """One finding where the last calls of members differ by so many."""
    numbered = any(member.is_numbered for member in members)
    last = [m.last_opcount if numbered else len(m.places) for m in members]
    behind = max(last) - min(last)
    if behind < least:
        return
    slow = [member for member, number in zip(members, last) if number == min(last)]
    rows = rows_of(
        case.table("CALLS"),
        {m.comm: int(m.places[-1]) for m in (slow[0], members[last.index(max(last))])},
    )
    first = rows[slow[0].comm]
    says = (
        f"{listed(_who(case.members[member.comm]) for member in slow)} of "
        f"{case.group_name(group)} made {counted(behind, 'call')} less than the one that is "
        f"furthest: the last is {_call(first)}"
    )
    yield LogDraft(
        f"{says}; the log may have been cut there" if worst == "low" else says,
        worst,
        quotes(*rows.values()),
        first["rank"] if len(slow) == 1 else None,
        {"behind": Measured(int(behind), "count")},
        confidence="medium",
    )


RULES: tuple[LogRule, ...] = (
    Rule(
        "L3", "log", "Hang",
        "Which operation did not end, and which ranks reported it?",
        look_watchdog,
        (
            Advice(
                "Compare what the named ranks ran last (TORCH_NCCL_TRACE_BUFFER_SIZE keeps a "
                "flight recorder); at equal numbers look at the network and at silent ranks.",
                "The watchdog names those who wait; the cause is a rank that did not come, or came "
                "with another operation.",
                "https://github.com/NVIDIA/nccl/issues/1730",
            ),
        ),
        needs=(messages,),
    ),
    Rule(
        "L4", "log", "Calls that do not agree",
        "Do ranks of a communicator call different operations?",
        look_mismatch,
        (
            Advice(
                "Find where the code of the odd rank takes another way: a branch on data, an "
                "uneven last batch, parameters without gradient.",
                "Each rank of a communicator must make the same calls in the same order; else it "
                "hangs, or data is wrong.",
                "https://github.com/ROCm/rccl/issues/429",
            ),
        ),
        needs=(calls,),
    ),
    Rule(
        "L5", "log", "Ranks that stay behind",
        "Do the calls of some ranks end before those of others?",
        look_behind,
        (
            Advice(
                "Look at the rank that is behind: where its code is, whether it lives (py-spy).",
                "The others wait for it, however loud they complain.",
                "https://github.com/NVIDIA/nccl/issues/1193",
            ),
        ),
        {"min_behind": Limit(10, "count", "calls, where nothing else shows a hang")},
        needs=(calls,),
    ),
)  # fmt: skip
