"""Hangs by the messages of PyTorch's watchdog: they name those who wait, not who is the cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from commscope.logs.hang_model import Hang, Side
from commscope.units import span
from commscope.wording import rank_list

Entry = Mapping[str, Any]

_NS_PER_MS = 10**6
_MOST_RANKS = 6
_ALONE = "no other rank reported, so look for what it waits for or skipped"
_TOGETHER = (
    "all were at the same operation, so it began and did not end: a rank that never came, or the "
    "network"
)


def hangs_of_watchdog(hangs: pa.Table) -> list[Hang]:
    """One for all ranks that time out in the same process group."""
    return [hang_of(reports) for reports in reports_of_watchdog(hangs)]


def reports_of_watchdog(hangs: pa.Table) -> list[list[Entry]]:
    """Of each process group the reports of its ranks, those of the earliest operation first.

    A report is all that was said of the first operation that timed out on a rank.
    """
    groups: dict[str | None, dict[int, Entry]] = {}
    for entry in sorted(_entries(hangs.to_pylist()), key=lambda it: (it["seq"], it["rank"])):
        groups.setdefault(entry["group"], {}).setdefault(entry["rank"], entry)
    return [list(reports.values()) for reports in groups.values()]


def _entries(rows: Iterable[Entry]) -> list[dict[str, Any]]:
    """One entry a rank and operation, of all that was said of it; its group, where one is named."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for row in rows:
        if row["rank"] is not None and row["seq"] is not None:
            entry = found.setdefault((row["rank"], row["seq"]), dict(row))
            entry.update({name: value for name, value in row.items() if entry[name] is None})
    named = {entry["group"] for entry in found.values()} - {None}
    only = named.pop() if len(named) == 1 else None
    for entry in found.values():
        entry["group"] = only if entry["group"] is None else entry["group"]
    return list(found.values())


def hang_of(reports: Sequence[Entry], silent: str = "") -> Hang:
    """The verdict on the reports of a process group; ``silent`` says which ranks gave none."""
    first, ranks = reports[0], sorted(report["rank"] for report in reports)
    sides = _sides(reports)
    kind, suspects, why = _judged(reports, sides)
    waited = max(report["ran_ms"] or 0 for report in reports) * _NS_PER_MS
    after = f" after {span(waited)}" if waited else ""
    what = f"{first['op'] or 'operation'} {first['seq']:,}{_queued(reports)}{after}"
    return Hang(
        "watchdog",
        kind,
        "a process group" if first["group"] is None else f"process group {first['group']}",
        None,
        first["seq"],
        suspects,
        tuple(rank for rank in ranks if rank not in suspects),
        (),
        sides,
        f"the watchdog gave up {what} on {rank_list(ranks, _MOST_RANKS)}{silent}: {why}",
    )


def _queued(reports: Sequence[Entry]) -> str:
    queued = max((report["last_enqueued"] or 0) - report["seq"] for report in reports)
    return f" ({queued:,} more queued behind it)" if queued > 0 else ""


def _judged(reports: Sequence[Entry], sides: Sequence[Side]) -> tuple[str, tuple[int, ...], str]:
    """The kind of hang, the ranks to look at first, and what the messages say together."""
    first, last = reports[0], reports[-1]
    if first["seq"] != last["seq"]:
        behind = _ranks_with(reports, "seq", first["seq"])
        others = f"others went on to {last['seq']:,}, so their code took different ways"
        return "behind", behind, f"{rank_list(behind, _MOST_RANKS)} stopped first, {others}"
    told = [side for side in sides if side.op is not None]
    if len(told) > 1:
        return "mismatch", _odd(told), "the ranks do not agree on operation or size"
    completed = {it["last_completed"] for it in reports if it["last_completed"] is not None}
    if len(completed) > 1:
        behind = _ranks_with(reports, "last_completed", min(completed))
        return "behind", behind, f"{rank_list(behind, _MOST_RANKS)} completed less than the others"
    if len(reports) == 1:
        return "stuck", (first["rank"],), _ALONE
    return "stuck", (), _TOGETHER


def _ranks_with(reports: Sequence[Entry], name: str, value: int) -> tuple[int, ...]:
    return tuple(sorted(report["rank"] for report in reports if report[name] == value))


def _odd(sides: Sequence[Side]) -> tuple[int, ...]:
    """Those who are fewer; all where none are."""
    ordered = sorted(sides, key=lambda side: len(side.ranks))
    if len(ordered[0].ranks) == len(ordered[-1].ranks):
        return tuple(sorted(rank for side in ordered for rank in side.ranks))
    return tuple(sorted(rank for side in ordered[:-1] for rank in side.ranks))


def _sides(reports: Sequence[Entry]) -> tuple[Side, ...]:
    """The ranks by operation and size."""
    looks: dict[tuple[Any, ...], list[Entry]] = {}
    for report in reports:
        look = (report["seq"], report["op"], report["elements_in"], report["elements_out"])
        looks.setdefault(look, []).append(report)
    return tuple(map(_side, looks.values()))


def _side(reports: Sequence[Entry]) -> Side:
    first = reports[0]
    size = None if first["elements_in"] is None else f"{first['elements_in']:,} elements"
    op = None if first["op"] is None else first["op"].strip("_").lower()
    ranks = tuple(sorted(report["rank"] for report in reports))
    return Side(ranks, op, size, None, f"{first['file']}:{first['line']}")
