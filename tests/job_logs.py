"""Logs of a job as the library writes them, for traces that tests make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_NAMES = {
    "all_reduce": "AllReduce", "all_gather": "AllGather", "reduce_scatter": "ReduceScatter",
    "broadcast": "Broadcast", "all_to_all": "AlltoAll", "send": "Send",
}  # fmt: skip
Calls = Sequence[tuple[str, int]]


@dataclass(frozen=True)
class JobLog:
    """Communicators with their members, their transport, and what each rank called on the first.

    Calls are (operation, bytes of one rank), of int8. ``tuned`` adds what the library chose.
    """

    members: Sequence[Sequence[int]]
    host: Callable[[int], str] = lambda _: "nodeA"
    via: str = "P2P/IPC"
    link: str = "XGMI"
    calls: Calls = ()
    tuned: str = ""

    def __str__(self) -> str:
        return "\n".join(line for rank in self._ranks() for line in self._of(rank)) + "\n"

    def _ranks(self) -> list[int]:
        return sorted({rank for members in self.members for rank in members})

    def _of(self, rank: int) -> list[str]:
        head = f"{self.host(rank)}:{100 + rank}:{100 + rank} [{rank % 8}] NCCL INFO "
        lines = [
            line
            for number, members in enumerate(self.members)
            if rank in members
            for line in self._communicator(number, list(members), rank)
        ]
        return [head + line for line in lines]

    def _communicator(self, number: int, members: list[int], rank: int) -> list[str]:
        size, own = len(members), members.index(rank)
        comm = f"comm 0x{number + 1:x}{rank:02x}0 rank {own} nranks {size} cudaDev {rank % 8}"
        head = f"ncclCommInitRank_impl {comm} busId {rank:x}000 commId 0x{number + 1:x}a"
        following = members[(own + 1) % size]
        ring = f"Channel 00/0 : {own}[{rank:x}000] -> {(own + 1) % size}[{following:x}000]"
        address = f"comm 0x{number + 1:x}{rank:02x}0"
        calls = self.calls if number == 0 else ()
        return [
            f"{head} - Init START",
            f"Pattern 4, crossNic 0, nChannels 1, bw 6.0/6.0, type {self.link}/PIX, sameChannels 1",
            f"{ring} via {self.via} {address} nRanks {size:02d}",
            f"{head} - Init COMPLETE",
            *(line for call in calls for line in self._call(call, address, size)),
        ]

    def _call(self, call: tuple[str, int], address: str, size: int) -> list[str]:
        op, count = call
        told = (
            f"{_NAMES[op]}: opCount 0 sendbuff 0x1 recvbuff 0x2 count {count} datatype 0 op 0 "
            f"root 0 {address} [nranks={size}] stream 0x3"
        )
        return [told, f"{_NAMES[op]}: {count} Bytes -> {self.tuned}"] if self.tuned else [told]
