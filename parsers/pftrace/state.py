"""What packets mean by those that came before: sequences, interned texts, clocks and tracks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from commscope.columns import Bool, Int64, parts
from commscope.parsers.pftrace import numbers
from commscope.parsers.pftrace.clocks import BOOTTIME, Clocks, Snapshot
from commscope.parsers.pftrace.interning import Interned
from commscope.parsers.pftrace.scan import Scanned, decoded
from commscope.parsers.pftrace.schema import message_class
from commscope.parsers.pftrace.used import column_of
from commscope.parsers.words import Words

_Packet = message_class("TracePacket")
_CLEARED_FLAG = 1
_COMPRESSED = ("compressed_packets", "zstd_compressed_packets")


@dataclass(frozen=True, slots=True)
class Track:
    """A row of the picture that Perfetto draws."""

    name: str
    pid: int | None
    tid: int | None


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of each packet of a block."""

    sequence: Int64
    epoch: Int64
    time_ns: Int64


class State:
    """What is known so far; ``apply`` takes the blocks in order."""

    def __init__(self, words: Words) -> None:
        self.categories, self.names = Interned(), Interned()
        self.columns, self.texts = Interned(), Interned()  #: of annotations, by their names' ids
        self.tracks: dict[int, Track] = {}
        self.default_tracks: dict[int, int] = {}
        self.discarded = 0  #: pieces that the recording says it threw away
        self.unread = 0  #: compressed packets where none should be, which are not read
        self.damaged = 0
        self._words = words
        self._clocks = Clocks()
        self._default_clocks: dict[int, int] = {}
        self._epochs: dict[int, int] = {}
        self._next_epoch = 0

    @property
    def lost(self) -> int:
        """Packets that could not be read."""
        return self.damaged + self.unread

    def apply(self, block: Scanned) -> Told:
        """Learns from the packets of a block, and tells what each means."""
        sequence = block.number(numbers.SEQUENCE, 0)
        flags = block.number(numbers.FLAGS, 0)
        cleared = (flags & _CLEARED_FLAG != 0) | block.has(numbers.CLEARED)
        epoch = self._epoch_of(sequence, cleared)
        snapshots = []
        for packet in block.stateful.tolist():
            message = self._parsed(block, packet)
            self._learn(message, int(epoch[packet]))
            snapshots += _snapshots(message, packet, int(sequence[packet]))
            self._clocks.tell_offsets(_shown(message))
        clock = block.number(numbers.CLOCK, 0)
        clock = np.where(clock == 0, self._default_clock(epoch), clock)
        timestamp = block.number(numbers.TIMESTAMP, 0)
        return Told(sequence, epoch, self._clocks.times(sequence, clock, timestamp, snapshots))

    def _epoch_of(self, sequence: Int64, cleared: Bool) -> Int64:
        """A number for each packet that changes whenever its sequence begins anew."""
        epoch = np.empty(len(sequence), np.int64)
        for one, rows in parts(sequence):
            resets = np.cumsum(cleared[rows])
            fresh = range(self._next_epoch, self._next_epoch + int(resets[-1]) + 1)
            known = [self._epochs.get(one, fresh[-1]), *fresh[:-1]]
            self._next_epoch = fresh[-1] + 1
            epoch[rows] = np.array(known)[resets]
            self._epochs[one] = int(epoch[rows[-1]])
        return epoch

    def _default_clock(self, epoch: Int64) -> Int64:
        clocks = np.empty(len(epoch), np.int64)
        for one, rows in parts(epoch):
            clocks[rows] = self._default_clocks.get(one, BOOTTIME)
        return clocks

    def _parsed(self, block: Scanned, packet: int) -> Any:
        data = block.wire.data[block.starts[packet] : block.ends[packet]]
        try:
            return _Packet.FromString(data)
        except DecodeError:
            self.damaged += 1
            return _Packet()

    def _learn(self, message: Any, epoch: int) -> None:
        interned = message.interned_data
        self.categories.add(epoch, self._coded(interned.event_categories))
        self.names.add(epoch, self._coded(interned.event_names))
        names = interned.debug_annotation_names
        self.columns.add(epoch, {entry.iid: column_of(decoded(entry.name)) for entry in names})
        values = interned.debug_annotation_string_values
        self.texts.add(epoch, {value.iid: self._words[decoded(value.str)] for value in values})
        if message.HasField("trace_packet_defaults"):
            defaults = message.trace_packet_defaults
            self._default_clocks[epoch] = defaults.timestamp_clock_id or BOOTTIME
            self.default_tracks[epoch] = signed(defaults.track_event_defaults.track_uuid)
        if message.HasField("track_descriptor"):
            self._learn_track(message.track_descriptor)
        if message.HasField("trace_stats"):
            stats = message.trace_stats.buffer_stats
            self.discarded = sum(b.chunks_overwritten + b.chunks_discarded for b in stats)
        self.unread += any(map(message.HasField, _COMPRESSED))

    def _coded(self, entries: Iterable[Any]) -> dict[int, int]:
        return {entry.iid: self._words[decoded(entry.name)] for entry in entries}

    def _learn_track(self, told: Any) -> None:
        thread = told.thread if told.HasField("thread") else None
        process = told.process if told.HasField("process") else None
        pid = thread.pid if thread else process.pid if process else None
        name = told.name or told.static_name or (thread.thread_name if thread else b"")
        self.tracks[signed(told.uuid)] = Track(decoded(name), pid, thread.tid if thread else None)


def _snapshots(message: Any, packet: int, sequence: int) -> list[Snapshot]:
    return [
        Snapshot(packet, sequence, c.clock_id, c.timestamp, c.unit_multiplier_ns, c.is_incremental)
        for c in message.clock_snapshot.clocks
    ]


def _shown(message: Any) -> dict[int, int]:
    return {clock.clock_id: clock.timestamp for clock in message.clock_snapshot.clocks}


def signed(number: int) -> int:
    """A number of 64 bits as NumPy has it."""
    return number - (1 << 64) if number >= 1 << 63 else number
