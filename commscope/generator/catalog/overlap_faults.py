"""Scenarios in which communication and compute get into each other's way on the device."""

from __future__ import annotations

from commscope.generator.catalog.data_parallel import data_parallel
from commscope.generator.catalog.knobs import MIB, Knobs
from commscope.generator.catalog.plan import PlannedCause, Scenario
from commscope.generator.costs import Device
from commscope.generator.programs import COMPUTE


def _aliased(knobs: Knobs) -> Device:
    """Streams take hardware queues in turn, so that some share one."""
    streams = (COMPUTE, *(f"stream{number}" for number in range(knobs.streams)), "dp")
    return Device({stream: number % knobs.queues for number, stream in enumerate(streams)})


def _slowed(knobs: Knobs) -> Device:
    """Compute takes longer while a collective runs."""
    return Device(contention=(knobs.slowdown_percent, 100))


SCENARIOS = (
    Scenario(
        "contention", "Matrix products and collectives slow each other down.",
        data_parallel, lambda _: (PlannedCause("O4"),), device=_slowed, not_on=("host",),
        defaults={
            # Kernels of forward and backward are alike: those run alone, these beside collectives.
            "compute": "gemm", "fwd_us": 800,
            "kernels": 8, "layer_bytes": 96 * MIB, "bucket_bytes": 96 * MIB,
            "slowdown_percent": 160, "mock_blocks": 64,
        },
    ),
    Scenario(
        "queue-aliasing", "More streams than hardware queues: dp shares one with compute.",
        data_parallel, lambda _: (PlannedCause("O3"),), device=_aliased, not_on=("host", "nvidia"),
        defaults={"streams": 3, "queues": 4}, env={"GPU_MAX_HW_QUEUES": "4"},
    ),
)  # fmt: skip
