"""From a chunk of events to those that are needed, decoded: the fast way, and the careful one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

import msgspec
from msgspec import Raw, Struct

from commscope.parsers.kineto.layout import Layout
from commscope.parsers.kineto.tolerant import clean, repaired, salvage

#: What exporters write where a number or a word belongs.
Scalar = Union[int, str, float, None]
T = TypeVar("T")
_NOTHING = Raw(b"")
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError)


class Event(Struct, gc=False):
    """The keys of an event that are needed; times stay text until they are exact integers."""

    ph: Scalar = None
    cat: Scalar = None
    name: Scalar = None
    pid: Scalar = None
    tid: Scalar = None
    ts: Raw = _NOTHING
    dur: Raw = _NOTHING
    args: Raw = _NOTHING


class Args(Struct, gc=False, rename={"external_id": "External id", "bytes_": "bytes"}):
    """The arguments of an event that are needed."""

    device: Scalar = None
    stream: Scalar = None
    hsa_queue: Scalar = None
    correlation: Scalar = None
    external_id: Scalar = None
    bytes_: Scalar = None
    size: Scalar = None
    rank: Scalar = None
    host: Scalar = None


class CollectiveArgs(
    Struct,
    gc=False,
    rename={
        "op": "Collective name",
        "in_elements": "In msg nelems",
        "out_elements": "Out msg nelems",
        "group_size": "Group size",
        "group_name": "Process Group Name",
        "description": "Process Group Description",
        "members": "Process Group Ranks",
        "seq": "Seq",
        "own_rank": "Rank",
        "external_id": "External id",
        "is_async": "Is asynchronized op",
        "first_member": "Global rank start",
        "member_stride": "Global rank stride",
    },
):
    """The arguments of a collective, on its kernel or on its ``record_param_comms``."""

    op: Scalar = None
    in_elements: Scalar = None
    out_elements: Scalar = None
    group_size: Scalar = None
    dtype: Scalar = None
    group_name: Scalar = None
    description: Scalar = None
    members: Any = None
    seq: Scalar = None
    own_rank: Scalar = None
    external_id: Scalar = None
    is_async: Scalar = None
    first_member: Scalar = None
    member_stride: Scalar = None


_EVENTS = msgspec.json.Decoder(list[Event])
_EVENT = msgspec.json.Decoder(Event)
_ARGS = msgspec.json.Decoder(list[Args])
_ONE_ARGS = msgspec.json.Decoder(Args)
_COLLECTIVE = msgspec.json.Decoder(CollectiveArgs)


@dataclass(slots=True)
class Decoded:
    """The needed events of one chunk, and what became of the others."""

    events: list[Event] = field(default_factory=list)
    seen: int = 0
    repaired: int = 0
    lost: int = 0
    bytes_lost: int = 0
    rest: str | None = None  #: what follows the array of events, if it ended in this chunk
    second_document: bool = False


def decode_chunk(chunk: bytes, layout: Layout | None) -> Decoded:
    """The needed events of a chunk of whole events, in order."""
    if layout is not None:
        fast = _decode_fast(chunk, layout)
        if fast is not None:
            return fast
    return _decode_carefully(chunk)


def _decode_fast(chunk: bytes, layout: Layout) -> Decoded | None:
    """Cuts the chunk at its separators and decodes what is needed; None where anything is odd.

    The check: each piece holds exactly one "ph" key. So no damage can hide an event that is
    needed behind the beginning of one that is not, and no text that looks like a separator cuts.
    """
    pieces = chunk.strip(b", \r\n\t").split(layout.separator)
    if chunk.count(b'"ph"') != len(pieces):
        return None
    pieces[0] = pieces[0].removeprefix(b"{")
    last = pieces[-1]
    skipped, needed = layout.skipped, layout.needed
    kept = [p for p in pieces if not p.startswith(skipped) or p.startswith(needed)]
    if not kept:
        return Decoded(seen=len(pieces))
    tail = b"]" if kept[-1] is last else b"}]"
    try:
        events = _EVENTS.decode(b"[{" + b"},{".join(kept) + tail)
    except _UNDECODABLE:
        return None
    if any(event.ph is None for event in events):
        return None
    return Decoded(events, seen=len(pieces))


def _decode_carefully(chunk: bytes) -> Decoded:
    found = salvage(chunk)
    decoded = Decoded(
        seen=len(found.events) + found.lost,
        repaired=found.repaired,
        lost=found.lost,
        bytes_lost=found.bytes_lost,
        rest=found.rest,
        second_document=found.second_document,
    )
    for text in found.events:
        try:
            decoded.events.append(_EVENT.decode(text))
        except msgspec.ValidationError:  # an object where a word belongs: not an event
            decoded.lost += 1
            decoded.bytes_lost += len(text)
    return decoded


def decode_args(events: list[Event]) -> list[Args]:
    """The arguments of each event; empty ones where they are missing or unusable."""
    try:
        return _ARGS.decode(b"[" + b",".join([e.args or b"{}" for e in events]) + b"]")
    except _UNDECODABLE:
        return [_usable(_ONE_ARGS, event.args) or Args() for event in events]


def decode_collective(raw: Raw) -> CollectiveArgs:
    """A collective's arguments; empty ones where they are missing or unusable."""
    return _usable(_COLLECTIVE, raw) or CollectiveArgs()


def _usable(decoder: msgspec.json.Decoder[T], raw: Raw) -> T | None:
    """The arguments, if need be without the values that cannot be read."""
    for text in (bytes(raw) or b"{}", _mended(raw)):
        try:
            return decoder.decode(text)
        except _UNDECODABLE:
            continue
    return None


def _mended(raw: Raw) -> bytes:
    value = repaired(bytes(raw).decode("utf-8", "replace"))
    usable = value if isinstance(value, dict) else {}
    return clean({k: v for k, v in usable.items() if isinstance(v, (str, int, float))})
