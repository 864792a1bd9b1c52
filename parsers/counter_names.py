"""Which columns of a table are hardware counters, by their names."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

#: Counters are written in capitals; ``_sum`` is over the instances of a block.
COUNTER = re.compile(r"(?!GPU_ID\Z)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:_sum)?")
#: Counts other things in each file.
_UNCLEAR = {"SQ_ACCUM_PREV_HIRES"}
_COPY = re.compile(r"_\d+\Z")
#: Columns of rocprof's first version that are no counters; it writes these in any case.
_OF_ROCPROF = {
    *("Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr"),
    *("lds", "scr", "vgpr", "arch_vgpr", "accum_vgpr", "sgpr", "wave_size", "fbar", "sig", "obj"),
    *("DispatchNs", "BeginNs", "EndNs", "CompleteNs", "DurationNs"),
}
_PLAIN = re.compile(r"[A-Za-z]\w*")


def counters_in(names: Iterable[str]) -> list[str]:
    """The columns with counters: not channels of a block, nor what each replay repeats."""
    found = dict.fromkeys(names)
    own = set(counters_of_rocprof(found))
    return [
        name for name in found if (_is_counter(name) or name in own) and not _is_copy(name, found)
    ]


def _is_counter(name: str) -> bool:
    return COUNTER.fullmatch(name) is not None and name not in _UNCLEAR


def _is_copy(name: str, names: Container[str]) -> bool:
    """Whether it is another replay of a column: ``SQ_WAVES_LT_32`` is none."""
    return _COPY.search(name) is not None and _COPY.sub("", name) in names


def counters_of_rocprof(names: Iterable[str]) -> list[str]:
    """The counters among columns of rocprof's first version, which calls some FetchSize.

    None where they are columns of something else; those of single instances (``TCC_HIT[3]``) are
    left out.
    """
    found = list(names)
    if not {"Index", "KernelName", "gpu-id"} <= set(found):
        return []
    return [name for name in found if name not in _OF_ROCPROF and _PLAIN.fullmatch(name)]
