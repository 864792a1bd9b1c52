"""Scenarios in which hosts hold up their devices, on all ranks alike."""

from __future__ import annotations

from commscope.generator.catalog.data_parallel import data_parallel
from commscope.generator.catalog.plan import PlannedCause, Scenario

SCENARIOS = (
    Scenario(
        "host-bound", "Hosts take longer to launch kernels than those take.",
        data_parallel, lambda _: (PlannedCause("H3"),),
        defaults={"kernels": 8, "bwd_us": 400, "host_gap_us": 200},
    ),
    Scenario(
        "sync-in-the-loop", "Hosts wait for the device after each bucket.",
        data_parallel, lambda _: (PlannedCause("H7"),), defaults={"loop_sync": "device"},
    ),
)  # fmt: skip
