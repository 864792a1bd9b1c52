"""Expressions: ``NAME OP LIMIT``, read by a small parser of their own, never evaluated as code.

summary.shares.exposed_comm > 15%           a number with a unit, or in the report's own
ranks[3].partition.idle_ns >= 2ms           rank 3; ranks[] is any rank
collectives[op=all_reduce].busbw_gbps < 200
trust.verdict != ok                         a text
step_ns.p50 > baseline + 5%                 above what the baseline had, and above its noise
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from commscope.errors import UsageError
from commscope.gate.names import NUMBERED, Name, Segment, UnknownName, resolve
from commscope.gate.quantities import UNITS, is_share

Operator = Literal[">", ">=", "<", "<=", "==", "!="]

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_CHOICE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(\"[^\"]*\"|[^,\"]+?)\s*(?:,|$)")
_OPERATOR = re.compile(r">=|<=|==|!=|>|<")
_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d{1,3}))?\s*(%|[A-Za-z][A-Za-z/]*)?", re.I)
_BASELINE = re.compile(r"baseline\b")
_TEXT = re.compile(r"\"([^\"]*)\"|([^\s\"]+)")
_MOST_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class FromBaseline:
    """The limit that the runs of the baseline set; both margins null: beyond their noise."""

    ratio: float | None = None  #: of the baseline's value
    amount: float | None = None  #: in the report's own unit


@dataclass(frozen=True, slots=True)
class Expression:
    """What must not be; ``text`` is how it was written."""

    text: str
    name: Name
    operator: Operator
    limit: float | str | bool | FromBaseline

    @property
    def is_relative(self) -> bool:
        """Whether it is judged against a baseline."""
        return isinstance(self.limit, FromBaseline)


def parse(text: str) -> Expression:
    """Reads an expression; raises UsageError that says where it cannot be understood, and why."""
    if len(text) > _MOST_CHARACTERS:
        raise UsageError(f"--fail-on {text[:40]}...: longer than {_MOST_CHARACTERS} characters")
    return _Reader(text).expression()


class _Reader:
    """Reads from left to right; ``at`` is the next character."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def expression(self) -> Expression:
        try:
            name = resolve(self._segments())
        except UnknownName as error:
            raise self._wrong(str(error), error.at) from error
        operator = self._operator(name)
        limit = self._limit(name, operator)
        self._skip()
        if self.at < len(self.text):
            raise self._wrong("nothing may follow the limit")
        return Expression(self.text.strip(), name, operator, limit)

    def _segments(self) -> list[Segment]:
        found = [self._segment()]
        while self._take(re.compile(r"\.")):
            found.append(self._segment())
        return found

    def _segment(self) -> Segment:
        self._skip()
        at, key = self.at, self._take(_KEY)
        if not key:
            raise self._wrong("a name of the report's JSON belongs here, as summary.step_ns.p50")
        inside = self._take(_BRACKETS)
        return Segment(key[0], None if inside is None else self._choices(key[0], inside[1], at), at)

    def _choices(self, key: str, text: str, at: int) -> tuple[tuple[str, str], ...]:
        if not text.strip():
            return ()
        if text.strip().isdecimal():
            if key not in NUMBERED:
                raise self._wrong(f"entries of {key} have no number: write [KEY=VALUE] or []", at)
            return ((NUMBERED[key], str(int(text))),)
        found, place = [], 0
        while place < len(text):
            pair = _CHOICE.match(text, place)
            if not pair:
                raise self._wrong(f"[{text}] must be empty, a number, or KEY=VALUE", at)
            found.append((pair[1], pair[2].strip('"')))
            place = pair.end()
        return tuple(found)

    def _operator(self, name: Name) -> Operator:
        self._skip()
        found = self._take(_OPERATOR)
        if not found:
            raise self._wrong("one of > >= < <= == != belongs here")
        operator: Operator = found[0]  # type: ignore[assignment]
        if name.kind in ("text", "flag") and operator not in ("==", "!="):
            raise self._wrong(f"{name} is no number: compare it by == or !=", found.start())
        return operator

    def _limit(self, name: Name, operator: Operator) -> float | str | bool | FromBaseline:
        self._skip()
        if self._take(_BASELINE):
            return self._from_baseline(name, operator)
        return self._text(name) if name.kind in ("text", "flag") else self._number(name)

    def _text(self, name: Name) -> str | bool:
        at, found = self.at, self._take(_TEXT)
        if not found:
            raise self._wrong("the text to compare with belongs here")
        text: str = found[1] if found[1] is not None else found[2]
        if name.choices and text not in name.choices:
            raise self._wrong(f"{name} is one of {', '.join(name.choices)}", at)
        return text == "true" if name.kind == "flag" else text

    def _number(self, name: Name) -> float:
        at = self.at
        is_negative = self._take(re.compile("-")) is not None
        value, unit = self._quantity()
        factor = self._factor(name, unit, at)
        if is_share(name.keys) and not 0 <= value * factor <= 1:
            says = f"{name} lies between 0 and 1: for {value:g} percent write {value:g}%"
            raise self._wrong(says, at)
        return -value * factor if is_negative else value * factor

    def _quantity(self) -> tuple[float, str | None]:
        found = self._take(_NUMBER)
        if not found:
            raise self._wrong("a number belongs here, or baseline")
        return float(found[1]) * 10.0 ** int(found[2] or 0), found[3]

    def _factor(self, name: Name, unit: str | None, at: int) -> float:
        if unit is None:
            return 1.0
        units = UNITS.get(name.kind, {})
        if unit in units:
            return units[unit]
        known = f"one of {', '.join(units)}" if units else "none, it counts"
        raise self._wrong(f"{unit} is no unit of {name}: {known}", at)

    def _from_baseline(self, name: Name, operator: Operator) -> FromBaseline:
        if operator in ("==", "!=") or name.kind in ("text", "flag"):
            raise self._wrong("a baseline gives a limit for > >= < <= of a number")
        if not name.names_one:
            raise self._wrong(f"{name} may be several values: a baseline can judge one")
        self._skip()
        sign = self._take(re.compile(r"[+-]"))
        if not sign:
            return FromBaseline()
        if sign[0] != ("+" if operator in (">", ">=") else "-"):
            says = "the margin must lead away from what is good: > baseline + 5%, < baseline - 5%"
            raise self._wrong(says, sign.start())
        self._skip()
        at = self.at
        value, unit = self._quantity()
        if unit == "%":
            return FromBaseline(ratio=value / 100)
        return FromBaseline(amount=value * self._factor(name, unit, at))

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _wrong(self, says: str, at: int | None = None) -> UsageError:
        place = (self.at if at is None else at) + 1
        return UsageError(f"--fail-on {self.text!r}, character {place}: {says}")
