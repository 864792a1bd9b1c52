"""Which rank of the job a process is, and of how many."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

#: The launcher that starts the worker itself comes first: torchrun may run under Slurm or MPI.
_VARIABLES = (
    "RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "SLURM_PROCID",
)


def told_rank(environment: Mapping[str, str]) -> int | None:
    """The rank that a launcher's variable tells."""
    told = (_number(environment, name) for name in _VARIABLES)
    return next((rank for rank in told if rank is not None), None)


def place(environment: Mapping[str, str]) -> tuple[int, int]:
    """Rank and number of ranks: of the process group, else as the launcher tells, else 0 of 1."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()), int(distributed.get_world_size())
    rank = told_rank(environment) or 0
    return rank, max(_number(environment, "WORLD_SIZE") or 1, rank + 1)


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None
