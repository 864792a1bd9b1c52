"""Ticks of axes at round numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commscope.units import span

_ROUND = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Tick:
    """A label, and how far along the axis it stands, in percent."""

    label: str
    place: float
    is_minor: bool = False  #: not shown where there is little room


def time_ticks(length_ns: int, most: int = 5) -> list[Tick]:
    """Ticks from zero on at round times, at most so many after zero."""
    step = _round_step(length_ns, most)
    return [
        Tick(_label(at), round(100 * at / max(length_ns, 1), 3), bool(number % 2))
        for number, at in enumerate(range(0, length_ns + 1, step))
    ]


def _round_step(length: int, most: int) -> int:
    """The least of 1, 2 or 5 times a power of ten of which there are not too many."""
    power = 1
    while True:
        for factor in _ROUND:
            if length <= factor * power * most:
                return factor * power
        power *= 10


def _label(at_ns: int) -> str:
    """A round time without needless zeros: 20 ms."""
    if not at_ns:
        return "0"
    value, _, unit = span(at_ns).partition(" ")
    return f"{value.rstrip('0').rstrip('.') if '.' in value else value} {unit}"


def name_ticks(names: Sequence[str], most: int = 10) -> list[Tick]:
    """Ticks in the middle of equal places, at most so many of them."""
    every = -(-len(names) // most)
    return [
        Tick(names[place], round(100 * (place + 0.5) / len(names), 3), bool(place // every % 2))
        for place in range(0, len(names), every)
    ]
