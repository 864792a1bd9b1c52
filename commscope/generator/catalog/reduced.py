"""Scenarios of data parallel jobs: how gradients are reduced, and what hosts do meanwhile."""

from __future__ import annotations

from commscope.generator.catalog.data_parallel import data_parallel
from commscope.generator.catalog.knobs import MIB, Knobs
from commscope.generator.catalog.plan import PlannedCause, Scenario


def healthy(_: Knobs) -> tuple[PlannedCause, ...]:
    """Nothing is wrong."""
    return ()


def all_alike(rule: str) -> tuple[PlannedCause, ...]:
    """A cause for which no rank is to blame."""
    return (PlannedCause(rule),)


SCENARIOS = (
    Scenario(
        "ddp-overlap", "Gradients are reduced while backward and optimizer go on.",
        data_parallel, healthy, defaults={"overlap": "full", "last_bucket_bytes": 0},
    ),
    Scenario(
        "ddp-serial", "Backward waits for each bucket.",
        data_parallel, lambda _: all_alike("O11"), defaults={"overlap": "none"},
    ),
    Scenario(
        "ddp-tail", "The bucket that is ready last is the largest, and nothing hides it.",
        data_parallel, lambda _: all_alike("O10"),
        defaults={"overlap": "tail", "last_bucket_bytes": 256 * MIB},
    ),
)  # fmt: skip
