"""Scenarios in which communication and compute get into each other's way on the device."""

from __future__ import annotations

from commscope.generator.catalog.data_parallel import data_parallel
from commscope.generator.catalog.knobs import MIB
from commscope.generator.catalog.plan import PlannedCause, Scenario

SCENARIOS = (
    Scenario(
        "contention", "Matrix products and collectives slow each other down.",
        data_parallel, lambda _: (PlannedCause("O4"),), not_on=("host",),
        defaults={
            # Kernels of forward and backward are alike: those run alone, these beside collectives.
            "compute": "gemm", "fwd_us": 800,
            "kernels": 8, "layer_bytes": 96 * MIB, "bucket_bytes": 96 * MIB,
            "slowdown_percent": 160, "mock_blocks": 64,
        },
    ),
    Scenario(
        "queue-aliasing", "More streams than hardware queues: dp shares one with compute.",
        data_parallel, lambda _: (PlannedCause("O3"),), not_on=("host", "torch", "nvidia"),
        defaults={"streams": 3, "queues": 4},
    ),
)  # fmt: skip
