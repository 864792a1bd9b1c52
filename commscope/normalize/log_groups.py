"""What the communicators of a log are called in a trace.

Where metadata of one of their collectives tells, it is the name of the process group; else the hash
that all members share in the log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import Int64, codes
from commscope.schema import COLLECTIVES

#: Columns of COLLECTIVES that are those of the communicator.
FACTS = ("comm", "description", "group_size", "members")
_NOTHING: dict[str, Any] = dict.fromkeys(FACTS)


@dataclass(frozen=True, slots=True)
class LoggedGroups:
    """COMMS, the number of the communicator of each of its rows, and the rows of each rank."""

    comms: Sequence[Mapping[str, Any]]
    of_row: Sequence[int]
    of_rank: Mapping[int, Sequence[int]]

    def named(self, shown: Mapping[int, set[int]], collectives: pa.Table) -> pa.Table:
        """FACTS of each row of COMMS, as columns of COLLECTIVES.

        ``shown`` are rows of COLLECTIVES whose metadata names a communicator, by its number.
        """
        groups = [
            self._by_metadata(shown[group], collectives) if group in shown else self._by_log(group)
            for group in range(max(self.of_row, default=-1) + 1)
        ]
        columns = [
            pa.array([groups[group][name] for group in self.of_row], _plain(name)) for name in FACTS
        ]
        return pa.Table.from_arrays(columns, names=list(FACTS))

    def _by_metadata(self, rows: set[int], collectives: pa.Table) -> dict[str, Any]:
        """What all of the rows that tell a fact say of it; nothing where their names differ."""
        told = collectives.select(FACTS).take(pa.array(sorted(rows))).to_pylist()
        if len({row["comm"] for row in told}) > 1:
            return _NOTHING
        known = {name: [row[name] for row in told if row[name] is not None] for name in FACTS}
        return {name: values[0] if values else None for name, values in known.items()}

    def _by_log(self, group: int) -> dict[str, Any]:
        rows = [row for row, number in zip(self.comms, self.of_row) if number == group]
        hashes, sizes = {row["comm_id"] for row in rows}, {row["nranks"] for row in rows}
        if len(hashes) != 1 or len(sizes) != 1:
            return _NOTHING
        size = next(iter(sizes))
        members = self._members(group, size)
        return {
            "comm": next(iter(hashes)),
            "description": None,
            "group_size": size,
            "members": members,
        }

    def _members(self, group: int, size: int | None) -> list[int] | None:
        """The ranks of all members, if the trace holds them, or if it is a communicator of all."""
        place = {
            self.comms[row]["rank"]: rank
            for rank, rows in self.of_rank.items()
            for row in rows
            if self.of_row[row] == group
        }
        if size is not None and set(place) == set(range(size)):
            return [place[rank] for rank in range(size)]
        return None


def _plain(name: str) -> pa.DataType:
    kind = COLLECTIVES.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def rows_of_groups(
    collectives: pa.Table, pairs: Sequence[tuple[Int64, Int64]], of_row: Sequence[int]
) -> dict[int, set[int]]:
    """Of each communicator a row of COLLECTIVES for each name that metadata gives it.

    ``pairs`` are rows of COLLECTIVES, and the row of COMMS that each belongs to (-1: not known).
    """
    name = codes(collectives, "comm")[0]
    found: defaultdict[int, set[int]] = defaultdict(set)
    numbers = np.array([*of_row, -1], np.int64)
    for rows, comms in pairs:
        group = numbers[comms]
        known = np.flatnonzero((name[rows] >= 0) & (group >= 0))
        keys = np.stack((group[known], name[rows[known]]), axis=1)
        for first in np.unique(keys, axis=0, return_index=True)[1].tolist():
            found[int(group[known[first]])].add(int(rows[known[first]]))
    return dict(found)
