"""The JSON Schema of the report, made of the tables of docs/json-report.md: one source for both.

A row of the page is a key, its type and its meaning. A meaning that begins with words in backticks,
such as "`ok`, `limited` or `unusable`", lists all values. Keys that are not described at their own
row follow from those below them: they are objects or lists, and never null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "json-report.md"
SCHEMA = ROOT / "commscope" / "report" / "report-1.schema.json"

_ROW = re.compile(r"^\| `([\w.\[\]]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_VALUES = re.compile(r"`[^`]+`(?:, `[^`]+`)*(?: or `[^`]+`)?(?:;.*)?")
_TYPES = {
    "text": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "object": "object",
    "list": "array",
    "true, false": "boolean",
}
_PARTITION = "partition"
#: The sections that are there only if they are asked for.
_OPTIONAL = {"instances"}


@dataclass(slots=True)
class _Key:
    """What the page says of a key, and the keys below it."""

    type: str | None = None
    meaning: str = ""
    below: dict[str, _Key] = field(default_factory=dict)


def rows(page: str) -> Iterator[tuple[str, str, str]]:
    """(Key, type, meaning) of every row of the page."""
    for key, kind, meaning in _ROW.findall(page):
        yield key, kind.strip(), meaning.strip()


def schema(page: str) -> dict[str, Any]:
    """The schema that the page describes."""
    root = _tree(page)
    partition = root.below.pop(_PARTITION)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "commscope.report/1",
        "description": "What commscope analyze --format json prints; see docs/json-report.md.",
        **_object(root),
        "$defs": {_PARTITION: _object(partition)},
    }


def schema_text() -> str:
    """The file as it must be."""
    return json.dumps(schema(PAGE.read_text(encoding="utf-8")), indent=1) + "\n"


def _tree(page: str) -> _Key:
    root = _Key()
    for path, kind, meaning in rows(page):
        at = root
        for name in path.replace("[]", ".[]").split("."):
            at = at.below.setdefault(name, _Key())
        at.type, at.meaning = kind, meaning
    return root


def _described(key: _Key, name: str) -> dict[str, Any]:
    types = _types(key)
    if name == _PARTITION:
        found: dict[str, Any] = {"$ref": f"#/$defs/{_PARTITION}"}
        return {"anyOf": [found, {"type": "null"}]} if "null" in types else found
    if "[]" in key.below:
        body: dict[str, Any] = {"items": _described(key.below["[]"], "[]")}
    else:
        body = _object(key) if key.below else _values(key)
        body.pop("type", None)
    said = {"description": key.meaning} if key.meaning else {}
    return {"type": types if len(types) > 1 else types[0], **said, **body}


def _types(key: _Key) -> list[str]:
    if key.type is None:
        return ["array" if "[]" in key.below else "object"]
    kind, _, null = key.type.partition(" or ")
    return [_TYPES[kind], *([null] if null else [])]


def _values(key: _Key) -> dict[str, Any]:
    """All values, where the meaning lists them."""
    if key.type is None or not key.type.startswith("text") or not _VALUES.fullmatch(key.meaning):
        return {}
    values: list[str | None] = list(re.findall(r"`([^`]+)`", key.meaning.partition(";")[0]))
    return {"enum": [*values, *([None] if key.type.endswith("null") else [])]}


def _object(key: _Key) -> dict[str, Any]:
    if set(key.below) == {"NAME"}:
        return {"type": "object", "additionalProperties": _described(key.below["NAME"], "NAME")}
    if set(key.below) == {"[]"}:
        raise ValueError("the document is an object")
    return {
        "type": "object",
        "properties": {name: _described(below, name) for name, below in key.below.items()},
        "required": sorted(set(key.below) - _OPTIONAL),
    }
