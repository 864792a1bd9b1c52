"""How many processors this process may use."""

from __future__ import annotations

import os


def core_count() -> int:
    """Those it is bound to, where the system tells; else all of the machine."""
    bound_to = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(bound_to(0)) if bound_to else os.cpu_count() or 1
