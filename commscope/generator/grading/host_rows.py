"""What is known of jobs that nobody plays: how many collectives of a kind a step has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from commscope.columns import int64
from commscope.generator.grading.model import Blame, Numbers, Place, Row, held, not_told
from commscope.generator.grading.traces import Traces
from commscope.generator.truth_file import TruthFile, TruthMessages

_MESSAGES = ("send", "recv")
#: Of these, libraries and reports mean the same by the bytes.
_SIZED = ("all_reduce", "all_gather", "reduce_scatter")
#: By step and operation, the bytes of each; null where the trace does not tell them.
_Found = dict[tuple[int, str], list[int | None]]


def host_rows(truth: TruthFile, traces: Traces) -> Iterator[Row]:
    """Numbers and bytes of the collectives of each step, by operation."""
    rank, found = truth.header.rank, _found(traces, truth.header.rank)
    for step in truth.host_steps:
        if step.is_warmup:
            continue
        for op, true in sorted(step.collectives.items()):
            place = Place(rank, step.step, op)
            if op in _MESSAGES:
                says = "messages that are launched together are one kernel"
                yield not_told("collectives", place, says)
            else:
                yield from _rows(place, true, found.get((step.step, op), []))


def _rows(place: Place, true: TruthMessages, found: list[int | None]) -> Iterator[Row]:
    says = "the trace has another number of them than PyTorch was asked for"
    numbers = Numbers(true.count, len(found), unit="count")
    yield held("collectives", place, numbers, Blame("profiler", says))
    told = [size for size in found if size is not None]
    if place.what in _SIZED and len(told) == true.count:
        says = "the bytes of the trace are not those that PyTorch was asked to send"
        numbers = Numbers(true.bytes, sum(told), unit="count")
        yield held("sizes", place, numbers, Blame("profiler", says))


def _found(traces: Traces, rank: int) -> _Found:
    """The collectives of a rank, by the step in which they were launched."""
    calls = traces.analysis.across.calls.select(["event", "rank", "op", "bytes"])
    steps = int64(traces.analysis.trace.events, "step")
    found: _Found = defaultdict(list)
    for row in calls.filter(np.asarray(int64(calls, "rank") == rank)).to_pylist():
        found[int(steps[row["event"]]), row["op"]].append(row["bytes"])
    return found
