"""The step time without a profiler, where the job's own output next to the traces tells it.

A line of JSON with the key ``unprofiled_step_ms``, printed by the training script:

    {"rank": 0, "unprofiled_step_ms": 27.116}
"""

from __future__ import annotations

import re
from decimal import Decimal

_LINE = re.compile(
    rb'^\{[^\n]*"unprofiled_step_ms"\s*:\s*(\d{1,9}(?:\.\d{1,9})?)[,}\s]', re.MULTILINE
)


def unprofiled_step_ns(text: bytes) -> list[int]:
    """The step times that a piece of output tells, ns."""
    return [int(Decimal(found.decode()) * 10**6) for found in _LINE.findall(text)]
