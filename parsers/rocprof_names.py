"""Words that AMD's profilers use in all their formats."""

from __future__ import annotations

from commscope.classify import canonical_op
from commscope.parsers.host_kinds import runtime_kind

_COPY = "MEMORY_COPY_"


def copy_name(direction: str) -> str:
    """One name for a direction of copies: ROCm 6.2 wrote it without the prefix."""
    return _COPY + direction.strip().upper().removeprefix(_COPY)


def is_to_host(direction: str) -> bool:
    """Whether a copy goes to the host, and so belongs to the device that it comes from."""
    return "DEVICE_TO_HOST" in direction


def call_kind(domain: str, name: str) -> str:
    """The kind of row of HOST that a call or marker is."""
    if domain.startswith("MARKER"):
        # Of the others (control, names) some only look like ranges.
        return "annotation" if domain.startswith("MARKER_CORE") else "runtime"
    if domain.startswith("RCCL"):
        return "collective" if canonical_op(name) else "runtime"
    return runtime_kind(name) if domain.startswith("HIP") else "runtime"
