"""Which communicator of the logs is which communicator of the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.analysis.across import Across
from commscope.analysis.communicators import Communicator as TraceCommunicator
from commscope.columns import int64
from commscope.normalize.logged_processes import Processes

#: (operation, bytes as nccl-tests counts them)
Sized = tuple["str | None", "int | None"]


@dataclass(frozen=True, slots=True)
class Group:
    """A communicator of the trace: its number in the logs, or why it has none.

    ``rows`` are the rows of COMMS of its ranks, by place of the rank in the trace.
    """

    number: int | None
    rows: Mapping[int, int]
    note: str


@dataclass(frozen=True, slots=True)
class LoggedGroups:
    """What the logs tell of communicators: COMMS, the number of each row's, and its calls."""

    comms: pa.Table
    of_row: Sequence[int]
    calls: Mapping[int, set[Sized]]


def match_groups(
    across: Across, ranks: Sequence[int], logged: LoggedGroups, processes: Processes
) -> tuple[Group, ...]:
    """One entry a communicator of the trace.

    It has the size and holds the processes of the ranks that use it, each in its place among the
    members. Of several that do, it is the one whose logged calls (operations and sizes, by number)
    hold most of what the trace shows, if one does more than the others.
    """
    used = _users(across, ranks)
    shown = _shown(across)
    rows = logged.comms.select(["rank", "nranks"]).to_pylist()
    return tuple(
        _match(
            _Wanted(communicator, used[number], shown[number], ranks),
            _candidates(used[number], logged.of_row, processes), rows, logged.calls,
        )
        for number, communicator in enumerate(across.matching.communicators.found)
    )  # fmt: skip


def _users(across: Across, ranks: Sequence[int]) -> list[list[int]]:
    """The places of the ranks that use each communicator."""
    communicator, rank = (int64(across.calls, name) for name in ("communicator", "rank"))
    place = np.searchsorted(ranks, rank)
    return [
        np.unique(place[communicator == number]).tolist() for number in range(len(across.labels))
    ]


def _shown(across: Across) -> list[set[Sized]]:
    """The operations and sizes that the trace shows on each communicator."""
    found: list[set[Sized]] = [set() for _ in across.labels]
    kinds = across.calls.select(["communicator", "op", "bytes"])
    for row in kinds.group_by(["communicator", "op", "bytes"]).aggregate([]).to_pylist():
        if row["op"] is not None and row["bytes"] is not None:
            found[row["communicator"]].add((row["op"], row["bytes"]))
    return found


def _candidates(
    users: Sequence[int], of_row: Sequence[int], processes: Processes
) -> dict[int, dict[int, int]]:
    """Of each communicator of the logs the rows of those users that have one in it."""
    found: dict[int, dict[int, int]] = {}
    for user in users:
        for row in processes.comms[user]:
            found.setdefault(of_row[row], {})[user] = row
    known = sum(bool(processes.comms[user]) for user in users)
    return {number: rows for number, rows in found.items() if len(rows) == known}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is known of a communicator of the trace."""

    communicator: TraceCommunicator
    users: Sequence[int]
    shown: set[Sized]
    ranks: Sequence[int]

    def fits(self, found: Mapping[int, int], rows: Sequence[dict[str, Any]]) -> bool:
        """Whether a communicator has this size, and its ranks the places of these users."""
        for user, row in found.items():
            size, place = rows[row]["nranks"], rows[row]["rank"]
            if size is not None and size != self.communicator.size:
                return self.communicator.by_stream and size > self.communicator.size
            members = self.communicator.members
            declared = len(members) == size and self.ranks[user] in members
            if declared and place is not None and members[place] != self.ranks[user]:
                return False
        return True


def _match(
    wanted: _Wanted,
    candidates: Mapping[int, Mapping[int, int]],
    rows: Sequence[dict[str, Any]],
    calls: Mapping[int, set[Sized]],
) -> Group:
    fitting = [number for number, found in candidates.items() if wanted.fits(found, rows)]
    if not candidates:
        return Group(None, {}, "the logs hold no communicator of its processes")
    if not fitting:
        return Group(
            None, {}, f"none of the logs has {wanted.communicator.size} ranks in its order"
        )
    if len(fitting) > 1:
        shared = {number: len(wanted.shown & calls.get(number, set())) for number in fitting}
        best = max(shared.values())
        fitting = [number for number in fitting if shared[number] == best]
    if len(fitting) > 1:
        return Group(None, {}, f"{len(fitting)} of the logs fit: their sizes tell them not apart")
    return Group(fitting[0], dict(candidates[fitting[0]]), "")
