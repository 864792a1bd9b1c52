"""What kind of row an event becomes, by its category and name."""

from __future__ import annotations

import re

from commscope.parsers.kineto.decode import Event, Scalar

DEVICE_KINDS = ("kernel", "memcpy", "memset")
RUNTIME_KINDS = ("launch", "sync", "memory", "capture", "runtime")
HOST_KINDS = (*RUNTIME_KINDS, "annotation", "collective")
GPU_ANNOTATION = "gpu_annotation"
CODE = {kind: code for code, kind in enumerate((*DEVICE_KINDS, *HOST_KINDS))}
KINDS = tuple(CODE)

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

_RUNTIME_NAMES = (
    ("launch", re.compile(r"Launch|Memcpy|Memset")),
    ("sync", re.compile(r"Synchronize|WaitEvent|EventQuery|StreamQuery")),
    ("capture", re.compile(r"(?:Begin|End)Capture")),
    ("memory", re.compile(r"Malloc|HostAlloc|Free|HostRegister")),
)
"""Kinds of runtime calls by name; whether a call launched something is told by correlation."""


class KindOf:
    """The kind of an event, or None where it is not needed; each name is judged once."""

    def __init__(self) -> None:
        self._runtime: dict[Scalar, str] = {}

    def __call__(self, event: Event) -> str | None:
        """The kind of row, one of KINDS or GPU_ANNOTATION."""
        if event.ph != "X":
            return None
        kind = _CATEGORIES.get(str(event.cat).lower())
        if kind == "runtime":
            return self._runtime.get(event.name) or self._judge(event.name)
        return _operator_kind(str(event.name)) if kind == "operator" else kind

    def _judge(self, name: Scalar) -> str:
        text = str(name)
        kind = next((k for k, pattern in _RUNTIME_NAMES if pattern.search(text)), "runtime")
        self._runtime[name] = kind
        return kind


def _operator_kind(name: str) -> str | None:
    if name.startswith(_RECORD):
        return "collective"
    return "annotation" if name.startswith(_STEP) else None
