"""Scenarios of data parallel jobs: how gradients are reduced, and what hosts do meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from commscope.generator.catalog.data_parallel import data_parallel
from commscope.generator.catalog.knobs import MIB, Knobs
from commscope.generator.catalog.plan import PlannedCause, Scenario, healthy


def _named(rule: str) -> Callable[[Knobs], tuple[PlannedCause, ...]]:
    """A cause for which no rank is to blame."""
    return lambda _: (PlannedCause(rule),)


SCENARIOS = (
    Scenario(
        "ddp-overlap", "Gradients are reduced while backward and optimizer go on.",
        data_parallel, healthy, defaults={"overlap": "full", "last_bucket_bytes": 0},
    ),
    Scenario(
        "ddp-serial", "Backward waits for each bucket.",
        data_parallel, _named("O11"), defaults={"overlap": "none"},
    ),
    Scenario(
        "ddp-tail", "The bucket that is ready last is the largest, and nothing hides it.",
        data_parallel, _named("O10"),
        defaults={"last_bucket_bytes": 256 * MIB},
    ),
    Scenario(
        "one-bucket", "All gradients are reduced at once, when backward has ended.",
        data_parallel, _named("O10"),
        defaults={"bucket_bytes": 192 * MIB, "last_bucket_bytes": 0},
    ),
    Scenario(
        "small-buckets", "Pieces so small that each takes as long as its latency.",
        data_parallel, _named("O6"),
        defaults={"bucket_bytes": MIB // 2, "last_bucket_bytes": MIB // 2},
    ),
    Scenario(
        "accumulation", "Gradients are reduced in every micro-step, though their sum is enough.",
        data_parallel, _named("O7"),
        defaults={
            "layers": 3, "accum": 3, "no_sync": False, "layer_bytes": 160 * MIB,
            "bucket_bytes": 160 * MIB, "last_bucket_bytes": 160 * MIB,
        },
    ),
)  # fmt: skip
