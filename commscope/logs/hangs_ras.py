"""Ranks that a report of RAS finds behind, missing or dead."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from commscope.logs.hang_model import Hang, Side
from commscope.wording import rank_spans

_Row = dict[str, Any]
_MOST_SHOWN = 4
_ASK_AGAIN = "ask again: a job that goes on may be told so in passing"


def hangs_of_ras(ras: pa.Table) -> list[Hang]:
    """One for each communicator and kind of trouble."""
    rows = ras.to_pylist()
    names = {row["comm_id"]: row["nranks"] for row in rows if row["kind"] == "summary"}
    groups: defaultdict[tuple[str, str | None], list[_Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] != "summary":
            groups[row["kind"], row["comm_id"]].append(row)
    found = []
    for (kind, comm), mine in groups.items():
        nranks = names.get(comm) if comm is not None else None
        is_gone = kind in ("incomplete", "dead")
        hang = (_missing if is_gone else _behind)(comm, nranks, mine)
        if hang is not None:
            found.append(hang)
    return found


def _missing(comm: str | None, nranks: int | None, rows: Sequence[_Row]) -> Hang:
    ranks = tuple(sorted({row["rank"] for row in rows if row["rank"] is not None}))
    processes = dict.fromkeys(
        f"process {row['pid']} on {row['host']}" for row in rows if row["pid"] is not None
    )
    who = rank_spans(ranks) if ranks else ", ".join([*processes][:_MOST_SHOWN])
    name = "the job" if comm is None else f"communicator {comm}"
    says = f"{name}: {who} did not answer: look whether the process lives"
    sides = (Side(ranks, None, None, rows[0]["says"], _place(rows[0])),)
    return Hang("ras", "missing", name, nranks, None, ranks, (), (), sides, says)


def _behind(comm: str | None, nranks: int | None, rows: Sequence[_Row]) -> Hang | None:
    """Ranks that launched fewer operations than most, of the operation that differs most."""
    counts: defaultdict[str | None, Counter[int]] = defaultdict(Counter)
    for row in rows:
        if row["count"] is not None and (row["ranks"] is not None or row["kind"] == "rank"):
            counts[row["op"]][row["count"]] += row["ranks"] or 1
    differing = {op: many for op, many in counts.items() if len(many) > 1}
    if not differing:
        return None
    op = max(differing, key=lambda it: max(differing[it]) - min(differing[it]))
    front, last = max(differing[op]), min(differing[op])
    behind = [r for r in rows if r["op"] == op and r["count"] is not None and r["count"] < front]
    ranks = tuple(sorted({row["rank"] for row in behind if row["rank"] is not None}))
    count = sum(many for value, many in differing[op].items() if value < front)
    who = rank_spans(ranks) if ranks else f"{count:,} ranks"
    what = f"{op} " if op else ""
    says = (
        f"communicator {comm}: {who} launched {last:,} {what}operations, others {front:,}; "
        f"{_ASK_AGAIN}"
    )
    sides = (Side(ranks, op, None, None, _place(behind[0])),)
    return Hang(
        "ras", "behind", f"communicator {comm}", nranks, last + 1, ranks, (), (), sides, says
    )


def _place(row: _Row) -> str:
    return row["file"] if row["line"] is None else f"{row['file']}:{row['line']}"
