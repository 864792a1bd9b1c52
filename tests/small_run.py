"""Small runs of several ranks, as files: three steps, one kernel and one all-reduce each."""

from __future__ import annotations

import json
from pathlib import Path

from builders import TraceBuilder

import commscope

GEMM = "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
STEPS = 3


def add_step(builder: TraceBuilder, step: int, start: float, name: str) -> None:
    """A step of 100 us: 40 us of a kernel, then 20 us of an all-reduce that nothing hides."""
    builder.step(step, start, 95).span("user_annotation", "forward", start + 1, 10)
    builder.launch(start + 5).kernel(name, start + 10, 40)
    builder.launch(start + 7).kernel(ALL_REDUCE, start + 50, 20, stream=1)


def trace(rank: int | None = 0, *, start: float = 1000.0, name: str = GEMM) -> bytes:
    """One file; its rank is null where the file shall not tell it."""
    builder = TraceBuilder(rank=rank or 0)
    for step in range(STEPS):
        add_step(builder, step, start + 100 * step, name)
    document = builder.document()
    if rank is None:
        del document["distributedInfo"]
    return json.dumps(document, indent=1).encode()


def write_run(folder: Path, ranks: int = 2) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(ranks):
        (folder / f"rank{rank}.json").write_bytes(trace(rank))
    return folder


def report_of(folder: Path, builder: TraceBuilder) -> commscope.Report:
    """The report of the one rank that was built."""
    file = folder / "rank0.json"
    file.write_text(json.dumps(builder.document()))
    return commscope.analyze(commscope.load(file))


#: Recognised by its header, but cut before the first event.
CUT_EARLY = b'{"schemaVersion": 1, "traceEvents": ['
