"""What kind of row of HOST a call of the CUDA or HIP runtime is, by its name."""

from __future__ import annotations

import re

RUNTIME_KINDS = ("launch", "sync", "memory", "capture", "runtime")

_RUNTIME_NAMES = (
    ("launch", re.compile(r"Launch|Memcpy|Memset")),
    ("sync", re.compile(r"Synchronize|WaitEvent|EventQuery|StreamQuery")),
    ("capture", re.compile(r"(?:Begin|End)Capture")),
    ("memory", re.compile(r"Malloc|HostAlloc|Free|HostRegister")),
)


def runtime_kind(name: str) -> str:
    """One of ``RUNTIME_KINDS``; whether the call launched anything is told by correlation."""
    return next((kind for kind, pattern in _RUNTIME_NAMES if pattern.search(name)), "runtime")
