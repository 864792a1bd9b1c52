"""The answer of ``analyze --as``: another tool's figures, ours, and what the difference is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

#: Version of the JSON; a new one only where a name goes or changes its meaning.
SCHEMA = "commscope.as/1"

Unit = Literal["ns", "percent"]
#: Times are whole ns, shares exact fractions of hundred; null where there is nothing to divide by.
Value = int | Fraction | None
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure that a tool gives.

    ``name`` is its own; ``decimals`` as many as it prints, of microseconds where it is a time.
    """

    name: str
    unit: Unit
    decimals: int
    means: str  #: what of ours it is compared with


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the tool beside ours."""

    quantity: Quantity
    theirs: Value
    ours: Value

    @property
    def difference(self) -> Value:
        """Theirs less ours; null where one of them is."""
        return minus(self.theirs, self.ours)


@dataclass(frozen=True, slots=True)
class Reason:
    """One change on the way from our definition to theirs, and what it does to each figure.

    ``kind`` is "definition", "bug", or "printed": only how the figure is written.
    """

    key: str
    kind: Literal["definition", "bug", "printed"]
    says: str
    effects: Values


@dataclass(frozen=True, slots=True)
class Answer:
    """The figures of one rank, of one of its steps where the tool gives them so.

    ``fails`` is the error that the tool stops with instead; ``approximate`` says what the trace
    lacks to give its figures to the last digit.
    """

    rank: int
    step: str | None
    variant: str
    figures: tuple[Figure, ...]
    reasons: tuple[Reason, ...]
    fails: str | None
    approximate: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the version whose figures are given, and its definition in a sentence."""

    title: str
    version: str
    definition: str
    without_activities: str  #: what it does with a trace that holds no activity of a GPU


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What a tool says of a trace, and why it differs from what commscope says."""

    name: str  #: as ``--as`` takes it
    tool: Tool
    notes: tuple[str, ...]
    answers: tuple[Answer, ...]

    def to_dict(self) -> dict[str, Any]:
        """The document of schema ``commscope.as/1``; times in ns, shares in percent."""
        return {
            "schema": SCHEMA,
            "tool": self.name,
            "title": self.tool.title,
            "version": self.tool.version,
            "definition": self.tool.definition,
            "notes": list(self.notes),
            "answers": [_answer_dict(answer) for answer in self.answers],
        }


def minus(a: Value, b: Value) -> Value:
    """The difference; null where one of them is."""
    return None if a is None or b is None else a - b


def shown(value: Value, quantity: Quantity) -> str:
    """The figure as the tool prints it: microseconds or percent."""
    if value is None:
        return "n/a"
    scaled = Fraction(value, 1000) if quantity.unit == "ns" else Fraction(value)
    text = f"{float(scaled):,.{quantity.decimals}f}"
    return text if text.strip("-0.") else text.lstrip("-")


def _answer_dict(answer: Answer) -> dict[str, Any]:
    return {
        "rank": answer.rank,
        "step": answer.step,
        "variant": answer.variant,
        "fails": answer.fails,
        "approximate": list(answer.approximate),
        "figures": [_figure_dict(figure) for figure in answer.figures],
        "reasons": [
            {
                "key": reason.key,
                "kind": reason.kind,
                "says": reason.says,
                "effects": {name: _number(value) for name, value in reason.effects.items()},
            }
            for reason in answer.reasons
        ],
    }


def _figure_dict(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.quantity.name,
        "unit": figure.quantity.unit,
        "compared_with": figure.quantity.means,
        "theirs": _number(figure.theirs),
        "shown": shown(figure.theirs, figure.quantity),
        "ours": _number(figure.ours),
        "difference": _number(figure.difference),
    }


def _number(value: Value) -> int | float | None:
    return float(value) if isinstance(value, Fraction) else value
