"""From our definition to another one change at a time, so that the effects add up exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Literal, TypeVar

from commscope.peers.model import Answer, Figure, Quantity, Reason, Value, Values, minus

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Change(Generic[State]):
    """A change of what is measured."""

    key: str
    kind: Literal["definition", "bug"]
    says: str
    apply: Callable[[State], State]


@dataclass(frozen=True, slots=True)
class Subject:
    """What an answer is about."""

    rank: int
    step: str | None
    variant: str
    approximate: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure(Generic[State]):
    """What is measured, how, and why the tool stops with an error instead; null: it does not."""

    quantities: Sequence[Quantity]
    values: Callable[[State], Values]
    fails: Callable[[State], str | None]


def answer(
    subject: Subject, measure: Measure[State], begin: State, changes: Sequence[Change[State]]
) -> Answer:
    """The figures after all changes beside those before, with the effect of each change.

    Changes without any effect are left out. The last effect is that of printing. Where the tool
    fails after all changes, there are our figures only.
    """
    quantities = measure.quantities
    ours = now = measure.values(begin)
    reasons, state = [], begin
    for change in changes:
        before, state = now, change.apply(state)
        now = measure.values(state)
        effects = _effects(quantities, now, before)
        reasons.append(Reason(change.key, change.kind, change.says, effects))
    if (says := measure.fails(state)) is not None:
        return _failed(subject, quantities, ours, says)
    printed = {q.name: as_printed(now[q.name], q) for q in quantities}
    effects = _effects(quantities, printed, now)
    reasons.append(Reason("printed", "printed", "it prints fewer decimals", effects))
    figures = tuple(Figure(q, printed[q.name], ours[q.name]) for q in quantities)
    felt = tuple(reason for reason in reasons if any(reason.effects.values()))
    return Answer(
        subject.rank, subject.step, subject.variant, figures, felt, None, subject.approximate
    )


def _failed(subject: Subject, quantities: Sequence[Quantity], ours: Values, says: str) -> Answer:
    figures = tuple(Figure(q, None, ours[q.name]) for q in quantities)
    return Answer(
        subject.rank, subject.step, subject.variant, figures, (), says, subject.approximate
    )


def as_printed(value: Value, quantity: Quantity) -> Value:
    """The figure to as many decimals as the tool prints; a time in whole ns."""
    if value is None:
        return None
    if quantity.unit == "percent":
        return round(Fraction(value), quantity.decimals)
    step = {0: 1000, 1: 100, 3: 1}[quantity.decimals]
    return round(Fraction(value, step)) * step


def share(part: Value, of: Value) -> Value:
    """A part in percent; null where there is nothing to divide by."""
    return None if part is None or not of else Fraction(100 * part, of)


def _effects(quantities: Sequence[Quantity], after: Values, before: Values) -> Values:
    return {q.name: minus(after[q.name], before[q.name]) for q in quantities}
