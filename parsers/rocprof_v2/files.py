"""Which of rocprofv2's files one is, by its columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

KERNELS, COPIES, CALLS, RANGES = "kernels", "copies", "calls", "ranges"
#: While counters are read, kernels run one by one.
COUNTERS = "counters of kernels, no timeline"
#: Columns that are written as counters are, and are none.
NO_COUNTERS = {"ARCH_VGPR", "ACCUM_VGPR", "WAVE_SIZE"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A file of rocprofv2, by the columns that it has in every version."""

    what: str
    marks: frozenset[str]
    unread: str | None = None  #: what it is, where nothing in it is needed


_KINDS = (
    Kind(KERNELS, frozenset(("Dispatch_ID", "GPU_ID", "Queue_ID", "Kernel_Name"))),
    Kind(RANGES, frozenset(("Domain", "ROCTX_ID", "Timestamp"))),
    Kind(
        "operations",
        frozenset(("Domain", "Operation", "Kernel_Name", "Stop_Timestamp")),
        unread="kernels and copies of other files again",
    ),
    Kind(COPIES, frozenset(("Domain", "Operation", "Start_Timestamp", "Stop_Timestamp"))),
    Kind(CALLS, frozenset(("Domain", "Function", "Start_Timestamp", "Correlation_ID"))),
)


def kind_of(names: Collection[str]) -> Kind | None:
    """What a file with these columns is; null where it is none of rocprofv2's."""
    return next((kind for kind in _KINDS if kind.marks <= set(names)), None)
