"""Whether two reports differ in their words only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any


def first_difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """The first section of two reports as JSON whose numbers differ; null where none does.

    Rows may stand in another order, as they sort by names.
    """
    sections = dict.fromkeys((*one, *other))
    return next((name for name in sections if _numbers(one, name) != _numbers(other, name)), None)


def _numbers(report: Mapping[str, Any], section: str) -> Counter[object]:
    return Counter(_values(report.get(section)))


def _values(value: object) -> Iterator[object]:
    """All but texts; how long lists are shows in their numbers."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, (list, tuple)):
        yield "list", len(value)
        for item in value:
            yield from _values(item)
    elif not isinstance(value, str):
        yield value
