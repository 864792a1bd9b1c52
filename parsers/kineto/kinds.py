"""What kind of row an event becomes, by its category and name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commscope.columns import Int64
from commscope.parsers.host_kinds import RUNTIME_KINDS, runtime_kind
from commscope.parsers.integers import Scalar
from commscope.parsers.kineto.decode import Event

DEVICE_KINDS = ("kernel", "memcpy", "memset")
HOST_KINDS = (*RUNTIME_KINDS, "annotation", "collective")
GPU_ANNOTATION = "gpu_annotation"
KINDS = (*DEVICE_KINDS, *HOST_KINDS, GPU_ANNOTATION)
CODE = {kind: code for code, kind in enumerate(KINDS)}
NOT_NEEDED = -1

#: Categories of all exporter generations, in lower case.
_CATEGORIES = {
    "kernel": "kernel",
    "gpu_memcpy": "memcpy",
    "memcpy": "memcpy",
    "gpu_memset": "memset",
    "memset": "memset",
    "cuda_runtime": "runtime",
    "cuda_driver": "runtime",
    "runtime": "runtime",
    "user_annotation": "annotation",
    "gpu_user_annotation": GPU_ANNOTATION,
    "cpu_op": "operator",
    "operator": "operator",
}
_RECORD = "record_param_comms"
#: Older exporters write the step annotation as an operator.
_STEP = "ProfilerStep#"


class KindOf(dict[tuple[Scalar, Scalar, Scalar], int]):
    """Code of the kind of an event by (phase, category, name); each is judged once."""

    def __missing__(self, key: tuple[Scalar, Scalar, Scalar]) -> int:
        code = self[key] = CODE.get(_kind(*key) or "", NOT_NEEDED)
        return code

    def codes(self, events: Sequence[Event]) -> Int64:
        """The code of each event: one of CODE, or NOT_NEEDED."""
        # One key at a time: thousands alive at once would set off the garbage collector.
        keys = ((event.ph, event.cat, event.name) for event in events)
        return np.fromiter(map(self.__getitem__, keys), np.int64, len(events))


def _kind(phase: Scalar, category: Scalar, name: Scalar) -> str | None:
    if phase != "X":
        return None
    kind = _CATEGORIES.get(str(category).lower())
    if kind == "runtime":
        return runtime_kind(str(name))
    return _operator_kind(str(name)) if kind == "operator" else kind


def _operator_kind(name: str) -> str | None:
    if name.startswith(_RECORD):
        return "collective"
    return "annotation" if name.startswith(_STEP) else None
