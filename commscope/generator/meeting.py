"""Where the members of a collective or a message meet: who may end when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from commscope.generator.costs import Network
from commscope.generator.schedule import (
    FROM_ROOT,
    SYNCHRONISING,
    Collective,
    Communication,
    Communicator,
    Receive,
    ScheduleError,
    Send,
)
from commscope.generator.simulation import Instance

#: Sender and receiver of a message.
Pair = tuple[int, int]
#: Communicator, the pair (null for collectives), number of the operation among them.
Key = tuple[str, "Pair | None", int]


@dataclass(frozen=True, slots=True)
class Shape:
    """What all members of an instance must agree on."""

    op: str
    size_bytes: int
    root: int | None
    seq: int | None
    transfer_ns: int | None
    shares: tuple[int, ...] = ()


def shape_of(operation: Communication) -> Shape:
    """What a member says of the instance."""
    if isinstance(operation, Collective):
        o = operation
        return Shape(o.op, o.size_bytes, o.root, o.seq, o.transfer_ns, o.shares)
    return Shape("send_recv", operation.size_bytes, None, None, None)


def pair_of(rank: int, operation: Communication) -> Pair | None:
    """Sender and receiver of a message; null for a collective."""
    if isinstance(operation, Send):
        return rank, operation.peer
    if isinstance(operation, Receive):
        return operation.peer, rank
    return None


@dataclass(slots=True)
class Meeting:
    """One instance while it is being simulated."""

    instance: Instance
    index: int
    shape: Shape
    needs: Mapping[int, tuple[int, ...]]  #: whose arrivals a member needs in order to end
    transfer_ns: int
    end_skew_ns: Mapping[int, int]
    arrivals: dict[int, int] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)

    def check(self, rank: int, shape: Shape) -> None:
        """Raises ScheduleError where a member means another operation than the first one did."""
        if shape == self.shape:
            return
        where = f"communicator {self.instance.communicator}, operation {self.instance.seq}"
        raise ScheduleError(
            f"{where}: rank {rank} calls {_said(shape)}, another member {_said(self.shape)}; "
            "the job would hang or give wrong results"
        )

    def arrive(self, rank: int, start_ns: int) -> list[tuple[int, int]]:
        """Lets a member arrive; gives (rank, end) of all whose end is known by it."""
        self.arrivals[rank] = start_ns
        settled = []
        for member in self.arrivals:
            needed = self.needs[member]
            if member not in self.ended and all(other in self.arrivals for other in needed):
                last = max(self.arrivals[other] for other in needed)
                end = last + self.transfer_ns + self.end_skew_ns.get(member, 0)
                self.ended.add(member)
                settled.append((member, end))
        return settled

    def missing(self) -> list[int]:
        """Members that have not arrived."""
        return [rank for rank in self.instance.members if rank not in self.arrivals]


def _said(shape: Shape) -> str:
    root = "" if shape.root is None else f" from or to rank {shape.root}"
    seq = "" if shape.seq is None else f" number {shape.seq}"
    given = "" if shape.transfer_ns is None else f" taking {shape.transfer_ns} ns"
    given += f" in shares of {list(shape.shares)}" if shape.shares else ""
    return f"{shape.op}{seq} of {shape.size_bytes} bytes{root}{given}"


def meet(
    key: Key, index: int, shape: Shape, communicator: Communicator, network: Network
) -> Meeting:
    """The meeting that the first member to call an operation opens."""
    name, pair, number = key
    members = pair or communicator.members
    transfer = shape.transfer_ns
    if transfer is None:
        # The member that gets most decides: as if all got as much.
        size = max(shape.shares) * len(members) if shape.shares else shape.size_bytes
        transfer = network.transfer_ns(name, shape.op, size, len(members))
    return Meeting(
        instance=Instance(
            communicator=name,
            op=shape.op,
            seq=number if shape.seq is None else shape.seq,
            size_bytes=shape.size_bytes,
            members=members,
            synchronises=shape.op in SYNCHRONISING,
        ),
        index=index,
        shape=shape,
        needs=_needs(shape, members, pair, network.eager_bytes),
        transfer_ns=transfer,
        end_skew_ns=network.end_skew_ns,
    )


def _needs(
    shape: Shape, members: tuple[int, ...], pair: Pair | None, eager_bytes: int
) -> Mapping[int, tuple[int, ...]]:
    if shape.op in SYNCHRONISING or shape.size_bytes > eager_bytes:
        return _needs_of(members, members)
    if pair or shape.op in FROM_ROOT:
        return _needs_of(members, (pair[0] if pair else shape.root,))
    return _needs_of(members, tuple(m for m in members if m != shape.root))


@lru_cache(maxsize=4096)
def _needs_of(
    members: tuple[int, ...], sources: tuple[int | None, ...]
) -> Mapping[int, tuple[int, ...]]:
    """Each member needs itself and the sources; a source only itself, unless all are sources."""
    if sources == members:
        return dict.fromkeys(members, members)
    return {
        m: (m,) if m in sources else (m, *(s for s in members if s in sources)) for m in members
    }
