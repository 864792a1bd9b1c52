"""What RCCL or NCCL would have logged of a simulated rank: NCCL_DEBUG=INFO with INIT and COLL.

Nothing is said of versions, links and transports, which are nobody's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from commscope.generator.dtypes import sent_as
from commscope.generator.kineto_style import FIRST_PID
from commscope.generator.schedule import (
    Collective,
    Communication,
    Communicator,
    Send,
)
from commscope.generator.simulation import Simulation

_NAMES = {
    "all_reduce": "AllReduce", "barrier": "AllReduce", "all_gather": "AllGather",
    "reduce_scatter": "ReduceScatter", "broadcast": "Broadcast", "reduce": "Reduce",
    "gather": "Gather", "scatter": "Scatter",
}  # fmt: skip
#: The call tells the share of one rank.
_SHARED = frozenset({"all_gather", "reduce_scatter", "gather", "scatter"})


def log_text(simulation: Simulation, rank: int) -> str:
    """The log of one rank."""
    return "".join(f"{line}\n" for line in _Rank(simulation, rank).lines())


@dataclass(frozen=True, slots=True)
class _Rank:
    simulation: Simulation
    rank: int

    def lines(self) -> Iterator[str]:
        """Communicators, then calls in their order."""
        schedule, pid = self.simulation.schedule, FIRST_PID + self.rank
        device = schedule.local_rank(self.rank)
        head = f"{schedule.hosts[self.rank]}:{pid}:{pid} [{device}] NCCL INFO "
        for number, communicator in enumerate(schedule.communicators.values()):
            if self.rank in communicator.members:
                yield from (head + line for line in self._init(number, communicator, device))
        numbers = {name: number for number, name in enumerate(schedule.communicators)}
        counts: Counter[str] = Counter()
        for activity in self.simulation.ranks[self.rank].activities:
            operation = activity.operation
            if isinstance(operation, Communication):
                name = operation.communicator
                lines = self._calls(operation, counts[name], self._address(numbers[name]))
                yield from (head + line for line in lines)
                counts[name] += 1

    def _init(self, number: int, communicator: Communicator, device: int) -> Iterator[str]:
        own, size = communicator.members.index(self.rank), len(communicator.members)
        said = (
            f"ncclCommInitRank_impl comm {self._address(number)} rank {own} nranks {size} "
            f"cudaDev {device} nvmlDev {device} busId {device + 1:x}000 commId 0x{number + 1:x}a"
        )
        yield f"{said} - Init START"
        yield f"{said} - Init COMPLETE"

    def _address(self, number: int) -> str:
        return f"0x7f{number + 1:02x}{self.rank:04x}0"

    def _calls(self, operation: Communication, count: int, address: str) -> Iterator[str]:
        """The records of one call: an exchange of all with all is a message each way and pair."""
        members = self.simulation.schedule.communicators[operation.communicator].members
        size = len(members)
        tail = f"comm {address} [nranks={size}] stream 0x{_stream(operation.stream)}"

        def record(name: str, size_bytes: int, root: int) -> str:
            dtype = sent_as(self.simulation.schedule.dtype, size_bytes)
            return (
                f"{name}: opCount {count:x} sendbuff 0x1000 recvbuff 0x2000 count "
                f"{size_bytes // dtype.size_bytes} datatype {dtype.ccl} op 0 root {root} {tail}"
            )

        if not isinstance(operation, Collective):
            name = "Send" if isinstance(operation, Send) else "Recv"
            yield record(name, operation.size_bytes, members.index(operation.peer))
        elif operation.op == "all_to_all":
            shares = operation.shares or (operation.size_bytes // size,) * size
            for peer, share in enumerate(shares):
                yield record("Send", share, peer)
                yield record("Recv", shares[members.index(self.rank)], peer)
        else:
            share = operation.size_bytes // (size if operation.op in _SHARED else 1)
            root = 0 if operation.root is None else members.index(operation.root)
            yield record(_NAMES[operation.op], share, root)


def _stream(name: str) -> str:
    return name.encode().hex()
