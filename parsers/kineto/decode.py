"""From a chunk of events to those that are needed, decoded: the fast way, and the careful one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw, Struct

from commscope.parsers.integers import Scalar
from commscope.parsers.kineto.layout import Layout
from commscope.parsers.kineto.scan import needed_events
from commscope.parsers.kineto.tolerant import salvage

_NOTHING = Raw(b"")
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Args(
    Struct,
    gc=False,
    rename={
        "external_id": "External id",
        "own_rank": "Rank",
        "op": "Collective name",
        "in_elements": "In msg nelems",
        "out_elements": "Out msg nelems",
        "group_size": "Group size",
        "group_name": "Process Group Name",
        "description": "Process Group Description",
        "members": "Process Group Ranks",
        "seq": "Seq",
        "is_async": "Is asynchronized op",
        "first_member": "Global rank start",
        "member_stride": "Global rank stride",
        "from_rank": "Src Rank",
        "to_rank": "Dst Rank",
        "send_sizes": "In split size",
        "receive_sizes": "Out split size",
    },
):
    """The arguments of an event that are needed, those of a collective among them."""

    device: Scalar = None
    stream: Scalar = None
    hsa_queue: Scalar = None
    correlation: Scalar = None
    external_id: Scalar = None
    bytes: Scalar = None
    grid: Raw = _NOTHING
    size: Scalar = None
    rank: Scalar = None
    own_rank: Scalar = None
    op: Scalar = None
    in_elements: Scalar = None
    out_elements: Scalar = None
    group_size: Scalar = None
    dtype: Scalar = None
    group_name: Scalar = None
    description: Scalar = None
    members: Any = None
    seq: Scalar = None
    is_async: Scalar = None
    first_member: Scalar = None
    member_stride: Scalar = None
    from_rank: Scalar = None
    to_rank: Scalar = None
    send_sizes: Any = None
    receive_sizes: Any = None


class Event(Struct, gc=False):
    """The keys of an event that are needed; times stay text until they are exact integers."""

    ph: Scalar = None
    cat: Scalar = None
    name: Scalar = None
    pid: Scalar = None
    tid: Scalar = None
    ts: Raw = _NOTHING
    dur: Raw = _NOTHING
    args: Args | None = None


_EVENTS = msgspec.json.Decoder(list[Event])


@dataclass(slots=True)
class Decoded:
    """The needed events of one chunk, and what became of the others."""

    events: list[Event] = field(default_factory=list)
    seen: int = 0  #: events that could be read, needed or not
    repaired: int = 0
    lost: int = 0
    bytes_lost: int = 0
    rest: bytes | None = None  #: what follows the array of events, if it ended in this chunk
    joined: bool = False  #: another trace begins in ``rest``, before the array ended
    unread: bytes = b""  #: an event that goes on behind the chunk


def decode_chunk(chunk: bytes, layout: Layout | None, is_final: bool) -> Decoded:
    """The needed events of a chunk of whole events, in order; each way falls back on the next."""
    if layout is None or is_final:
        return _decode_carefully(chunk, layout, is_final)
    return (
        _decode_needed(chunk, layout)
        or _decode_all(chunk)
        or _decode_carefully(chunk, layout, is_final)
    )


def _decode_needed(chunk: bytes, layout: Layout) -> Decoded | None:
    found = needed_events(chunk, layout)
    events = None if found is None else _decoded(found.text)
    if found is None or events is None or len(events) != found.needed:
        return None
    return Decoded(events, seen=found.seen)


def _decode_all(chunk: bytes) -> Decoded | None:
    events = _decoded(chunk.strip(b", \r\n\t"))
    return None if events is None else Decoded(events, seen=len(events))


def _decoded(text: bytes) -> list[Event] | None:
    try:
        return _EVENTS.decode(b"[" + text + b"]")
    except _UNDECODABLE:
        return None


def _decode_carefully(chunk: bytes, layout: Layout | None, is_final: bool) -> Decoded:
    found = salvage(chunk, layout.separator if layout else b"", is_final)
    return Decoded(
        events=_EVENTS.decode(b"[" + b",".join(found.events) + b"]"),
        seen=len(found.events),
        repaired=found.repaired,
        lost=found.lost,
        bytes_lost=found.bytes_lost,
        rest=found.rest,
        joined=found.joined,
        unread=found.unread,
    )


def args_of(events: Sequence[Event]) -> list[Args]:
    """The arguments of each event; empty ones where there are none."""
    nothing = Args()
    return [event.args or nothing for event in events]
