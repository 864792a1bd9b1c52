"""Rules that other packages register in the entry-point group ``commscope.rules``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from commscope.errors import SchemaError
from commscope.findings.case import Case
from commscope.findings.rule import Draft, Look, Outcome, Rule, TraceRule
from commscope.findings.rules import BUILT_IN

_GROUP = "commscope.rules"
#: What importing or calling a module of others may end with.
_FAILURES = (
    *(ImportError, AttributeError, SyntaxError, NameError, TypeError, ValueError),
    *(LookupError, ArithmeticError, AssertionError, OSError, RuntimeError),
)


@cache
def all_rules() -> tuple[TraceRule, ...]:
    """The built-in rules, then one for each entry point, in the order of their names.

    Raises SchemaError naming an entry point that is no rule, or whose id is taken; so does such a
    rule itself where it fails.
    """
    found = list(BUILT_IN)
    for entry in sorted(entry_points(group=_GROUP), key=lambda entry: entry.name):
        found.append(_loaded(entry, {rule.id for rule in found}))
    return tuple(found)


def _loaded(entry: EntryPoint, taken: set[str]) -> TraceRule:
    where = f"rule {entry.name} ({entry.value})"
    try:
        rule = entry.load()
    except _FAILURES as error:
        raise SchemaError(f"{where}: cannot be loaded ({error}); update or uninstall it") from error
    if not isinstance(rule, Rule):
        raise SchemaError(f"{where}: is no commscope.findings.rule.Rule; update or uninstall it")
    if rule.id in taken:
        raise SchemaError(f"{where}: its id {rule.id} is taken; update or uninstall it")
    return replace(rule, look=_guarded(rule.look, where))


def _guarded(look: Look[Case, Draft], where: str) -> Look[Case, Draft]:
    """The same, but its failures are errors that name it."""

    def guarded(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
        try:
            return look(case, limits)
        except _FAILURES as error:
            says = f"{where}: failed with {type(error).__name__} ({error}); update or uninstall it"
            raise SchemaError(says) from error

    return guarded
