"""From a dump of the Flight Recorder to rows of FLIGHT and FLIGHT_GROUPS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from commscope.errors import CorruptTrace
from commscope.parsers.bounded import read_whole
from commscope.parsers.flight_recorder.plain_pickle import MOST_BYTES, load_plain
from commscope.parsers.flight_recorder.shapes import Shapes, text_or_none
from commscope.parsers.integers import whole_number
from commscope.parsers.opening import Source
from commscope.parsers.row_builder import RowBuilder

_PICKLE = re.compile(rb"\A\x80[\x02-\x05]")
_WORDS = re.compile(rb"pg_config|pg_status|collective_seq_id|profiling_name|nccl_comm_state")
_NAMED_RANK = re.compile(r"rank[_.=-]?(\d{1,9})(?!\d)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?<!\d)(\d{1,9})(?:\.(?:json|pkl|pickle|bin|dump|gz|bz2|xz|zst))*$")
_MEMBER = re.compile(r"\d{1,9}")
#: Where frames of the library itself lie.
_LIBRARY = re.compile(r"(?:^|/)torch/(?:distributed|nn|_|utils|autograd)|(?:^|/)c10d")
_DICT: dict[str, Any] = {}
#: A pickle can name one entry as often as it likes; the program keeps a few thousand.
_MOST_ENTRIES = 1 << 18
#: Name and purpose of process groups, by their number.
_Named = dict[str, "tuple[str | None, str | None]"]


@dataclass(frozen=True, slots=True)
class Dump:
    """What a dump is of, and how much of it could be read."""

    version: str | None
    rank: int | None
    entries: int
    lost: int  #: entries that are none, or more than any dump has


def looks_like_dump(head: bytes) -> bool:
    """Whether a file begins as a dump: a pickle or JSON that speaks of process groups."""
    if not _PICKLE.match(head) and head.lstrip()[:1] != b"{":
        return False
    return _WORDS.search(head) is not None


def read_dump(source: Source, flight: RowBuilder, groups: RowBuilder) -> Dump:
    """Adds what a dump holds to the tables.

    Raises FormatError where it asks for more than plain data, CorruptTrace where it is cut, damaged
    or no dump, UsageError where the system does not let us read it.
    """
    data = read_whole(source, MOST_BYTES)
    found = load_plain(data, source.label) if _PICKLE.match(data) else _json(data, source.label)
    entries = found.get("entries") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not (isinstance(entries, list) or "pg_status" in found):
        raise CorruptTrace(f"{source.label}: is no dump of the Flight Recorder (it has no entries)")
    said = found.get("rank")
    rank = said if type(said) is int else rank_of(source.label)
    entries = entries if isinstance(entries, list) else []
    shapes, count = Shapes(), 0
    named: _Named = {}
    for entry in entries[:_MOST_ENTRIES]:
        if isinstance(entry, dict):
            row = _row(entry, shapes)
            flight.add(file=source.label, rank=rank, **row)
            count += 1
            # Only numbers: the text of another value could be endless.
            if type(row["group_id"]) is int:
                named[str(row["group_id"])] = row["group"], row["description"]
    for group in _groups(found, named):
        groups.add(file=source.label, rank=rank, **group)
    return Dump(text_or_none(found.get("version")), rank, count, len(entries) - count)


def rank_of(label: str) -> int | None:
    """The rank that the name of a file tells, such as ``nccl_trace_rank_3`` or ``run7_3``."""
    folder, _, name = label.rpartition("/")
    found = _NAMED_RANK.search(name) or _LAST_NUMBER.search(name) or _NAMED_RANK.search(folder)
    return int(found[1]) if found else None


def _json(data: bytes, label: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise CorruptTrace(
            f"{label}: the JSON of this dump is cut or damaged; copy it again"
        ) from None


def _row(entry: dict[Any, Any], shapes: Shapes) -> dict[str, Any]:
    inputs, outputs = (shapes.of(entry.get(f"{side}_sizes")) for side in ("input", "output"))
    name, description = _name(entry)
    op = text_or_none(entry.get("profiling_name"))
    return {
        "record": entry.get("record_id"),
        "group": name,
        "description": description,
        "group_id": entry.get("pg_id"),
        "seq": entry.get("collective_seq_id", entry.get("seq_id")),
        "p2p_seq": entry.get("p2p_seq_id"),
        "op_id": entry.get("op_id"),
        "is_p2p": entry.get("is_p2p"),
        "op": None if op is None else op.removeprefix("nccl:"),
        "input_sizes": inputs.text,
        "output_sizes": outputs.text,
        "input_dtypes": shapes.words(entry.get("input_dtypes")),
        "output_dtypes": shapes.words(entry.get("output_dtypes")),
        "elements_in": inputs.elements,
        "elements_out": outputs.elements,
        "state": entry.get("state"),
        "created_ns": entry.get("time_created_ns"),
        "started_ns": entry.get("time_discovered_started_ns"),
        "completed_ns": entry.get("time_discovered_completed_ns"),
        "duration_ms": entry.get("duration_ms"),
        "timeout_ms": entry.get("timeout_ms"),
        "retired": entry.get("retired"),
        "frame": _frame(entry.get("frames")),
    }


def _name(entry: dict[Any, Any]) -> tuple[str | None, str | None]:
    """Name and purpose of the process group; of old dumps the name alone."""
    said = entry.get("process_group", entry.get("pg_name"))
    if isinstance(said, (list, tuple)):
        name, description = (*map(text_or_none, said[:2]), None, None)[:2]
        return name, description
    return text_or_none(said), None


def _frame(frames: Any) -> str | None:
    """The innermost frame that is not of the library, else the innermost."""
    if not isinstance(frames, list):
        return None
    known = [frame for frame in frames[:64] if isinstance(frame, dict)]
    own = [f for f in known if not _LIBRARY.search(str(text_or_none(f.get("filename"))))]
    for frame in [*own, *known][:1]:
        name, file = (text_or_none(frame.get(key)) for key in ("name", "filename"))
        line = frame.get("line")
        place = file if whole_number(line) is None else f"{file}:{line}"
        return f"{name} ({place})"
    return None


def _groups(found: dict[Any, Any], named: _Named) -> Iterator[dict[str, Any]]:
    """The process groups: members by their name, how far they came by their number.

    Entries tell which name has which number.
    """
    config, status = (_dict(found.get(key)) for key in ("pg_config", "pg_status"))
    names = {number: name for number, (name, _) in named.items()}
    for number in status:
        names.setdefault(str(number), str(number) if str(number) in map(str, config) else None)
    last = {names[str(number)]: _dict(at) for number, at in status.items()}
    described = dict(named.values())
    for name in dict.fromkeys([*map(str, config), *names.values()]):
        about = _dict(config.get(name)) if name is not None else _DICT
        at = last.get(name, _DICT)
        yield {
            "group": name,
            "description": text_or_none(about.get("desc")) or described.get(name),
            "ranks": _members(about.get("ranks")),
            **{f"last_{word}": _reached(at.get(f"last_{word}_collective")) for word in _REACHED},
        }


_REACHED = ("enqueued", "started", "completed")


def _dict(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else _DICT


def _reached(value: Any) -> int | None:
    """A number of an operation; -1 says that none was reached, and JSON says it as text."""
    text = text_or_none(value) if whole_number(value) is None else str(value)
    if text is None or not re.fullmatch(r"-?\d{1,18}", text):
        return None
    return None if int(text) < 0 else int(text)


def _members(ranks: Any) -> list[int] | None:
    """Members as a list, or as the text that old and new dumps hold: ``[0, 1]``."""
    if isinstance(ranks, str):
        return [int(word) for word in _MEMBER.findall(ranks)]
    if isinstance(ranks, (list, tuple)):
        return [rank for rank in map(whole_number, ranks) if rank is not None and 0 <= rank < 2**31]
    return None
