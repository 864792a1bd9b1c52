"""A plan as options of a torch job: how it is parallel, how large, and who is late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path

from commscope.generator.catalog.knobs import Knobs
from commscope.generator.catalog.plan import Plan
from commscope.generator.dtypes import DTYPES
from commscope.generator.torch_job.job.options import JobOptions, Late

RECORDED = "recorded"
NCCL, GLOO = "nccl", "gloo"  #: on ROCm, the backend called nccl is RCCL

#: DistributedDataParallel arranges its buckets in the second step.
_LEAST_WARMUP = 2
_MATRICES = 8  #: of width * width, in a layer
_STEPS_OF_WIDTH = 64
_GPU_TOKENS = 4096
#: CPUs compute so much less, that the job is made small.
_CPU_WIDTH, _CPU_TOKENS, _CPU_DTYPE = 128, 128, "float32"


@dataclass(frozen=True, slots=True)
class Where:
    """On what a job runs, into which folder it writes, and which ranks are profiled.

    ``meet`` is a file that is not there yet, by which the ranks find each other.
    """

    backend: str
    folder: Path
    meet: Path
    timeout_s: int
    profiled: Sequence[int]


def job_options(plan: Plan, where: Where) -> JobOptions:
    """What the ranks are told."""
    knobs, small = plan.knobs, where.backend == GLOO
    dtype = _CPU_DTYPE if small else knobs.dtype
    width = _CPU_WIDTH if small else width_of(knobs.layer_bytes, DTYPES[dtype].size_bytes)
    actual = _MATRICES * width * width * DTYPES[dtype].size_bytes
    return JobOptions(
        strategy=strategy_of(plan),
        backend=where.backend,
        out=str(where.folder),
        meet=str(where.meet),
        timeout_s=where.timeout_s,
        layers=knobs.layers,
        width=width,
        tokens=_CPU_TOKENS if small else _GPU_TOKENS,
        dtype=dtype,
        # As many layers in a bucket as planned, however large they are.
        bucket_bytes=max(knobs.bucket_bytes * actual // knobs.layer_bytes, 1),
        steps=knobs.steps,
        warmup=max(knobs.warmup, _LEAST_WARMUP),
        accum=knobs.accum,
        no_sync=knobs.no_sync,
        prefetch=knobs.prefetch,
        microbatches=knobs.microbatches,
        hot_percent=knobs.hot_percent,
        host_gap_us=knobs.host_gap_us,
        loop_sync=knobs.loop_sync != "none",
        read_loss=knobs.read_loss,
        seed=knobs.seed,
        late=_late(knobs),
        profiled=tuple(where.profiled),
    )


def strategy_of(plan: Plan) -> str:
    """How a scenario is done; DDP overlaps by itself, so that without overlap it is another job."""
    overlaps = plan.knobs.overlap in ("full", "tail")
    return "serial" if plan.strategy == "ddp" and not overlaps else plan.strategy


def width_of(layer_bytes: int, element_bytes: int) -> int:
    """Width of a layer of at most so many bytes, in steps that GPUs like."""
    width = isqrt(layer_bytes // (_MATRICES * element_bytes))
    return max(width // _STEPS_OF_WIDTH, 1) * _STEPS_OF_WIDTH


def _late(knobs: Knobs) -> tuple[Late, ...]:
    return tuple(Late(it.rank, it.delay_ns // 1000, it.step, it.where) for it in knobs.stragglers)
