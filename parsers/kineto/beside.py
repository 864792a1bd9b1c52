"""What a Kineto file holds beside the tables: other tools count it, commscope does not.

The tables leave out arrows, marks on the track of the GPU, and operators: none of it is work of a
GPU. Who must give the number that another tool gives reads the file once more, whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from msgspec import Raw, Struct

from commscope.columns import NONE, Int64
from commscope.errors import FormatError
from commscope.parsers.bounded import read_hashed
from commscope.parsers.integers import Scalar, integers
from commscope.parsers.kineto.times import to_ns
from commscope.parsers.opening import Source

#: A longer document, decompressed, is not read: all of it is in memory at once.
MOST_BYTES = 2 << 30
#: Categories of activities, in lower case: their rows are in the tables.
DEVICE = frozenset({"kernel", "gpu_memcpy", "memcpy", "gpu_memset", "memset"})
_RUNTIME = frozenset({"cuda_runtime", "cuda_driver", "runtime"})
_OPERATORS = frozenset({"cpu_op", "operator", "python"})
GPU_ANNOTATION = "gpu_user_annotation"
_NAMED = ("nccl:", "gloo:", "ProfilerStep")


class _Args(Struct, gc=False, rename={"external_id": "External id", "external": "external id"}):
    stream: Scalar = None
    correlation: Scalar = None
    external_id: Scalar = None
    external: Scalar = None


class _Event(Struct, gc=False):
    ph: Scalar = None
    cat: Scalar = None
    name: Scalar = None
    id: Scalar = None
    ts: Raw = Raw(b"")
    dur: Raw = Raw(b"")
    args: _Args | None = None


class _Document(Struct):
    events: list[_Event] = msgspec.field(name="traceEvents", default_factory=list)
    base_ns: Scalar = msgspec.field(name="baseTimeNanoseconds", default=None)


@dataclass(frozen=True, slots=True)
class Spans:
    """Events that are no activity of a GPU, times on the clock of the file, in order of start.

    ``stream`` is ``NONE`` where the event has no whole number as one; ids are ``NONE`` too.
    """

    name: tuple[str, ...]
    category: tuple[str, ...]
    start_ns: Int64
    end_ns: Int64
    stream: Int64
    correlation: Int64
    external: Int64


@dataclass(frozen=True, slots=True)
class Beside:
    """What one file holds beside the tables."""

    sha256: str | None
    base_ns: int  #: what the tables add to the times of the file
    categories: frozenset[str]  #: as they are spelled
    arrows: Int64  #: ids of the arrows from the host, sorted
    operators_ns: tuple[int, int] | None  #: from the first operator's begin to the last one's end
    spans: Spans
    externals: Int64  #: id of the operator of each kernel, as ``external_starts_ns``
    external_starts_ns: Int64  #: begin of each kernel


def read_beside(source: Source) -> Beside | None:
    """What a file holds beside the tables.

    Null where it is not one whole JSON document, or one of more than ``MOST_BYTES``; raises
    UsageError where the system does not let us read it.
    """
    try:
        whole = read_hashed(source, MOST_BYTES)
        document = _decoded(whole.data)
    except (FormatError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    events = document.events
    base = document.base_ns
    spans = [event for event in events if event.ph == "X"]
    kernels = [event for event in spans if str(event.cat).lower() == "kernel"]
    arrows = [e.id for e in events if e.ph == "s" and e.cat == "ac2g"]
    return Beside(
        sha256=whole.sha256,
        base_ns=base if isinstance(base, int) else 0,
        categories=frozenset(str(event.cat) for event in spans),
        arrows=np.unique(integers(arrows)),
        operators_ns=_extent([e for e in spans if str(e.cat).lower() in _OPERATORS]),
        spans=_spans([event for event in spans if _is_kept(event)]),
        externals=_externals(kernels),
        external_starts_ns=to_ns([event.ts for event in kernels]),
    )


def _decoded(text: bytes) -> _Document:
    if text.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"["):
        return _Document(msgspec.json.decode(text, type=list[_Event]))
    return msgspec.json.decode(text, type=_Document)


def _is_kept(event: _Event) -> bool:
    category = str(event.cat).lower()
    if category in DEVICE or category in _RUNTIME:
        return False
    has_stream = event.args is not None and event.args.stream is not None
    return has_stream or category == GPU_ANNOTATION or str(event.name).startswith(_NAMED)


def _spans(events: Sequence[_Event]) -> Spans:
    start, length = to_ns([e.ts for e in events]), to_ns([e.dur for e in events])
    whole = np.flatnonzero((start != NONE) & (length >= 0))
    order = whole[np.argsort(start[whole], kind="stable")]
    chosen = [events[row] for row in order.tolist()]
    return Spans(
        name=tuple(str(event.name) for event in chosen),
        category=tuple(str(event.cat).lower() for event in chosen),
        start_ns=start[order],
        end_ns=(start + length)[order],
        stream=integers([event.args and event.args.stream for event in chosen]),
        correlation=integers([event.args and event.args.correlation for event in chosen]),
        external=_externals(chosen),
    )


def _extent(events: Sequence[_Event]) -> tuple[int, int] | None:
    start, length = to_ns([e.ts for e in events]), to_ns([e.dur for e in events])
    whole = (start != NONE) & (length >= 0)
    if not whole.any():
        return None
    return int(start[whole].min()), int((start + length)[whole].max())


def _externals(events: Sequence[_Event]) -> Int64:
    return integers([_external(event.args) for event in events])


def _external(args: _Args | None) -> Scalar:
    if args is None:
        return None
    return args.external_id if args.external is None else args.external
