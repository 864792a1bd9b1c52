"""Whether the trace has every operation: how many, in which order, of which size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from commscope.generator.grading.model import Blame, Numbers, Place, Row, held, not_told
from commscope.generator.grading.pairs import Kind, Pair, Pairs, identifier, is_measured
from commscope.generator.grading.traces import Traces
from commscope.units import size

_CHECKS: dict[Kind, str] = {
    "compute": "compute kernels",
    "collective": "collectives",
    "copy": "copies",
}
_SIZED: tuple[Kind, ...] = ("collective", "copy")
#: A send and a receive that were launched together are one kernel.
_MESSAGES = {"send", "recv", "send_recv"}


def count_rows(pairs: Pairs, traces: Traces) -> Iterator[Row]:
    """Numbers of kernels and collectives, and their order."""
    for kind, check in _CHECKS.items():
        # The program copies its stamps, too, after the last step.
        if kind != "copy" or len(pairs.found[kind]) < len(pairs.true[kind]):
            yield _number(pairs, kind, check)
        if pairs.is_complete(kind):
            yield from _launched_in_step(pairs.of(kind), Place(pairs.rank), traces, check)
    yield _order("compute kernels", pairs.of("compute"), pairs.rank)
    yield _order("collectives", pairs.of("collective"), pairs.rank)
    for kind in _SIZED:
        if pairs.true[kind]:
            yield _sizes(pairs, kind)


def _number(pairs: Pairs, kind: Kind, check: str) -> Row:
    true, found = pairs.true[kind], pairs.found[kind]
    says = f"the trace has {len(found):,}, the job launched {len(true):,}{_where(pairs, kind)}: "
    says += "events were lost" if len(found) < len(true) else "more than the truth knows of"
    blame = Blame("profiler" if len(found) < len(true) else "truth", says)
    return held(check, Place(pairs.rank), Numbers(len(true), len(found), unit="count"), blame)


def _where(pairs: Pairs, kind: Kind) -> str:
    """The first step whose numbers differ, where the trace tells in which kernels were launched."""
    found = Counter(kernel.step for kernel in pairs.found[kind] if kernel.step is not None)
    true = Counter(row.step or 0 for row in pairs.true[kind] if is_measured(row))
    apart = [step for step in sorted(true) if found and true[step] != found[step]]
    if not apart:
        return ""
    first = apart[0]
    return f"; first in step {first}, {found[first]} of {true[first]}"


def _launched_in_step(
    pairs: Sequence[Pair], place: Place, traces: Traces, check: str
) -> Iterator[Row]:
    """Whether kernels are told to be of the step that they are of."""
    if traces.report.summary.step_source not in ("annotation", "marker"):
        return
    told = [pair for pair in pairs if pair.kernel.step is not None]
    right = sum(pair.kernel.step == pair.operation.step for pair in told)
    says = "kernels are counted in another step than the one in which they were launched"
    numbers = Numbers(len(told), right, unit="count")
    yield held(check, place._replace(what="by step"), numbers, Blame("commscope", says))


def _order(what: str, pairs: Sequence[Pair], rank: int) -> Row:
    place = Place(rank, what=what)
    told = [(_true_name(pair), _found_name(pair)) for pair in pairs]
    told = [names for names in told if all(names)]
    if not told:
        return not_told("order", place, "the trace does not tell them apart")
    right = sum(true == found for true, found in told)
    first = next((n for n, (true, found) in enumerate(told) if true != found), 0)
    says = f"number {first} is {told[first][1]}, the job launched {told[first][0]}"
    numbers = Numbers(len(told), right, unit="count")
    return held("order", place, numbers, Blame("profiler", says))


def _true_name(pair: Pair) -> str:
    if pair.operation.op == "collective":
        return _op(pair.operation.coll)
    return identifier(pair.operation.name)


def _found_name(pair: Pair) -> str | None:
    if pair.operation.op == "collective":
        return pair.kernel.op and _op(pair.kernel.op)
    return identifier(pair.kernel.name)


def _op(op: str) -> str:
    return "message" if op in _MESSAGES else op


def _sizes(pairs: Pairs, kind: Kind) -> Row:
    place = Place(pairs.rank, what=_CHECKS[kind])
    told = [
        pair
        for pair in pairs.of(kind)
        if pair.kernel.size_bytes is not None and pair.kernel.op != "barrier"
    ]
    if not told:
        return not_told("sizes", place, "the trace does not tell the bytes, or not of which")
    wrong = [pair for pair in told if pair.kernel.size_bytes != pair.operation.bytes]
    says = ""
    if wrong:
        true, found = wrong[0].operation.bytes, wrong[0].kernel.size_bytes or 0
        says = f"the first of {len(wrong):,} has {size(found)}, the job moved {size(true)}"
    numbers = Numbers(len(told), len(told) - len(wrong), unit="count")
    return held("sizes", place, numbers, Blame("profiler", says))
