"""How many processors this process may use."""

from __future__ import annotations

import os
import sys


def core_count() -> int:
    """Those it is bound to, where the system tells; else all of the machine."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
