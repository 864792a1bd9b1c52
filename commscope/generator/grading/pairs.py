"""Which kernel of the trace is which operation of the truth: by kind, in the order of launches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from commscope.columns import NONE, codes, int64
from commscope.generator.grading.traces import Traces
from commscope.generator.truth_file import TruthFile, TruthOperation

Kind = Literal["compute", "collective", "copy"]
KINDS: tuple[Kind, ...] = ("compute", "collective", "copy")
_CALL = ["event", "rank", "op", "bytes", "wait_ns", "instance"]
_IDENTIFIER = re.compile(r"(?:void\s+)?(\w+)")


@dataclass(frozen=True, slots=True)
class Kernel:
    """An activity of the trace; what the trace does not tell is null."""

    name: str
    start_ns: int
    end_ns: int
    launch_ns: int | None
    step: int | None
    op: str | None = None
    size_bytes: int | None = None
    wait_ns: int | None = None
    instance: int | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """An operation, and how the trace has it."""

    operation: TruthOperation
    kernel: Kernel


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of a rank by kind; a kind whose numbers differ has none.

    ``true`` and ``found`` are what there is of each kind, without warm-up where the trace lacks it.
    """

    rank: int
    true: dict[Kind, list[TruthOperation]] = field(default_factory=dict)
    found: dict[Kind, list[Kernel]] = field(default_factory=dict)

    def of(self, *kinds: Kind) -> list[Pair]:
        """The pairs of some kinds, without those of warm-up."""
        return [
            Pair(*pair)
            for kind in kinds
            if len(self.true[kind]) == len(self.found[kind])
            for pair in zip(self.true[kind], self.found[kind])
            if is_measured(pair[0])
        ]

    def is_complete(self, kind: Kind) -> bool:
        """Whether every operation of a kind has its kernel."""
        return len(self.true[kind]) == len(self.found[kind])


def is_measured(operation: TruthOperation) -> bool:
    """Whether it belongs to a step that is not of warm-up."""
    return operation.step is not None and operation.step >= 0


def pair_up(truth: TruthFile, traces: Traces) -> Pairs:
    """Pairs the operations of a rank with the kernels of its trace."""
    rank = truth.header.rank
    names = {row.name for row in truth.operations if row.op == "compute"}
    kernels = _kernels(traces, rank, names)
    pairs = Pairs(rank)
    for kind in KINDS:
        found, is_launched = _in_order(kernels[kind])
        true = [row for row in truth.operations if row.op == kind]
        if not is_launched:
            true.sort(key=lambda row: row.begin_ns)
        measured = [row for row in true if is_measured(row)]
        pairs.true[kind] = measured if len(found) == len(measured) else true
        pairs.found[kind] = found
    return pairs


def _in_order(kernels: list[Kernel]) -> tuple[list[Kernel], bool]:
    """By launch where all of them are known, else by begin; and which it is."""
    launched = [k.launch_ns for k in kernels if k.launch_ns is not None]
    if len(launched) == len(kernels) == len(set(launched)):
        return sorted(kernels, key=lambda k: k.launch_ns or 0), True
    return sorted(kernels, key=lambda k: k.start_ns), False


def identifier(name: str) -> str:
    """What a kernel is called, without template and arguments."""
    found = _IDENTIFIER.match(name)
    return found[1] if found else name


def _kernels(traces: Traces, rank: int, names: set[str]) -> dict[Kind, list[Kernel]]:
    """The activities of a rank that a generated job has, by kind."""
    events = traces.analysis.trace.events
    rows = np.flatnonzero(int64(events, "rank") == rank)
    collectives = _collectives(traces, rank)
    name_of, words = codes(events, "name")
    kind_of, kinds = codes(events, "kind")
    known = [identifier(word) in names for word in words]
    found: dict[Kind, list[Kernel]] = {kind: [] for kind in KINDS}
    columns = [int64(events, name) for name in ("start_ns", "dur_ns", "launch_ns", "step", "bytes")]
    for row in rows.tolist():
        start, length, launch, step, size = (int(column[row]) for column in columns)
        kernel = Kernel(words[name_of[row]], start, start + length, _null(launch), _null(step))
        if row in collectives:
            found["collective"].append(_described(kernel, collectives[row]))
        elif kinds[kind_of[row]] == "memcpy":
            found["copy"].append(_described(kernel, {"bytes": _null(size)}))
        elif known[name_of[row]]:
            found["compute"].append(kernel)
    return found


def _null(value: int) -> int | None:
    return None if value == NONE else value


def _described(kernel: Kernel, more: dict[str, Any]) -> Kernel:
    return Kernel(
        *(kernel.name, kernel.start_ns, kernel.end_ns, kernel.launch_ns, kernel.step),
        more.get("op"), more.get("bytes"), more.get("wait_ns"), more.get("instance"),
    )  # fmt: skip


def _collectives(traces: Traces, rank: int) -> dict[int, dict[str, Any]]:
    """What is known of the collectives of a rank, by their row in the events."""
    calls = traces.analysis.across.calls.select(_CALL)
    mine = calls.filter(int64(calls, "rank") == rank)
    rows: Sequence[dict[str, Any]] = mine.to_pylist()
    return {row["event"]: row for row in rows}
