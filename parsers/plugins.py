"""Parsers that other packages register in the entry-point group ``commscope.parsers``."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from commscope.errors import SchemaError
from commscope.parsers.base import Parser

_GROUP = "commscope.parsers"
_PARTS = ("name", "description", "match", "read")
#: What importing a module of others and calling what it holds may end with.
_FAILURES = (
    *(ImportError, AttributeError, SyntaxError, NameError, TypeError, ValueError),
    *(LookupError, ArithmeticError, AssertionError, OSError, RuntimeError),
)


@cache
def plugins() -> tuple[Parser, ...]:
    """One parser an entry point, loaded once; raises SchemaError naming one that is no parser."""
    return tuple(_loaded(entry) for entry in entry_points(group=_GROUP))


def _loaded(entry: EntryPoint) -> Parser:
    where = f"plug-in {entry.name} ({entry.value})"
    try:
        parser: Parser = entry.load()()
    except _FAILURES as error:
        raise SchemaError(f"{where}: cannot be loaded ({error}); update or uninstall it") from error
    missing = [part for part in _PARTS if not hasattr(parser, part)]
    if missing:
        raise SchemaError(
            f"{where}: is no parser, as it lacks {missing[0]}; update or uninstall it"
        )
    return parser
