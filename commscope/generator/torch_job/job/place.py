"""Which rank this process is, and on which device it computes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist

from .options import JobOptions

#: As the program that plays schedules ends.
NO_GPU, WRONG_DEVICE, NO_LIBRARY = 77, 78, 79


class CannotRun(Exception):
    """This machine cannot run the job; ``code`` is what the process ends with."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True)
class Place:
    """A rank of the job."""

    rank: int
    world: int
    device: torch.device

    @property
    def has_gpu(self) -> bool:
        """Whether it computes on one."""
        return bool(self.device.type == "cuda")

    @property
    def vendor(self) -> str:
        """Of the device."""
        if not self.has_gpu:
            return "none"
        return "amd" if torch.version.hip else "nvidia"

    def wait(self) -> None:
        """Waits until the device has done all."""
        if self.has_gpu:
            torch.cuda.synchronize(self.device)


def take_place(options: JobOptions) -> Place:
    """Finds the device of this rank and meets the others; raises CannotRun."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = _device(options, int(os.environ["LOCAL_RANK"]))
    dist.init_process_group(
        options.backend,
        init_method=f"file://{options.meet}",
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=options.timeout_s),
    )
    return Place(rank, world, device)


def _device(options: JobOptions, local_rank: int) -> torch.device:
    if options.backend != "nccl":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise CannotRun(NO_GPU, "torch sees no GPU")
    if not dist.is_nccl_available():
        raise CannotRun(NO_LIBRARY, "torch was built without NCCL or RCCL")
    if local_rank >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise CannotRun(WRONG_DEVICE, f"torch sees {count} GPUs, and none for rank {local_rank}")
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)
    return device
