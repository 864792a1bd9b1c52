"""Hangs by the messages of PyTorch's watchdog: they name those who wait, not who is the cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from commscope.logs.hang_model import Hang, Side, named

_Row = dict[str, Any]
_UNKNOWN = "of ranks without a message nothing is known"


def hangs_of_watchdog(hangs: pa.Table) -> list[Hang]:
    """One for all ranks that time out in the same process group."""
    groups: dict[str | None, dict[int, _Row]] = {}
    for rank, row in _by_rank(hangs.to_pylist()).items():
        groups.setdefault(row["group"], {})[rank] = row
    return [_hang(group, rows) for group, rows in groups.items()]


def _by_rank(rows: Sequence[_Row]) -> dict[int, _Row]:
    """What several messages say of the first operation that timed out on a rank."""
    found: dict[tuple[int, int], _Row] = {}
    for row in rows:
        if row["rank"] is None or row["seq"] is None:
            continue
        known = found.setdefault((row["rank"], row["seq"]), dict.fromkeys(row))
        known.update({name: value for name, value in row.items() if known[name] is None})
    first: dict[int, _Row] = {}
    for (rank, _), row in sorted(found.items(), key=lambda item: item[0]):
        first.setdefault(rank, row)
    return first


def _hang(group: str | None, rows: Mapping[int, _Row]) -> Hang:
    looks: dict[tuple[Any, ...], list[int]] = {}
    for rank, row in rows.items():
        looks.setdefault((row["seq"], row["op"], row["elements_in"]), []).append(rank)
    sides = tuple(_side(ranks, rows) for ranks in looks.values())
    lowest = min(row["seq"] for row in rows.values())
    behind = tuple(sorted(rank for rank, row in rows.items() if row["seq"] == lowest))
    name = "a process group" if group is None else f"process group {group}"
    if len({row["seq"] for row in rows.values()}) > 1:
        kind, suspects = "behind", behind
        says = (
            f"ranks time out at different operations: {named(behind)} at {lowest:,}, others later"
        )
    elif len(looks) > 1:
        kind, suspects = "mismatch", _odd(sides)
        said = "; ".join(f"{named(s.ranks, 'call')} {s.op or 'it'} of {s.size}" for s in sides[:3])
        says = f"ranks part at operation {lowest:,}: {said}"
    else:
        kind, suspects = "stuck", ()
        says = f"{named(rows, 'wait')} in operation {lowest:,}, {_called(sides[0])}; {_UNKNOWN}"
    waiting = tuple(sorted(set(rows) - set(suspects)))
    return Hang(
        "watchdog", kind, name, None, lowest, suspects, waiting, (), sides,
        f"{name}: {says}{_queued(rows)}",
    )  # fmt: skip


def _odd(sides: Sequence[Side]) -> tuple[int, ...]:
    """Those who are fewer; all where none are."""
    ordered = sorted(sides, key=lambda side: len(side.ranks))
    if len(ordered[0].ranks) == len(ordered[-1].ranks):
        return tuple(sorted(rank for side in ordered for rank in side.ranks))
    return tuple(sorted(rank for side in ordered[:-1] for rank in side.ranks))


def _queued(rows: Mapping[int, _Row]) -> str:
    """How many operations wait behind it."""
    waiting = [
        row["last_enqueued"] - row["last_completed"]
        for row in rows.values()
        if row["last_enqueued"] is not None and row["last_completed"] is not None
    ]
    return f"; up to {max(waiting):,} operations are enqueued and not completed" if waiting else ""


def _called(side: Side) -> str:
    return f"{side.op or 'of an unknown kind'}{f' of {side.size}' if side.size else ''}"


def _side(ranks: Sequence[int], rows: Mapping[int, _Row]) -> Side:
    row = rows[ranks[0]]
    size = None if row["elements_in"] is None else f"{row['elements_in']:,} elements"
    op = None if row["op"] is None else row["op"].strip("_").lower()
    return Side(tuple(sorted(ranks)), op, size, None, f"{row['file']}:{row['line']}")
