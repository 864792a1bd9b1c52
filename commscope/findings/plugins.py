"""Rules that other packages register in the entry-point group ``commscope.rules``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from commscope.errors import SchemaError
from commscope.findings.log_rules import BUILT_IN_LOG
from commscope.findings.rule import AnyRule, LogRule, Look, Outcome, Rule, TraceRule
from commscope.findings.rules import BUILT_IN

_GROUP = "commscope.rules"
#: What importing or calling a module of others may end with.
_FAILURES = (
    *(ImportError, AttributeError, SyntaxError, NameError, TypeError, ValueError),
    *(LookupError, ArithmeticError, AssertionError, OSError, RuntimeError),
)


@cache
def all_rules() -> tuple[TraceRule, ...]:
    """The built-in rules on traces, then one for each entry point, in the order of their names.

    Raises SchemaError naming an entry point that is no rule, or whose id is taken; so does such a
    rule itself where it fails.
    """
    return (*BUILT_IN, *(rule for rule in _registered() if rule.family != "log"))


@cache
def all_log_rules() -> tuple[LogRule, ...]:
    """The same of the rules on logs: those of the family ``log``."""
    return (*BUILT_IN_LOG, *(rule for rule in _registered() if rule.family == "log"))


def every_rule() -> tuple[AnyRule, ...]:
    """The rules on traces, then those on logs."""
    return (*all_rules(), *all_log_rules())


def _registered() -> tuple[AnyRule, ...]:
    """The rules of other packages."""
    built_in: tuple[AnyRule, ...] = (*BUILT_IN, *BUILT_IN_LOG)
    taken = {rule.id for rule in built_in}
    found: list[AnyRule] = []
    for entry in sorted(entry_points(group=_GROUP), key=lambda entry: entry.name):
        rule = _loaded(entry, taken)
        taken.add(rule.id)
        found.append(rule)
    return tuple(found)


def _loaded(entry: EntryPoint, taken: set[str]) -> AnyRule:
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


def _guarded(look: Look[Any, Any], where: str) -> Look[Any, Any]:
    """The same, but its failures are errors that name it."""

    def guarded(case: Any, limits: Mapping[str, float]) -> Outcome[Any]:
        try:
            return look(case, limits)
        except _FAILURES as error:
            says = f"{where}: failed with {type(error).__name__} ({error}); update or uninstall it"
            raise SchemaError(says) from error

    return guarded
