"""What a tool sees of one rank: activities with the role it gives them, changed step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import ActivityClass
from commscope.columns import Bool, Int64, codes, flagged, int64, parts
from commscope.intervals import Intervals, difference, union
from commscope.peers.model import Values
from commscope.schema import Flag
from commscope.trace import Trace

Roles = npt.NDArray[np.uint8]
COMPUTE, COMMUNICATION = int(ActivityClass.COMPUTE), int(ActivityClass.COMMUNICATION)
#: Busy, and neither of the two: copies, and whatever else a tool takes for work.
COPY = int(ActivityClass.COPY)
#: Kind of an event that is no work of a GPU.
MARK = "mark"


@dataclass(frozen=True, slots=True)
class Activities:
    """Activities of one rank as columns; times on the wall clock, ``NONE`` for unknown."""

    start_ns: Int64
    end_ns: Int64
    role: Roles
    kind: npt.NDArray[np.object_]
    name: npt.NDArray[np.object_]
    stream: Int64
    correlation: Int64
    launch_ns: Int64

    def __len__(self) -> int:
        return len(self.start_ns)

    def where(self, rows: Bool | Int64) -> Activities:
        """Some of them."""
        return Activities(*(getattr(self, field.name)[rows] for field in fields(self)))

    def and_also(self, other: Activities) -> Activities:
        """These and those of another."""
        columns = [field.name for field in fields(self)]
        return Activities(
            *(np.concatenate((getattr(self, name), getattr(other, name))) for name in columns)
        )

    def with_roles(self, rows: Bool, roles: Roles) -> Activities:
        """The same, some with another role."""
        return replace(self, role=np.where(rows, roles, self.role))

    def union_of(self, *roles: int) -> Intervals:
        """When any of these roles ran."""
        rows = np.isin(self.role, roles)
        return union(self.start_ns[rows], self.end_ns[rows])


@dataclass(frozen=True, slots=True)
class OfRank:
    """The activities of a rank, and which of them commscope counts, with its rows of the trace."""

    rank: int
    all: Activities  #: but for those with impossible times
    counts: Bool
    broken: int  #: of those with impossible times
    clipped: int  #: of those whose end commscope cut back
    host: pa.Table
    steps: pa.Table


def by_rank(trace: Trace) -> Iterator[OfRank]:
    """The activities of each rank, each in the class of commscope."""
    events = trace.events
    start, length = int64(events, "start_ns"), int64(events, "dur_ns")
    every = Activities(
        start_ns=start,
        end_ns=start + length,
        role=trace.classes.of_event,
        kind=_words(events, "kind"),
        name=_words(events, "name"),
        stream=int64(events, "stream"),
        correlation=int64(events, "correlation"),
        launch_ns=int64(events, "launch_ns"),
    )
    broken, clipped = flagged(events, Flag.BROKEN), flagged(events, Flag.CLIPPED)
    rows_of, host_of, steps_of = map(_rows_by_rank, (events, trace.host, trace.all_steps))
    nothing = np.empty(0, np.int64)
    for rank in np.unique(int64(trace.ranks, "rank")).tolist():
        rows = rows_of.get(rank, nothing)
        good = rows[~broken[rows]]
        yield OfRank(
            rank,
            every.where(good),
            length[good] > 0,
            broken=int(broken[rows].sum()),
            clipped=int(clipped[rows].sum()),
            host=trace.host.take(pa.array(host_of.get(rank, nothing))),
            steps=trace.all_steps.take(pa.array(steps_of.get(rank, nothing))),
        )


def _rows_by_rank(table: pa.Table) -> dict[int, Int64]:
    return dict(parts(int64(table, "rank")))


def _words(events: pa.Table, column: str) -> npt.NDArray[np.object_]:
    code, words = codes(events, column)
    return np.array([*words, ""], dtype=object)[code]


def roles_by(role_of: Callable[[str, str], int], of: Activities) -> Roles:
    """The role of each by its kind and name, each pair judged once."""
    pairs = list(zip(of.kind.tolist(), of.name.tolist()))
    known = {pair: role_of(*pair) for pair in set(pairs)}
    return np.fromiter((known[pair] for pair in pairs), np.uint8, len(pairs))


def partition(of: Activities) -> Values:
    """The partition of the whole, by definition 2, of whatever roles there are; in ns.

    ``copy`` is the union of what is neither compute nor communication.
    """
    if not len(of):
        return dict.fromkeys(_PARTS)
    window = int(of.end_ns.max() - of.start_ns.min())
    compute, communication = of.union_of(COMPUTE), of.union_of(COMMUNICATION)
    kernels, busy = of.union_of(COMPUTE, COMMUNICATION), of.union_of(COMPUTE, COMMUNICATION, COPY)
    exposed = difference(communication, compute).total
    return {
        "window": window,
        "compute": compute.total,
        "communication": communication.total,
        "hidden": communication.total - exposed,
        "exposed": exposed,
        "copy": of.union_of(COPY).total,
        "exposed_copy": busy.total - kernels.total,
        "busy": busy.total,
        "idle": window - busy.total,
    }


_PARTS = (
    *("window", "compute", "communication", "hidden", "exposed"),
    *("copy", "exposed_copy", "busy", "idle"),
)
