"""The begins, ends and instants of a block as columns, with the annotations that are used."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.pftrace import numbers
from commscope.parsers.pftrace.annotations import AnnotationReader
from commscope.parsers.pftrace.scan import Scanned
from commscope.parsers.pftrace.state import State
from commscope.parsers.words import Words

BEGIN, END, INSTANT = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Events:
    """Events in the order of the file; ``NONE`` where something is not told."""

    kind: Int64  #: BEGIN, END or INSTANT
    sequence: Int64
    track: Int64
    category: Int64  #: code of a word
    name: Int64  #: code of a word
    time_ns: Int64
    begin_ns: Int64
    end_ns: Int64
    correlation: Int64
    thread: Int64
    stream: Int64
    queue: Int64
    bytes: Int64
    grid: Int64
    group: Int64
    agent: Int64  #: code of a word, as the next two
    source: Int64
    target: Int64

    def take(self, rows: Int64) -> Events:
        """Some of the events."""
        return Events(*(getattr(self, field.name)[rows] for field in fields(self)))


def joined(parts: list[Events]) -> Events:
    """All events of the parts, in order."""
    none = Events(*(np.empty(0, np.int64) for _ in fields(Events)))
    parts = [none, *parts]
    names = [field.name for field in fields(Events)]
    return Events(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class EventReader:
    """Makes columns of scanned blocks, in order."""

    def __init__(self, state: State, words: Words) -> None:
        self._state, self._words = state, words
        self._annotations = AnnotationReader(state, words)

    def read(self, block: Scanned) -> Events:
        """The events of a block."""
        told = self._state.apply(block)
        packet = block.packet_of_event
        epoch = told.epoch[packet]
        return Events(
            kind=block.event_number(numbers.TYPE, 0),
            sequence=told.sequence[packet],
            track=self._tracks(block, epoch),
            category=self._texts(block, epoch, numbers.CATEGORY_ID, numbers.CATEGORY),
            name=self._texts(block, epoch, numbers.NAME_ID, numbers.NAME),
            time_ns=told.time_ns[packet],
            **self._annotations.read(block, epoch),
        )

    def _tracks(self, block: Scanned, epoch: Int64) -> Int64:
        found = block.event_number(numbers.TRACK, NONE)
        missing = np.flatnonzero(found == NONE)
        if len(missing):
            default = self._state.default_tracks
            found[missing] = [default.get(one, 0) for one in epoch[missing].tolist()]
        return found

    def _texts(self, block: Scanned, epoch: Int64, by_id: int, written: int) -> Int64:
        """The code of a text that is told by number, or written out."""
        table = self._state.names if by_id == numbers.NAME_ID else self._state.categories
        codes = table.codes(epoch, block.event_number(by_id, NONE))
        for texts in block.event_texts(written):
            codes[texts.events] = self._words.encode(texts.words)[texts.word]
        return codes
