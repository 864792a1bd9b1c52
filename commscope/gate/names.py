"""The names that an expression may hold: those of the report's JSON, and what the gate adds."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from commscope.gate.measures import PER_STEP
from commscope.gate.quantities import Kind, kind_of

_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
#: What the gate knows besides the report.
_ADDED: dict[str, Any] = {
    "per_step": {"type": "object", "properties": dict.fromkeys(PER_STEP, _NUMBER)},
    "unprofiled": {
        "type": "object",
        "properties": {"step_ns": _NUMBER, "inflation": _NUMBER},
    },
}
#: What a report has only where it is asked for.
_LEFT_OUT = frozenset({"instances"})
#: What ``[N]`` means, in the lists in which it means anything.
NUMBERED = {"ranks": "rank", "launch": "rank", "steps": "step"}
COUNT = "count"
_MOST_KNOWN = 12

_Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Segment:
    """A key of a name, and which entries of the list under it are meant; null: no brackets."""

    key: str
    where: tuple[tuple[str, str], ...] | None
    at: int  #: where it stands in the expression

    def __str__(self) -> str:
        if self.where is None:
            return self.key
        return f"{self.key}[{','.join('='.join(pair) for pair in self.where)}]"


@dataclass(frozen=True, slots=True)
class Name:
    """A name that the report has, and what kind of value it stands for."""

    segments: tuple[Segment, ...]
    kind: Kind
    choices: tuple[str, ...] = ()  #: all texts that it can be, where they are fixed
    counts: bool = False  #: the number of entries of a list

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys without brackets."""
        return tuple(segment.key for segment in self.segments)

    @property
    def names_one(self) -> bool:
        """Whether it names one value, whatever the run."""
        return self.counts or all(segment.where is None for segment in self.segments)

    def __str__(self) -> str:
        return ".".join(map(str, self.segments))


class UnknownName(ValueError):
    """A key that the report has not; ``at`` is its place in the expression."""

    def __init__(self, at: int, says: str) -> None:
        super().__init__(says)
        self.at = at


def resolve(segments: Sequence[Segment]) -> Name:
    """The name in full: without ``summary.`` where that is meant. Raises UnknownName."""
    root = _schema()
    first, top = segments[0], root["properties"]
    if first.key not in top and first.key in _summary(top):
        segments = (Segment("summary", None, first.at), *segments)
    node: _Node = root
    for place, segment in enumerate(segments):
        if place and place == len(segments) - 1 and _is_count(segments[place - 1], node, segment):
            return Name(tuple(segments), "count", counts=True)
        node = _entered(_child(node, segment, segments[:place]), segment)
    return _leaf(tuple(segments), node)


def _summary(top: _Node) -> _Node:
    """What may be named without the group that it is in."""
    found: _Node = top["summary"]["properties"]
    return found


def _is_count(before: Segment, node: _Node, segment: Segment) -> bool:
    """Whether the number of entries is meant, and no key of theirs."""
    if segment.key != COUNT or segment.where is not None:
        return False
    is_list = node.get("type") == "array"
    return is_list or (before.where is not None and COUNT not in node.get("properties", {}))


def _child(node: _Node, segment: Segment, before: Sequence[Segment]) -> _Node:
    inside = ".".join(map(str, before)) or "the report"
    if node.get("type") == "array":
        says = f"{inside} is a list: write {before[-1].key}[] for any of its entries"
        raise UnknownName(segment.at, says)
    properties = node.get("properties", {})
    if segment.key in properties:
        return _plain(properties[segment.key])
    if isinstance(node.get("additionalProperties"), dict):
        return _plain(node["additionalProperties"])
    if not properties:
        raise UnknownName(segment.at, f"{inside} has nothing below it")
    known = properties if before else {**properties, **_summary(properties)}
    says = f"{inside} has no {segment.key}; {_suggestion(segment.key, known)}"
    raise UnknownName(segment.at, says)


def _entered(node: _Node, segment: Segment) -> _Node:
    """The entries of a list, where brackets choose among them."""
    if segment.where is None:
        return node
    if node.get("type") != "array":
        raise UnknownName(segment.at, f"{segment.key} is no list: write it without brackets")
    entry = _plain(node["items"])
    for key, _ in segment.where:
        if key not in entry.get("properties", {}):
            says = f"entries of {segment.key} have no {key}; "
            raise UnknownName(segment.at, says + _suggestion(key, entry.get("properties", {})))
    return entry


def _leaf(segments: tuple[Segment, ...], node: _Node) -> Name:
    keys, last = tuple(segment.key for segment in segments), segments[-1]
    types = node.get("type", ())
    types = {types} if isinstance(types, str) else set(types)
    if types & {"integer", "number"}:
        return Name(segments, kind_of(keys))
    if "string" in types:
        return Name(segments, "text", tuple(c for c in node.get("enum", ()) if c is not None))
    if "boolean" in types:
        return Name(segments, "flag", ("true", "false"))
    inside = node.get("properties")
    if inside:
        known = ", ".join(sorted(inside)[:_MOST_KNOWN])
        raise UnknownName(last.at, f"{last.key} is a group: name one of {known}")
    says = f"{last.key} is a list: write {last.key}[].KEY, or {last.key}.count for how many"
    raise UnknownName(last.at, says)


def _suggestion(wanted: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(wanted, known, 2)
    if close:
        return f"did you mean {' or '.join(close)}?"
    names = sorted(known)
    return f"it has {', '.join(names[:_MOST_KNOWN])}{' ...' if len(names) > _MOST_KNOWN else ''}"


def _plain(node: _Node) -> _Node:
    """A node without references, and without its choice of null."""
    if "$ref" in node:
        return _plain(_schema()["$defs"][node["$ref"].rpartition("/")[2]])
    if "anyOf" in node:
        return _plain(next(choice for choice in node["anyOf"] if choice.get("type") != "null"))
    if isinstance(node.get("type"), list) and {"object", "array"} & set(node["type"]):
        return {**node, "type": next(kind for kind in node["type"] if kind != "null")}
    return node


@cache
def _schema() -> _Node:
    text = resources.files("commscope.report").joinpath("report-1.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    known = {key: of for key, of in schema["properties"].items() if key not in _LEFT_OUT}
    return {**schema, "properties": {**known, **_ADDED}}
