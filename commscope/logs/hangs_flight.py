"""Hangs by the dumps of the Flight Recorder, one a rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from commscope.logs.flight_groups import OPEN, Entry, FlightGroup, groups_of_dumps
from commscope.logs.hang_model import Hang, Side
from commscope.wording import rank_spans

#: Operations whose sizes may differ between ranks.
_UNEVEN = ("all_to_all", "alltoall", "_oop", "scatter", "gather", "coalesced")
_EVEN = ("reduce_scatter", "all_gather", "allgather")
_DONE = "completed"


def hangs_of_dumps(flight: pa.Table, groups: pa.Table) -> list[Hang]:
    """Of each process group the first collective that not all have completed.

    Groups that hang earliest come first: the others may only wait for those.
    """
    found = []
    for group in groups_of_dumps(flight, groups):
        hang = _mismatch(group) or _stuck(group)
        if hang is not None:
            found.append((_began(group, hang.seq), hang))
    return [hang for _, hang in sorted(found, key=lambda pair: pair[0])]


def _began(group: FlightGroup, seq: int | None) -> int:
    """When the operation was first called: the groups' numbers do not compare."""
    rows = (row for rank in group.entries.get(seq or 0, {}).values() for row in rank)
    return min((row["created_ns"] for row in rows if row["created_ns"] is not None), default=2**63)


def _is_done(rows: Iterable[Entry]) -> bool:
    """Whether no entry waits; one whose state is not known is not said to."""
    return not any(row["state"] in OPEN for row in rows)


def _mismatch(group: FlightGroup) -> Hang | None:
    """The first collective that ranks call differently and that some have not completed."""
    for seq in sorted(group.entries):
        by_rank = group.entries[seq]
        if all(map(_is_done, by_rank.values())):
            continue
        looks = {rank: tuple(map(_look, rows)) for rank, rows in by_rank.items()}
        if len(set(looks.values())) > 1:
            return _differing(group, seq, looks)
    return None


def _look(row: Entry) -> tuple[Any, ...]:
    """What must be equal on all ranks."""
    op = row["op"] or ""
    is_uneven = any(word in op for word in _UNEVEN) and not any(word in op for word in _EVEN)
    sizes = () if is_uneven else (row["elements_in"], row["elements_out"])
    return (op, row["input_dtypes"], *sizes)


def _differing(group: FlightGroup, seq: int, looks: Mapping[int, tuple[Any, ...]]) -> Hang:
    usual = Counter(looks.values()).most_common()
    sides = tuple(
        _side([rank for rank, it in looks.items() if it == look], group.entries[seq])
        for look, _ in usual
    )
    is_even = usual[0][1] == usual[1][1]
    suspects = {rank for side in (sides if is_even else sides[1:]) for rank in side.ranks}
    said = "; ".join(f"{rank_spans(side.ranks, 'call')} {_called(side)}" for side in sides[:3])
    says = f"ranks part at collective {seq:,}: {said}"
    return _hang(group, "mismatch", seq, _Found(suspects, set(looks) - suspects, sides, says))


@dataclass(frozen=True, slots=True)
class _Found:
    """What is different for each kind of hang."""

    suspects: Collection[int]
    waiting: Collection[int]
    sides: tuple[Side, ...]
    says: str


def _hang(group: FlightGroup, kind: str, seq: int, found: _Found) -> Hang:
    of = f"{group.name} ({len(group.members)} ranks)" if group.members else group.name
    return Hang(
        source="flight_recorder",
        kind=kind,
        group=group.name,
        nranks=len(group.members) or None,
        seq=seq,
        suspects=tuple(sorted(found.suspects)),
        waiting=tuple(sorted(found.waiting)),
        unknown=group.unknown,
        sides=found.sides,
        says=f"{of}: {found.says}{_without(group)}",
    )


def _stuck(group: FlightGroup) -> Hang | None:
    """The first collective that some rank has called and not completed."""
    pending = [
        seq for seq, ranks in group.entries.items() if not all(map(_is_done, ranks.values()))
    ]
    if not pending:
        return _behind(group)
    seq = min(pending)
    by_rank = group.entries[seq]
    states = {rank: _state(rows) for rank, rows in by_rank.items()}
    absent = {rank for rank in group.dumped if group.enqueued.get(rank, 0) < seq}
    held = {rank for rank, state in states.items() if state == "scheduled"}
    is_mixed = "started" in states.values()
    kind = "missing" if absent else "not_started" if held and is_mixed else "stuck"
    suspects = {"missing": absent, "not_started": held, "stuck": set(group.unknown)}[kind]
    waiting = {rank for rank, state in states.items() if state in OPEN} - suspects
    sides = tuple(
        _side([rank for rank in states if states[rank] == state], by_rank)
        for state in dict.fromkeys(states.values())
    )
    what = f"collective {seq:,}, {_called(sides[0])}"
    says = _SAYING[kind](group, what, suspects, waiting)
    return _hang(group, kind, seq, _Found(suspects, waiting, sides, says))


def _say_missing(
    group: FlightGroup, what: str, suspects: Collection[int], waiting: Collection[int]
) -> str:
    last = ", ".join(sorted({f"{group.enqueued.get(rank, 0):,}" for rank in suspects}))
    never = f"{rank_spans(suspects)} never called it (last: {last})"
    return f"{rank_spans(waiting, 'wait')} in {what}; {never}"


def _say_not_started(
    group: FlightGroup,  # noqa: ARG001 - all kinds are told in one way
    what: str,
    suspects: Collection[int],
    waiting: Collection[int],
) -> str:
    held = f"{rank_spans(suspects)} called {what}, but it did not start there"
    return f"{held}; {rank_spans(waiting, 'wait')}"


def _say_stuck(
    group: FlightGroup,
    what: str,
    suspects: Collection[int],  # noqa: ARG001 - all kinds are told in one way
    waiting: Collection[int],
) -> str:
    if group.unknown or not group.members:
        wait = rank_spans(waiting, "wait")
        return f"{wait} in {what}; the cause is likely on ranks without a dump"
    return f"all ranks called {what}, and it does not end: the network or a device is stuck"


_SAYING = {"missing": _say_missing, "not_started": _say_not_started, "stuck": _say_stuck}


def _behind(group: FlightGroup) -> Hang | None:
    """Nobody waits in an entry, but the ranks have come differently far."""
    reached = {rank: group.enqueued.get(rank, 0) for rank in group.dumped}
    if len(set(reached.values())) < 2:
        return None
    front, last = max(reached.values()), min(reached.values())
    suspects = {rank for rank, seq in reached.items() if seq < front}
    says = (
        f"{rank_spans(suspects)} called {last:,} collectives, others {front:,}; none of them waits "
        f"in the last one"
    )
    return _hang(group, "behind", last + 1, _Found(suspects, set(reached) - suspects, (), says))


def _state(rows: Sequence[Entry]) -> str | None:
    """The least advanced state of entries that share a number."""
    states = {row["state"] for row in rows}
    for state in (*OPEN, _DONE):
        if state in states:
            return state
    return None


def _without(group: FlightGroup) -> str:
    if not group.members:
        return "; the dumps do not say who its members are"
    if not group.unknown:
        return ""
    return f"; no dump of {rank_spans(group.unknown)}"


def _called(side: Side) -> str:
    return f"{side.op or 'an unknown operation'}{f' of {side.size}' if side.size else ''}"


def _side(ranks: Sequence[int], by_rank: Mapping[int, list[Entry]]) -> Side:
    row = by_rank[ranks[0]][0]
    sizes = [row["input_sizes"], row["input_dtypes"]]
    size = " ".join(part for part in sizes if part is not None)
    return Side(
        tuple(sorted(ranks)), row["op"], size or None, _state(by_rank[ranks[0]]), row["frame"]
    )
