"""Plug-ins are loaded once, and a faulty one is an error that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint

import pytest

from commscope.errors import SchemaError
from commscope.parsers import plugins as plugins_module
from commscope.parsers.kineto import KinetoParser
from commscope.parsers.plugins import plugins

Register = Callable[..., list[int]]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Has these values as the only entry points; returns how often they were looked up."""
    lookups: list[int] = []

    def use(*values: str) -> list[int]:
        found = [EntryPoint("mine", value, "commscope.parsers") for value in values]

        def look_up(*, group: str) -> list[EntryPoint]:
            lookups.append(len(group))
            return found

        monkeypatch.setattr(plugins_module, "entry_points", look_up)
        return lookups

    plugins.cache_clear()
    yield use
    plugins.cache_clear()


def test_loaded_once(register: Register) -> None:
    lookups = register("commscope.parsers.kineto:KinetoParser")
    assert isinstance(plugins()[0], KinetoParser)
    assert plugins() is plugins()
    assert len(lookups) == 1


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no_such_module_anywhere:Parser", "cannot be loaded"),
        ("commscope.parsers.kineto:NoSuchParser", "cannot be loaded"),
        ("commscope.errors:__doc__", "cannot be loaded"),
        ("json:JSONEncoder", "is no parser, as it lacks name"),
    ],
)
def test_a_faulty_one_is_named(value: str, says: str, register: Register) -> None:
    register(value)
    with pytest.raises(SchemaError, match=rf"^plug-in mine \({value}\): {says}"):
        plugins()
