"""Rules on jobs that hang: the watchdog, calls that do not agree, ranks that stay behind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from commscope.findings.log_calls import Member, first_mismatch, rows_of
from commscope.findings.log_case import LogCase, Row, joined, quotes
from commscope.findings.log_warnings import messages, rule_of_warning
from commscope.findings.model import Advice, Grade, Measured
from commscope.findings.rule import NOTHING, Limit, LogDraft, LogRule, Outcome, Rule
from commscope.findings.wording import counted
from commscope.units import span

_NS_PER_MS = 10**6


# L3: the watchdog of PyTorch


def look_watchdog(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L3: operations that PyTorch's watchdog gave up."""
    entries = _entries(case.summary.hangs)
    if not entries:
        return NOTHING
    groups: defaultdict[str | None, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        groups[entry["group"]].append(entry)
    return Outcome(tuple(_hang(case, entries) for entries in groups.values()))


def _entries(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One entry a rank and operation, of all that was said of it; its group, where one is named."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for row in rows:
        entry = found.setdefault((row["rank"], row["seq"]), dict(row))
        entry.update({name: value for name, value in row.items() if entry.get(name) is None})
    named = {entry["group"] for entry in found.values()} - {None}
    only = named.pop() if len(named) == 1 else None
    for entry in found.values():
        entry["group"] = entry["group"] if entry["group"] is not None else only
    return list(found.values())


def _hang(case: LogCase, entries: Sequence[dict[str, Any]]) -> LogDraft:
    ordered = sorted(entries, key=lambda entry: (entry["seq"], entry["rank"]))
    first = ordered[0]
    suspect, why = _suspect(ordered)
    waited = max((entry["ran_ms"] or 0 for entry in entries), default=0) * _NS_PER_MS
    after = f" after {span(waited)}" if waited else ""
    ranks = sorted({entry["rank"] for entry in entries})
    silent = _silent(case, ranks)
    queued = max((entry["last_enqueued"] or 0) - entry["seq"] for entry in entries)
    behind = f" ({queued:,} more queued behind it)" if queued > 0 else ""
    return LogDraft(
        f"the watchdog gave up {_named(first)}{behind}{after} on {_ranks(ranks)}{silent}: {why}",
        "high",
        quotes(first, *ordered[1:3]),
        suspect,
        {"seq": Measured(first["seq"], "count"), "ranks": Measured(len(ranks), "count")},
    )


def _suspect(ordered: Sequence[dict[str, Any]]) -> tuple[int | None, str]:
    """The rank to look at, and what the messages say together."""
    looks = {(e["op"], e["elements_in"], e["elements_out"]) for e in ordered if e["op"] is not None}
    numbers = {entry["seq"] for entry in ordered}
    first = ordered[0]
    if len(numbers) > 1:
        behind = [entry["rank"] for entry in ordered if entry["seq"] == first["seq"]]
        return first["rank"], (
            f"{_ranks(behind)} stopped first, others went on to {ordered[-1]['seq']:,}, so their "
            "code took different ways"
        )
    if len(looks) > 1:
        return None, "the ranks do not agree on operation or size"
    completed = {e["last_completed"] for e in ordered if e["last_completed"] is not None}
    if len(completed) > 1:
        least = min(completed)
        behind = [e["rank"] for e in ordered if e["last_completed"] == least]
        return behind[0], f"{_ranks(behind)} completed less than the others"
    if len(ordered) == 1:
        return first["rank"], "no other rank reported, so look for what it waits for or skipped"
    return None, (
        "all were at the same operation, so it began and did not end: a rank that never came, or "
        "the network"
    )


def _named(entry: Mapping[str, Any]) -> str:
    return f"{entry['op'] or 'operation'} {entry['seq']:,}"


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {joined(ranks, most=6)}"


def _silent(case: LogCase, ranks: Sequence[int]) -> str:
    """Which ranks of the job did not report, where its size is known."""
    size = case.communicators[0].nranks if case.communicators else None
    if size is None or size <= len(ranks) or max(ranks) >= size:
        return ""
    return f", not on {_ranks([rank for rank in range(size) if rank not in set(ranks)])}"


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
        f"{joined(_who(row) for row in odd)} {_call(odd[0])}, the others {usual}",
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
        f"{joined(_who(case.members[member.comm]) for member in slow)} of "
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
