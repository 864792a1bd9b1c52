"""The values that a name stands for in a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commscope.gate.names import Name, Segment

#: Where no entry means that there was nothing of it, and not that it is unknown.
_FOUND_LISTS = frozenset({"findings", "gaps", "gap_sums", "stragglers", "waiting"})
#: What tells an entry from the others of its list.
_TELLING = ("rank", "step", "id", "communicator", "op", "bytes", "name", "cause", "family")
_MOST_TELLING = 3


@dataclass(frozen=True, slots=True)
class Selected:
    """A value, and in which entry it stands; null: not known or withheld."""

    where: str
    value: float | str | bool | None


@dataclass(frozen=True, slots=True)
class Selection:
    """All values of a name; ``missing`` says why there is none, and is empty if that answers."""

    values: tuple[Selected, ...]
    missing: str = ""


def select(name: Name, document: Mapping[str, Any]) -> Selection:
    """Looks a name up; the values of open steps do not count."""
    segments = name.segments[:-1] if name.counts else name.segments
    found: list[tuple[str, Any]] = [("", document)]
    for segment in segments:
        found = [pair for where, node in found for pair in _below(segment, where, node)]
    if name.counts:
        return _count(segments[-1], found, document)
    values = tuple(Selected(where, node) for where, node in found)
    return Selection(values, "" if values else _missing(name.segments, document))


def _below(segment: Segment, where: str, node: Any) -> list[tuple[str, Any]]:
    """What lies under a key: of a list, the entries that are meant."""
    inside = node.get(segment.key) if isinstance(node, Mapping) else None
    if inside is None or segment.where is None:
        return [(where, inside)]
    return [
        (f"{where}, {_told(entry)}".strip(", "), entry)
        for entry in inside
        if _fits(entry, segment.where) and not (segment.key == "steps" and entry["open"])
    ]


def _fits(entry: Mapping[str, Any], wanted: Sequence[tuple[str, str]]) -> bool:
    return all(_as_text(entry.get(key)) == value for key, value in wanted)


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def _told(entry: Mapping[str, Any]) -> str:
    keys = [key for key in _TELLING if entry.get(key) is not None][:_MOST_TELLING]
    return " ".join(f"{key} {entry[key]}" for key in keys)


def _count(
    last: Segment, found: Sequence[tuple[str, Any]], document: Mapping[str, Any]
) -> Selection:
    """The number of entries; null of a list that is withheld, or that a rule could not fill."""
    if last.where is None:
        entries = found[0][1] if found else None
        return Selection((Selected("", None if entries is None else len(entries)),))
    unknown = any(entry is None for _, entry in found) or _could_not_look(last, document)
    return Selection((Selected("", None if unknown else len(found)),))


def _missing(segments: Sequence[Segment], document: Mapping[str, Any]) -> str:
    first = segments[0]
    if first.key not in _FOUND_LISTS:
        return f"the run has no {first}"
    return _could_not_look(first, document)


def _could_not_look(segment: Segment, document: Mapping[str, Any]) -> str:
    """Why a rule that is asked for could not look; empty where it could."""
    wanted = dict(segment.where or ()).get("rule") if segment.key == "findings" else None
    if wanted is None:
        return ""
    looked = {rule["rule"]: rule for rule in document["rules"]}
    failed = {check["rule"] for check in document["trust"]["checks"]}
    if wanted not in looked:
        return "" if wanted in failed else f"there is no rule {wanted}"
    rule = looked[wanted]
    return f"rule {wanted}: {rule['says']}" if rule["result"] == "could_not_look" else ""
