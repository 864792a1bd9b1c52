"""The fields of a block's packets, events and annotations: all that needs nothing from before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from commscope.columns import NONE, Bool, Int64
from commscope.parsers.pftrace import numbers
from commscope.parsers.pftrace.packets import Block
from commscope.parsers.pftrace.wire import LENGTH, VARINT, Fields, Wire


@dataclass(frozen=True, slots=True)
class Annotations:
    """Annotations of events; those of one event in order.

    What is not read yet of each lies at ``starts`` to ``ends``: the value, at least.
    """

    event: Int64  #: number of the event that each is of
    name_id: Int64  #: ``NONE`` where the name is written out
    names: Fields  #: those that are written out, by number of the annotation
    starts: Int64
    ends: Int64


@dataclass(frozen=True, slots=True)
class Scanned:
    """The fields of one block."""

    wire: Wire
    count: int  #: packets
    damaged: int  #: packets that could not be read, or not all of them
    packets: Fields
    stateful: Int64  #: packets that the protobuf library reads, in order
    starts: Int64
    ends: Int64
    packet_of_event: Int64
    events: Fields
    annotations: Annotations

    def number(self, of: Fields, count: int, field: int, missing: int) -> Int64:
        """A field with whole numbers, one a message."""
        values = np.full(count, missing, np.int64)
        found = of.of(field, VARINT)
        values[found.message] = self.wire.varints(found.starts)
        return values

    def has(self, field: int) -> Bool:
        """Which packets have a field at all."""
        found = np.zeros(self.count, np.bool_)
        found[self.packets.message[self.packets.number == field]] = True
        return found


def scan(block: Block) -> Scanned:
    """The fields of one block."""
    wire = Wire(block.data)
    packets, damaged = wire.fields(block.starts, block.ends)
    of_event = packets.of(numbers.EVENT, LENGTH)
    events, damaged_events = wire.fields(of_event.starts, of_event.ends)
    damaged[of_event.message[damaged_events]] = True
    of_annotation = events.of(numbers.ANNOTATION, LENGTH)
    return Scanned(
        wire=wire,
        count=len(block.starts),
        damaged=int(damaged.sum()),
        packets=packets,
        stateful=np.unique(packets.message[np.isin(packets.number, numbers.STATEFUL)]),
        starts=block.starts,
        ends=block.ends,
        packet_of_event=of_event.message,
        events=events,
        annotations=_annotations(wire, of_annotation),
    )


def _annotations(wire: Wire, messages: Fields) -> Annotations:
    """Annotations, nearly all of which begin with the short id of their name."""
    tag = numbers.ANNOTATION_NAME_ID << 3
    usual = wire.begins_with(messages.starts, messages.ends, tag)
    name_id = np.where(usual, wire.byte(messages.starts + 1), NONE)
    odd = np.flatnonzero(~usual)
    fields, _ = wire.fields(messages.starts[odd], messages.ends[odd])
    ids = fields.of(numbers.ANNOTATION_NAME_ID, VARINT)
    name_id[odd[ids.message]] = wire.varints(ids.starts)
    names = fields.of(numbers.ANNOTATION_NAME, LENGTH)
    return Annotations(
        event=messages.message,
        name_id=name_id,
        names=replace(names, message=odd[names.message]),
        starts=messages.starts + 2 * usual,
        ends=messages.ends,
    )
