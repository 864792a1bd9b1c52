"""The numbers of every step, against those of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from commscope.generator.grading.apart import Apart
from commscope.generator.grading.model import (
    Blame,
    Numbers,
    Place,
    Row,
    Suspect,
    held,
    not_told,
)
from commscope.generator.grading.pairs import Pair, Pairs, is_measured
from commscope.generator.grading.recomputed import partition
from commscope.generator.grading.step_rows import Steps
from commscope.generator.grading.tolerances import (
    COMPUTE_SHARE,
    EXPOSED_SHARE,
    MOCK_SHARE,
    PER_COLLECTIVE_NS,
    PER_KERNEL_NS,
    per_mock_ns,
)
from commscope.generator.truth import StepTruth
from commscope.generator.truth_file import TruthFile, TruthStep

#: Name of the check by the column of the report.
_CHECKS = {
    "compute_ns": "compute",
    "communication_ns": "communication",
    "hidden_comm_ns": "hidden comm",
    "exposed_comm_ns": "exposed comm",
    "exposed_wait_ns": "exposed wait",
    "exposed_copy_ns": "exposed copy",
    "idle_ns": "idle",
    "window_ns": "window",
}
#: What is held against the truth only where nothing was measured: profilers have gaps of their own.
_EXACT_ONLY = ("exposed_copy_ns", "idle_ns", "window_ns")
#: What counts the time that a collective stands in its stream and cannot begin, by events.
_BY_EVENTS = ("communication_ns", "hidden_comm_ns")


@dataclass(frozen=True, slots=True)
class _Step:
    """A step as it was, as it was found, and as the kernels of the trace have it."""

    rank: int
    true: TruthStep
    found: dict[str, Any]
    of_kernels: StepTruth | None
    collectives: Sequence[Pair]
    computing: int  #: kernels of compute in it
    issued: int  #: collectives that the job has in it
    threads_ns: int  #: how far its operations are apart, where threads stand for a device
    waits_ns: int  #: how far waits in it are not known
    is_exact: bool
    is_crowded: bool  #: matrix products fill the device, so that mocks wait for room

    @property
    def is_mock(self) -> bool:
        """Whether its collectives took their own times, as kernels of known length."""
        return all(pair.operation.src == "device" for pair in self.collectives)

    def events_ns(self) -> int:
        """What the events take around its collectives, and the queueing between them."""
        return sum(
            max(0, _length(pair.operation) - (pair.kernel.end_ns - pair.kernel.start_ns))
            for pair in self.collectives
        )

    def is_explained_by_events(self) -> bool:
        """Whether less is exposed than the job says, by what its own events take."""
        less = self.true.exposed_comm_ns - self.found["exposed_comm_ns"]
        return not self.is_mock and 0 < less <= self.events_ns() + len(self.collectives)

    def tolerance(self, column: str) -> float:
        """How far what is found may be from the truth."""
        true: int = getattr(self.true, column)
        if self.is_exact:
            return 0
        return self.threads_ns + self._on_device(column, true)

    def _on_device(self, column: str, true: int) -> float:
        if column == "compute_ns":
            return max(COMPUTE_SHARE * true, PER_KERNEL_NS * self.computing)
        if column == "exposed_wait_ns":
            return self.waits_ns
        if column == "exposed_comm_ns":
            return max(EXPOSED_SHARE * true, PER_COLLECTIVE_NS * self.issued)
        if self.is_mock:
            longer = len(self.collectives) * per_mock_ns(is_crowded=self.is_crowded)
            longer += self.computing * PER_KERNEL_NS if column == "hidden_comm_ns" else 0
            return max(MOCK_SHARE * true, longer)
        return self.events_ns() + PER_COLLECTIVE_NS * self.issued


def _length(operation: Any) -> int:
    length: int = operation.end_ns - operation.begin_ns
    return length


def number_rows(
    truth: TruthFile, steps: Steps, pairs: Pairs, apart: Apart, clock_error_ns: int
) -> Iterator[Row]:
    """Every number of every step that was not of warm-up."""
    again = _of_kernels(truth, pairs)
    issued = [row for row in truth.operations if row.op == "collective"]
    every = pairs.of("compute", "collective")
    for true in truth.steps:
        if true.is_warmup or true.step not in steps:
            continue
        mine = [pair for pair in every if pair.operation.step == true.step]
        called = [row for row in issued if row.step == true.step]
        of_waits = (PER_COLLECTIVE_NS + clock_error_ns + apart.instance_ns(row) for row in called)
        step = _Step(
            *(truth.header.rank, true, steps[true.step], again.get(true.step)),
            [pair for pair in mine if pair.operation.op == "collective"],
            sum(pair.operation.op == "compute" for pair in mine),
            len(called),
            apart.sum_ns(mine) if truth.header.backend == "host" else 0,
            sum(of_waits),
            truth.header.is_simulated,
            truth.header.is_crowded,
        )
        yield from _numbers(step)


def _of_kernels(truth: TruthFile, pairs: Pairs) -> dict[int, StepTruth]:
    """The steps as the kernels of the trace have them, by other code than that of the analysis."""
    every = {id(p.operation): p.kernel for p in pairs.of("compute", "collective", "copy")}
    operations = tuple(row for row in truth.operations if is_measured(row))
    if any(id(row) not in every for row in operations if row.op != "copy"):
        return {}
    kept = tuple(row for row in operations if id(row) in every)
    times = [(every[id(row)].start_ns, every[id(row)].end_ns) for row in kept]
    steps = tuple(step for step in truth.steps if not step.is_warmup)
    return partition(TruthFile(truth.header, kept, steps), times)


def _numbers(step: _Step) -> Iterator[Row]:
    place = Place(step.rank, step.true.step)
    for column, check in _CHECKS.items():
        true, found = getattr(step.true, column), step.found[column]
        if true is None or (column in _EXACT_ONLY and not step.is_exact):
            continue
        if found is None:
            yield not_told(check, place, _why_not(step, column))
        elif column in _BY_EVENTS and not step.is_exact and len(step.collectives) < step.issued:
            says = "its collectives could not be paired, so that what events take is not known"
            yield not_told(check, place, says)
        else:
            numbers = Numbers(true, found, step.tolerance(column))
            yield held(check, place, numbers, _blame(step, column))


def _why_not(step: _Step, column: str) -> str:
    if column == "exposed_wait_ns":
        return "no collective of the rank could be matched with those of the others"
    if step.found["window_ns"] is None:
        return "the step has no activity in the trace"
    return "a rule of trust withholds it: see the findings Q of commscope analyze"


def _blame(step: _Step, column: str) -> Blame:
    """The analysis, where its number is not that of the kernels that it read; else their times."""
    if column == "exposed_wait_ns" or step.of_kernels is None:
        return Blame(*_unclear(column))
    again: int = getattr(step.of_kernels, column)
    if abs(again - step.found[column]) > max(COMPUTE_SHARE * again, len(step.collectives)):
        says = f"the kernels of the trace come to {again:,} ns: the analysis is wrong"
        return Blame("commscope", says)
    if column == "exposed_comm_ns" and step.is_explained_by_events():
        says = (
            "the analysis agrees with the kernels of the trace, and these lie between the events "
            f"by which the job timed them: the events take {step.events_ns():,} ns in this step, "
            "more than is allowed for"
        )
        return Blame("truth", says)
    says = "the analysis agrees with the kernels of the trace, and these not with the truth"
    return Blame("profiler", says)


def _unclear(column: str) -> tuple[Suspect, str]:
    if column == "exposed_wait_ns":
        return "commscope", "waiting is told otherwise than by the arrivals that the job measured"
    return "profiler", "the trace lacks kernels, see there"
