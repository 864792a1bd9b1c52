"""The fields of a block's packets, events and annotations: all that needs nothing from before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from commscope.columns import NONE, Bool, Int64, parts
from commscope.parsers.pftrace import numbers
from commscope.parsers.pftrace.groups import Group, Grouper
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
class Texts:
    """A text of some events."""

    events: Int64
    words: list[str]
    word: Int64  #: which of the words each event has


@dataclass(frozen=True, slots=True)
class Scanned:
    """The fields of one block: of packets in groups, and of all others one by one."""

    wire: Wire
    count: int  #: packets
    damaged: int  #: packets that could not be read, or not all of them
    stateful: Int64  #: packets that the protobuf library reads, in order
    starts: Int64
    ends: Int64
    packet_of_event: Int64  #: in order
    groups: tuple[tuple[Group, Int64], ...]  #: with the numbers of their events
    packets: Fields
    events: Fields
    annotations: Annotations

    def number(self, field: int, missing: int) -> Int64:
        """A field of packets with whole numbers."""
        values = np.full(self.count, missing, np.int64)
        found = self.packets.of(field, VARINT)
        values[found.message] = self.wire.varints(found.starts)
        for group, _ in self.groups:
            if span := group.packet.get((field, VARINT)):
                values[group.packets] = self.wire.varints(span.starts, span.most)
        return values

    def event_number(self, field: int, missing: int) -> Int64:
        """A field of events with whole numbers."""
        values = np.full(len(self.packet_of_event), missing, np.int64)
        found = self.events.of(field, VARINT)
        values[found.message] = self.wire.varints(found.starts)
        for group, events in self.groups:
            if span := group.event.get((field, VARINT)):
                values[events] = self.wire.varints(span.starts, span.most)
        return values

    def event_texts(self, field: int) -> Iterator[Texts]:
        """A field of events that are texts, of those that have it."""
        found = self.events.of(field, LENGTH)
        yield from self.texts(found.message, found.starts, found.ends)
        for group, events in self.groups:
            if span := group.event.get((field, LENGTH)):
                yield from self.texts(events, span.starts, span.ends)

    def texts(self, events: Int64, starts: Int64, ends: Int64) -> Iterator[Texts]:
        """The texts at these places, which are of these events."""
        for size, rows in parts(ends - starts):
            word, distinct = self.wire.texts(starts[rows], size)
            yield Texts(events[rows], list(map(decoded, distinct)), word)

    def has(self, field: int) -> Bool:
        """Which packets have a field that packets in groups never have."""
        found = np.zeros(self.count, np.bool_)
        found[self.packets.message[self.packets.number == field]] = True
        return found


def decoded(stored: bytes) -> str:
    """Text of a trace, which may be damaged."""
    return str(stored, "utf-8", "replace")


def scan(block: Block, grouper: Grouper) -> Scanned:
    """The fields of one block, of a trace whose packets the grouper knows so far."""
    wire = Wire(block.data)
    groups, others = grouper.sort(block, wire)
    packets, damaged = wire.fields(block.starts[others], block.ends[others])
    of_event = packets.of(numbers.EVENT, LENGTH)
    events, damaged_events = wire.fields(of_event.starts, of_event.ends)
    damaged[of_event.message[damaged_events]] = True
    holders = [others[of_event.message], *(group.event_packets for group in groups)]
    packet_of_event, (event_of, *events_of) = _in_order(holders)
    packets = replace(packets, message=others[packets.message])
    events = replace(events, message=event_of[events.message])
    return Scanned(
        wire=wire,
        count=len(block.starts),
        damaged=int(damaged.sum()),
        stateful=np.unique(packets.message[np.isin(packets.number, numbers.STATEFUL)]),
        starts=block.starts,
        ends=block.ends,
        packet_of_event=packet_of_event,
        groups=tuple(zip(groups, events_of)),
        packets=packets,
        events=events,
        annotations=_annotations(wire, events.of(numbers.ANNOTATION, LENGTH)),
    )


def _in_order(holders: list[Int64]) -> tuple[Int64, list[Int64]]:
    """The packets of events in order, and for each part the numbers of its events in them."""
    packets = np.concatenate(holders)
    order = np.argsort(packets, kind="stable")
    number = np.empty(len(packets), np.int64)
    number[order] = np.arange(len(packets))
    return packets[order], np.split(number, np.cumsum([len(part) for part in holders])[:-1])


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
