"""The classes of activities, and the patterns with which a user corrects the built-in rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

from commscope.classify.families import COMPUTE_FAMILIES
from commscope.errors import UsageError


class ActivityClass(IntEnum):
    """What an activity of a device does; the numbers stand in ``Classes.of_event``."""

    COMPUTE = 0
    COMMUNICATION = 1
    COPY = 2


#: The classes by the names that patterns and configuration files use.
CLASS_NAMES = ("communication", "compute", "copy")


class Expression(Protocol):
    """What names fit: a regular expression, or the names that one was found to fit."""

    @property
    def pattern(self) -> str:
        """The expression as the user wrote it."""

    def search(self, string: str, /) -> object:
        """Something true where the name fits."""


@dataclass(frozen=True, slots=True)
class FoundNames:
    """All names that an expression was found to fit; none is ever run that others wrote."""

    pattern: str
    names: frozenset[str]

    def search(self, string: str, /) -> bool:
        """Whether this is one of the names."""
        return string in self.names


Expressions = tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Patterns:
    """Regular expressions, searched in the whole name, that win over the built-in rules.

    Classes come before families; a name that fits several classes is communication before copy
    before compute. A family makes the name compute. ``compute`` alone keeps the built-in family.
    """

    communication: Expressions = ()
    compute: Expressions = ()
    copy: Expressions = ()
    families: Mapping[str, Expressions] = field(default_factory=dict)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Patterns:
        """Patterns from texts such as ``communication=REGEX`` or ``gemm=REGEX``.

        Raises UsageError naming the text that is not of this form, or whose class or regular
        expression is not valid.
        """
        found: dict[str, list[str]] = {}
        for text in texts:
            name, separator, regex = text.partition("=")
            if not separator:
                raise UsageError(f"pattern {text!r}: expected NAME=REGEX, with NAME {_known()}")
            found.setdefault(name.strip(), []).append(regex)
        return cls.of(found)

    @classmethod
    def of(cls, regexes: Mapping[str, Iterable[str]]) -> Patterns:
        """Patterns from texts by class or family; raises UsageError as ``parse`` does."""
        return cls.by_name(
            {name: tuple(_compile(name, r) for r in texts) for name, texts in regexes.items()}
        )

    @classmethod
    def by_name(cls, given: Mapping[str, Expressions]) -> Patterns:
        """Patterns by class or family; raises UsageError where there is none of that name."""
        for name in given:
            _require_known(name, f"pattern {name}")
        families = {name: given[name] for name in given if name not in CLASS_NAMES}
        return cls(**{name: given.get(name, ()) for name in CLASS_NAMES}, families=families)

    def with_others(self, others: Patterns) -> Patterns:
        """These patterns first, then the others."""
        names = (*self.families, *(n for n in others.families if n not in self.families))
        return Patterns(
            communication=self.communication + others.communication,
            compute=self.compute + others.compute,
            copy=self.copy + others.copy,
            families={n: self.families.get(n, ()) + others.families.get(n, ()) for n in names},
        )

    def activity_class(self, name: str) -> ActivityClass | None:
        """The class these patterns give the name, or None where they say nothing."""
        if _fits(self.communication, name):
            return ActivityClass.COMMUNICATION
        if _fits(self.copy, name):
            return ActivityClass.COPY
        if _fits(self.compute, name) or self.family(name):
            return ActivityClass.COMPUTE
        return None

    def family(self, name: str) -> str | None:
        """The first family whose patterns fit the name, or None."""
        return next((f for f, regexes in self.families.items() if _fits(regexes, name)), None)


#: The built-in rules alone.
NO_PATTERNS = Patterns()


def _fits(expressions: Expressions, name: str) -> bool:
    return any(expression.search(name) for expression in expressions)


def _known() -> str:
    return "one of " + ", ".join((*CLASS_NAMES, *COMPUTE_FAMILIES))


def _compile(name: str, regex: str) -> re.Pattern[str]:
    where = f"pattern {name}={regex}"
    _require_known(name, where)
    if not regex:
        raise UsageError(f"{where}: the regular expression is empty and would fit every name")
    try:
        return re.compile(regex)
    except re.error as error:
        raise UsageError(f"{where}: not a regular expression: {error}") from error


def _require_known(name: str, where: str) -> None:
    if name not in CLASS_NAMES and name not in COMPUTE_FAMILIES:
        raise UsageError(f"{where}: unknown class or family {name!r}; use {_known()}")
