"""Notes of how far the processes of a job came, for the wrapper to tell what is missing."""

from __future__ import annotations

import contextlib
import os

from .telling import TOLD

#: The profiler was taken up; a rank made a step; it began to record; SIGTERM came meanwhile; it
#: came to its end, and has itself told what it has not recorded.
TORCH, STEPS, RECORDS, TERMINATED, ENDED = "torch", "steps", "records", "terminated", "ended"
SUFFIX = ".notes"


def note(what: str, rank: int = 0) -> None:
    """Adds a line; without a wrapper, or where nothing can be written, there is none."""
    path = os.environ.get(TOLD)
    if path is None:
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(path + SUFFIX, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, f"{what} {rank}\n".encode())
        finally:
            os.close(descriptor)
