"""The job of the tutorial in three states: 65, 75 and 85 % of the time it computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commscope.generator.catalog.data_parallel import data_parallel
from commscope.generator.catalog.plan import PlannedCause, Scenario

_MODEL: Mapping[str, Any] = {
    "layers": 5, "kernels": 2, "fwd_us": 240, "bwd_us": 480, "opt_us": 120, "jitter_percent": 3,
    "layer_bytes": 57_500_000, "bucket_bytes": 57_500_000, "last_bucket_bytes": 8_000_000,
    "input_us": 1_110, "accum": 2, "overlap": "same-stream", "steps": 8,
}  # fmt: skip
_SMALL: Mapping[str, Any] = {
    **_MODEL, "accum": 3, "fwd_us": 200, "bwd_us": 400, "opt_us": 100, "no_sync": False,
}  # fmt: skip

SCENARIOS = (
    Scenario(
        "tutorial-1-small-batch", "Small batches; gradients are reduced after each.",
        data_parallel, lambda _: (PlannedCause("O7"),), defaults=_SMALL,
    ),
    Scenario(
        "tutorial-2-accumulated", "Larger batches; gradients are reduced once a step.",
        # The host reads the loss before it waits for input: that costs about as much.
        data_parallel, lambda _: (PlannedCause("O9"), PlannedCause("H8")), defaults=_MODEL,
    ),
    Scenario(
        "tutorial-3-overlapped", "The same, reduced while backward goes on.",
        data_parallel, lambda _: (PlannedCause("H8"),), defaults={**_MODEL, "overlap": "tail"},
    ),
)  # fmt: skip
