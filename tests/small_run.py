"""Small runs of several ranks, as files: three steps, one kernel and one all-reduce each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from events import kernel, launch

GEMM = "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
STEPS = 3


def annotation(name: str, start: float, duration: float) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "user_annotation", "name": name, "pid": 7, "tid": 7,
        "ts": start, "dur": duration, "args": {},
    }  # fmt: skip


def step_events(step: int, start: float, name: str) -> list[dict[str, Any]]:
    """A step of 100 us: 40 us of a kernel, then 20 us of an all-reduce that nothing hides."""
    return [
        annotation(f"ProfilerStep#{step}", start, 95),
        annotation("forward", start + 1, 10),
        launch(start + 5, 10 * step + 1),
        launch(start + 7, 10 * step + 2),
        kernel(name, start + 10, 40, 10 * step + 1),
        kernel(ALL_REDUCE, start + 50, 20, 10 * step + 2, stream=1),
    ]


def trace(rank: int | None = 0, *, start: float = 1000.0, name: str = GEMM) -> bytes:
    """One file; its rank is null where the file shall not tell it."""
    events = [e for s in range(STEPS) for e in step_events(s, start + 100 * s, name)]
    header: dict[str, Any] = {"schemaVersion": 1}
    if rank is not None:
        header["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
    return json.dumps({**header, "traceEvents": events}, indent=1).encode()


def write_run(folder: Path, ranks: int = 2) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(ranks):
        (folder / f"rank{rank}.json").write_bytes(trace(rank))
    return folder


#: Recognised by its header, but cut before the first event.
CUT_EARLY = b'{"schemaVersion": 1, "traceEvents": ['
