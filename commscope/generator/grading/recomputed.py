"""Whether a truth file agrees with itself: its steps are computed anew from its operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from commscope.generator.grading.model import Blame, Numbers, Place, Row, failed, held
from commscope.generator.grading.tolerances import ROUNDING_NS
from commscope.generator.schedule import COLLECTIVE_OPS, Collective, Compute, Copy, DeviceOperation
from commscope.generator.simulation import Activity, RankRun, Span
from commscope.generator.truth import StepTruth, rank_truths
from commscope.generator.truth_file import SCHEMAS, TruthFile, TruthOperation

_CHECK = "truth adds up"
#: What both schemas define alike; of a step's window the older one counts its own operations only.
PARTS = ("compute_ns", "communication_ns", "hidden_comm_ns", "exposed_comm_ns")
_NEWER_PARTS = (*PARTS, "exposed_wait_ns", "exposed_copy_ns", "idle_ns", "window_ns")

_KINDS: dict[str, DeviceOperation] = {
    "compute": Compute("", "", 0),
    "copy": Copy("", "", 0),
    "collective": Collective("", "", "", 0),
}
_ALTERED = Blame(
    "truth", "it is not what the operations add up to: the file was altered, or lines are missing"
)
#: The number of a collective whose number is not known.
_NO_SEQ = -1
Times = Sequence[tuple[int, int]]


def partition(truth: TruthFile, times: Times | None = None) -> dict[int, StepTruth]:
    """The steps of a rank, as its operations have them; ``times`` instead of their own."""
    spans = times or [(row.begin_ns, row.end_ns) for row in truth.operations]
    activities = tuple(
        Activity(
            _KINDS[row.op], number, 0, 0, row.step, number if row.op == "collective" else None, *at
        )
        for number, (row, at) in enumerate(zip(truth.operations, spans))
    )
    rank = truth.header.rank
    steps = tuple(Span("", row.host_begin_ns, row.host_end_ns, row.step) for row in truth.steps)
    waits = {
        (number, rank): row.wait_ns
        for number, row in enumerate(truth.operations)
        if row.wait_ns is not None
    }
    found = rank_truths(rank, RankRun(activities, (), steps), waits)
    return {step.step: step for step in found}


def truth_rows(truths: Mapping[int, TruthFile]) -> Iterator[Row]:
    """A row for each number of each step, and one for the waits of each rank."""
    for _, truth in sorted(truths.items()):
        yield from _steps_add_up(truth)
        yield _numbers_follow(truth)
    yield from _waits_add_up(truths)


def _steps_add_up(truth: TruthFile) -> Iterator[Row]:
    rank, is_old = truth.header.rank, truth.header.schema == SCHEMAS[0]
    again = partition(truth)
    stray = {row.step for row in truth.operations if row.step is not None} - set(again)
    for step in sorted(stray):
        says = "it has operations, but no line of its own: the file was altered or cut"
        yield failed(_CHECK, Place(rank, step), Blame("truth", says))
    for row in truth.steps:
        of_operations = {name: getattr(again[row.step], name) for name in _NEWER_PARTS}
        if is_old:
            of_operations |= {"window_ns": _own_window_ns(truth, row.step)}
        for name in (*PARTS, "exposed_copy_ns", "window_ns") if is_old else _NEWER_PARTS:
            told = getattr(row, name)
            if told is not None:
                numbers = Numbers(of_operations[name], told, ROUNDING_NS if is_old else 0)
                yield held(_CHECK, Place(rank, row.step, _words(name)), numbers, _ALTERED)
        if row.host_end_ns < row.host_begin_ns:
            blame = Blame("truth", "the step ends on the host before it begins: altered")
            yield failed(_CHECK, Place(rank, row.step), blame)


def _numbers_follow(truth: TruthFile) -> Row:
    """Whether the collectives of each communicator are numbered one after the other."""
    every: defaultdict[str, list[int]] = defaultdict(list)
    for row in truth.operations:
        if row.op == "collective" and row.coll in COLLECTIVE_OPS and row.comm:
            every[row.comm].append(row.seq)
    found = {comm: seqs for comm, seqs in every.items() if set(seqs) != {_NO_SEQ}}
    right = sum(seqs == list(range(seqs[0], seqs[0] + len(seqs))) for seqs in found.values())
    numbers = Numbers(len(found), right, unit="count")
    says = "the collectives of a communicator are not numbered one after the other: altered"
    place = Place(truth.header.rank, what="communicators")
    return held(_CHECK, place, numbers, Blame("truth", says))


def _own_window_ns(truth: TruthFile, step: int) -> int:
    """From the first operation of a step to the last, as the older schema has it."""
    mine = [row for row in truth.operations if row.step == step]
    if not mine:
        return 0
    return max(row.end_ns for row in mine) - min(row.begin_ns for row in mine)


def _words(name: str) -> str:
    return name.removesuffix("_ns").replace("_", " ")


def _waits_add_up(truths: Mapping[int, TruthFile]) -> Iterator[Row]:
    """Every wait that a file tells, against the last arrival of the other files."""
    wrong: dict[int, int] = {}
    for members in _instances(truths):
        last = max(_arrival(truths[rank], row) for rank, row in members)
        for rank, row in members:
            if row.wait_ns is not None:
                arrival = _arrival(truths[rank], row)
                counts = arrival + row.end_ns - row.begin_ns > last
                is_wrong = row.wait_ns != (last - arrival if counts else 0)
                wrong[rank] = wrong.get(rank, 0) + is_wrong
    says = "waits are not what the arrivals of the ranks come to: a file was altered"
    for rank, count in sorted(wrong.items()):
        numbers = Numbers(0, count, unit="count")
        yield held(_CHECK, Place(rank), numbers, Blame("truth", says))


def _arrival(truth: TruthFile, row: TruthOperation) -> int:
    """On the monotonic clock of the host."""
    clock = truth.header.clock
    return row.begin_ns + (clock.monotonic_ns if clock else 0)


def _instances(truths: Mapping[int, TruthFile]) -> list[list[tuple[int, TruthOperation]]]:
    """Collectives by communicator and number, of all ranks that have them."""
    found: defaultdict[tuple[str, int], list[tuple[int, TruthOperation]]] = defaultdict(list)
    for rank, truth in sorted(truths.items()):
        for row in truth.operations:
            if row.op == "collective" and row.coll in COLLECTIVE_OPS and row.comm and row.seq >= 0:
                found[row.comm, row.seq].append((rank, row))
    return list(found.values())
