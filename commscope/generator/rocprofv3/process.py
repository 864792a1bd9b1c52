"""One process as rocprofv3 records it, in whichever format it is written.

Times are whole ns on the clock of the host (CLOCK_BOOTTIME), and every activity has a launch of its
own, told by ``correlation``.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Dispatch:
    """A kernel on a stream (and a hardware queue) of a device."""

    name: str
    start_ns: int
    end_ns: int
    correlation: int
    device: int = 0
    stream: int = 1
    queue: int = 1
    grid: tuple[int, int, int] = (256, 1, 1)
    workgroup: tuple[int, int, int] = (64, 1, 1)


@dataclass(frozen=True)
class Transfer:
    """A copy, by its direction: HOST_TO_DEVICE, DEVICE_TO_HOST or DEVICE_TO_DEVICE."""

    direction: str
    start_ns: int
    end_ns: int
    correlation: int
    bytes: int | None = 4096
    device: int = 0
    stream: int = 1


@dataclass(frozen=True)
class ApiCall:
    """A call of the HIP runtime, or of RCCL; those that launch share their correlation."""

    name: str
    start_ns: int
    end_ns: int
    correlation: int
    thread: int = 101
    domain: str = "HIP_RUNTIME_API"


@dataclass(frozen=True)
class Marker:
    """A range of roctx, such as a step of the training."""

    message: str
    start_ns: int
    end_ns: int
    correlation: int
    thread: int = 101


@dataclass(frozen=True)
class LogicalTrace:
    """A process with the devices (agents) that it sees."""

    dispatches: tuple[Dispatch, ...]
    transfers: tuple[Transfer, ...]
    calls: tuple[ApiCall, ...]
    markers: tuple[Marker, ...]
    pid: int = 100
    host: str = "nodeA"
    gpus: dict[int, str] = field(default_factory=lambda: {0: "AMD Instinct MI300X"})
