"""The log of one process that calls the library, call by call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PID = 100
#: Number of ranks of a communicator by its number.
SIZES = (2, 2, 1, 4)


@dataclass(frozen=True)
class Called:
    """A call; ``count`` is in elements of float32."""

    op: str
    count: int = 1024
    comm: int = 0
    stream: int = 3
    opcount: int = 0
    root: int = 0
    task: int | None = None
    thread: int = PID


def log_of(calls: Sequence[Called], sizes: Sequence[int] = SIZES, rank: int = 0) -> str:
    """The log of rank 0 of each communicator, all of which it makes first."""
    lines = [line for number, size in enumerate(sizes) for line in _made(number, size, rank)]
    lines += [_call(call, sizes[call.comm]) for call in calls]
    return "".join(f"nodeA:{PID}:{line}\n" for line in lines)


def _made(number: int, size: int, rank: int) -> list[str]:
    return [
        f"{PID} [0] NCCL INFO ncclCommInitRank_impl comm {_address(number)} rank {rank} "
        f"nranks {size} cudaDev 0 busId 3000 commId 0x{number + 1:x}a - Init {word}"
        for word in ("START", "COMPLETE")
    ]


def _call(call: Called, size: int) -> str:
    task = "" if call.task is None else f" task {call.task} globalrank 0"
    return (
        f"{call.thread} [0] NCCL INFO {call.op}: opCount {call.opcount:x} sendbuff 0x1 "
        f"recvbuff 0x2 count {call.count} datatype 7 op 0 root {call.root} "
        f"comm {_address(call.comm)} [nranks={size}] stream 0x{call.stream}{task}"
    )


def _address(number: int) -> str:
    return f"0x{number + 1:x}00"
