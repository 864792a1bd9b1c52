"""Process groups as the dumps of their members tell them, and the entries that wait in each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.columns import Bool, codes, int64

Entry = dict[str, Any]

#: States of an entry that waits, the least advanced first.
OPEN = ("scheduled", "started")
#: Of so many collectives that wait in a group the entries are looked at.
_MOST_OPEN = 64
_NEEDED = (
    "rank", "group", "description", "seq", "op", "input_sizes", "input_dtypes", "elements_in",
    "elements_out", "state", "created_ns", "frame",
)  # fmt: skip


@dataclass(slots=True)
class FlightGroup:
    """A process group: who belongs to it, how far each rank came, and what waits."""

    name: str
    members: tuple[int, ...]  #: none where the dumps do not say
    dumped: set[int] = field(default_factory=set)  #: members of which there is a dump
    enqueued: dict[int, int] = field(default_factory=dict)  #: last collective of each rank
    entries: defaultdict[int, defaultdict[int, list[Entry]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )  #: sequence number -> rank -> entries that share it, where some rank waits in it

    @property
    def unknown(self) -> tuple[int, ...]:
        """Members without a dump."""
        return tuple(rank for rank in self.members if rank not in self.dumped)


def groups_of_dumps(flight: pa.Table, groups: pa.Table) -> list[FlightGroup]:
    """The process groups of tables FLIGHT and FLIGHT_GROUPS; sends and receives are left out."""
    told = groups.filter(groups.column("rank").is_valid())
    is_p2p = pc.fill_null(flight.column("is_p2p"), False)
    known = pc.and_(flight.column("rank").is_valid(), flight.column("seq").is_valid())
    collectives = flight.filter(pc.and_not(known, is_p2p)).select(_NEEDED)
    found = _Found(told, set(flight.column("rank").to_pylist()))
    for row in told.to_pylist():
        found.reached(row, row["last_enqueued"] or 0)
    for row in _last(collectives):
        found.reached(row, row["seq_max"])
    for row in collectives.filter(pa.array(_waits(collectives))).to_pylist():
        found.enter(row)
    return found.all()


class _Found:
    """Groups by name and members: one name may be that of several, each known to its ranks."""

    def __init__(self, told: pa.Table, ranks: set[int | None]) -> None:
        rows = told.select(["rank", "group", "ranks"]).to_pylist()
        self._members = {(r["rank"], r["group"]): tuple(r["ranks"] or ()) for r in rows}
        everyone = ranks | {row["rank"] for row in rows}
        self._dumped = {rank for rank in everyone if rank is not None}
        self._groups: dict[tuple[str | None, tuple[int, ...]], FlightGroup] = {}

    def all(self) -> list[FlightGroup]:
        """All groups."""
        return list(self._groups.values())

    def reached(self, row: Entry, seq: int) -> None:
        """Notes the last collective of a rank; the dump of a rank names groups of others too."""
        group = self._of(row)
        if group is not None:
            group.enqueued[row["rank"]] = max(group.enqueued.get(row["rank"], 0), seq)

    def enter(self, row: Entry) -> None:
        """Adds an entry."""
        group = self._of(row)
        if group is not None:
            group.entries[row["seq"]][row["rank"]].append(row)

    def _of(self, row: Entry) -> FlightGroup | None:
        """The group of a row; null where the rank does not belong to it."""
        members = self._members.get((row["rank"], row["group"]), ())
        if members and row["rank"] not in members:
            return None
        key = (row["group"], members)
        if key not in self._groups:
            self._groups[key] = FlightGroup(_named(row), members, self._dumped & set(members))
        group = self._groups[key]
        group.dumped.add(row["rank"])
        return group


def _named(row: Entry) -> str:
    described = row["description"]
    if described in (None, "", "undefined"):
        return f"group {row['group']}"
    return str(described)


def _last(collectives: pa.Table) -> Iterable[Entry]:
    """The last collective of each rank in each group."""
    keys = ["rank", "group", "description"]
    texts = {name: collectives.column(name).cast(pa.string()) for name in keys[1:]}
    table = pa.table({**{n: collectives.column(n) for n in ("rank", "seq")}, **texts})
    rows: list[Entry] = table.group_by(keys).aggregate([("seq", "max")]).to_pylist()
    return rows


def _waits(collectives: pa.Table) -> Bool:
    """Entries of the first collectives of each group that some rank waits in."""
    group, _ = codes(collectives, "group")
    state, words = codes(collectives, "state")
    is_open = np.isin(state, [words.index(word) for word in OPEN if word in words])
    numbers, place = np.unique(int64(collectives, "seq"), return_inverse=True)
    collective = group * len(numbers) + place
    waiting = np.unique(collective[is_open])
    owner = waiting // max(len(numbers), 1)
    turn = np.arange(len(waiting)) - np.searchsorted(owner, owner)
    return np.asarray(np.isin(collective, waiting[turn < _MOST_OPEN]))
