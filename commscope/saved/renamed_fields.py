"""Dataclasses with the texts in them renamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

_Described = TypeVar("_Described")


def renamed_fields(
    it: _Described, special: Mapping[str, Callable[[str], str]], text: Callable[[str], str]
) -> _Described:
    """The dataclass with all texts renamed: those of some fields specially, all others alike."""
    values: Any = it
    new = {
        field.name: _renamed(getattr(it, field.name), special.get(field.name, text))
        for field in fields(values)
        if field.init
    }
    found: _Described = replace(values, **new)
    return found


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, dict):
        return {_renamed(key, rename): _renamed(item, rename) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_renamed(item, rename) for item in value)
    return value
