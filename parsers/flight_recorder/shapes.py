"""Shapes and types of tensors, as text and as numbers of elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from commscope.wording import listed

#: Shapes, types or names of a list that are kept; of others only how many there are.
MOST_SHOWN = 8
_MOST_DIMENSIONS = 64
_MOST_CHARACTERS = 500
_MOST_ELEMENTS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Shape:
    """Shapes of the tensors on one side of an operation."""

    text: str | None = None
    elements: int | None = None


class Shapes:
    """Shapes of one dump.

    A list that many entries share is looked at once: a pickle can share it as often as it likes.
    """

    def __init__(self) -> None:
        self._known: dict[int, Shape] = {}
        self._words: dict[int, str | None] = {}

    def of(self, sizes: Any) -> Shape:
        """The shapes in a list of lists of numbers; empty where it is something else."""
        if not isinstance(sizes, list):
            return Shape()
        if id(sizes) not in self._known:
            self._known[id(sizes)] = _shape(sizes)
        return self._known[id(sizes)]

    def words(self, values: Any) -> str | None:
        """Names in a list, joined."""
        if not isinstance(values, list):
            return None
        if id(values) not in self._words:
            names = [text for text in map(text_or_none, values) if text is not None]
            self._words[id(values)] = listed(dict.fromkeys(names), MOST_SHOWN) if names else None
        return self._words[id(values)]


def _shape(sizes: Sequence[Any]) -> Shape:
    total = 0
    for dimensions in sizes:
        if not _are_numbers(dimensions):
            return Shape()
        total += prod(dimensions)
        if not 0 <= total <= _MOST_ELEMENTS:
            return Shape()
    shapes = ("x".join(map(str, dimensions)) or "scalar" for dimensions in sizes)
    return Shape(listed(shapes, MOST_SHOWN), total)


def _are_numbers(dimensions: Any) -> bool:
    return (
        isinstance(dimensions, (list, tuple))
        and len(dimensions) <= _MOST_DIMENSIONS
        and all(type(number) is int and abs(number) <= _MOST_ELEMENTS for number in dimensions)
    )


def text_or_none(value: Any) -> str | None:
    """Text of a dump, the beginning of a very long one; null where it is no text."""
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else None
