"""Jobs of which only the host's times and the collectives of a step are known: those in PyTorch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from commscope.columns import int64
from commscope.generator.grading.clock_rows import Offsets, shift_ns, shifted
from commscope.generator.grading.model import Blame, Numbers, Place, Row, held, not_told
from commscope.generator.grading.step_rows import Steps, is_numbered, steps_of
from commscope.generator.grading.tolerances import CLOCK_NS
from commscope.generator.grading.traces import Traces
from commscope.generator.truth_file import TruthFile, TruthHostStep, TruthMessages

#: What no truth of such a job tells.
_UNKNOWN = ("compute", "communication", "hidden comm", "exposed comm")
_MESSAGES = ("send", "recv")
#: Of these, libraries and reports mean the same by the bytes.
_SIZED = ("all_reduce", "all_gather", "reduce_scatter")
#: By step and operation, the bytes of each; null where the trace does not tell them.
_Found = dict[tuple[int, str], list[int | None]]


def host_rows(truth: TruthFile, traces: Traces) -> Iterator[Row]:
    """The clock by begins of steps, and how many collectives of which sizes each step has."""
    rank = truth.header.rank
    place = Place(rank)
    for check in _UNKNOWN:
        yield not_told(check, place, "of this job only the host's times of steps are known")
    if not is_numbered(traces):
        says = "the trace has no annotation of any step: which collectives are whose is not known"
        yield not_told("collectives", place, says)
        return
    yield from _clock(truth, traces, steps_of(truth, traces, None))
    found = _found(traces, rank)
    for step in truth.host_steps:
        if not step.is_warmup:
            yield from _collectives(rank, step, found)


def _clock(truth: TruthFile, traces: Traces, steps: Steps) -> Iterator[Row]:
    clock, form = truth.header.clock, traces.format_of(truth.header.rank)
    begins = [
        (step.host_begin_ns, steps[step.step]["host_start_ns"] + traces.report.origin_ns)
        for step in truth.host_steps
        if step.step in steps and steps[step.step]["host_start_ns"] is not None
    ]
    shift = shift_ns(truth, form)
    if clock is not None and shift is not None and begins:
        offsets = Offsets([at for at, _ in begins], [found - at for at, found in begins])
        ahead = offsets.from_ns(shift, exact=False)
        place = Place(truth.header.rank, what="begins of steps")
        yield held("clock", place, Numbers(0, ahead, CLOCK_NS), shifted(ahead, clock, form))


def _collectives(rank: int, step: TruthHostStep, found: _Found) -> Iterator[Row]:
    for op, true in sorted(step.collectives.items()):
        place = Place(rank, step.step, op)
        if op in _MESSAGES:
            says = "messages that are launched together are one kernel"
            yield not_told("collectives", place, says)
        else:
            yield from _counted(place, true, found.get((step.step, op), []))


def _counted(place: Place, true: TruthMessages, found: list[int | None]) -> Iterator[Row]:
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
