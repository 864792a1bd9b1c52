"""Annotations of events that are used, as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from commscope.columns import NONE, Bool, Int64
from commscope.parsers.pftrace.filling import Filling
from commscope.parsers.pftrace.groups import Group, Spans
from commscope.parsers.pftrace.scan import Scanned
from commscope.parsers.pftrace.shapes import KINDS, NUMBER, TEXT, Note
from commscope.parsers.pftrace.state import State
from commscope.parsers.pftrace.used import COLUMNS, column_of
from commscope.parsers.pftrace.wire import Fields
from commscope.parsers.words import Words


class AnnotationReader:
    """Makes columns of the annotations of scanned blocks."""

    def __init__(self, state: State, words: Words) -> None:
        self._state, self._words = state, words

    def read(self, block: Scanned, epoch: Int64) -> dict[str, Int64]:
        """The columns of a block, one value for each event, whose epochs these are."""
        filling = Filling(self._state, self._words, epoch)
        self._read_others(block, filling)
        for group, events in block.groups:
            for note, values, column in self._used(group, events, filling):
                _read_note(block, note, values, column, filling)
        return filling.columns

    def _read_others(self, block: Scanned, filling: Filling) -> None:
        """The annotations of events that are in no group."""
        found = block.annotations
        which = self._state.columns.codes(filling.epoch[found.event], found.name_id)
        names = found.names
        for written in block.texts(names.message, names.starts, names.ends):
            which[written.events] = np.array(list(map(column_of, written.words)))[written.word]
        rows = np.flatnonzero(which != NONE)
        values, _ = block.wire.fields(found.starts[rows], found.ends[rows])
        which, event = which[rows[values.message]], found.event[rows[values.message]]
        order = np.argsort(which, kind="stable")
        bounds = np.searchsorted(which[order], np.arange(len(COLUMNS) + 1)).tolist()
        for column, first, last in zip(COLUMNS, bounds, bounds[1:]):
            if first < last:
                mine = order[first:last]
                _read_fields(block, values.where(mine), event[mine], column, filling)

    def _used(
        self, group: Group, events: Int64, filling: Filling
    ) -> Iterator[tuple[Note, _Values, str]]:
        """The annotations of a group's events that are used, with their columns."""
        epoch = filling.epoch[events]
        is_one = len(epoch) > 0 and bool((epoch == epoch[0]).all())
        for note, spans in group.notes if len(events) else ():
            which = self._columns_of(note, epoch[:1] if is_one else epoch)
            for number in set(which.tolist()) - {NONE}:
                values = _Values(note.kind, events, spans)
                rows = np.flatnonzero(which == number)
                yield note, values if is_one else values.take(rows), COLUMNS[number]

    def _columns_of(self, note: Note, epoch: Int64) -> Int64:
        """The number of the column that an annotation belongs to in each epoch."""
        if note.name_id == NONE:
            return np.full(len(epoch), column_of(note.name))
        return self._state.columns.codes(epoch, np.full(len(epoch), note.name_id))


@dataclass(frozen=True, slots=True)
class _Values:
    """Values of an annotation that some events have."""

    kind: int
    events: Int64
    spans: Spans

    def take(self, rows: Int64 | Bool) -> _Values:
        """Some of them."""
        return _Values(self.kind, self.events[rows], self.spans.take(rows))


def _read_note(block: Scanned, note: Note, values: _Values, column: str, filling: Filling) -> None:
    """Values of one annotation of a group, each of which should be all that follows its tag."""
    starts, ends = values.spans.starts, values.spans.ends
    size = block.wire.small_sizes(starts)
    if note.kind == TEXT:
        starts, size = starts + size, block.wire.varints(starts)
    is_all = starts + size == ends
    whole = _Values(note.kind, values.events, Spans(starts, ends))
    if is_all.all():
        _put(block, whole, column, filling)
        return
    _put(block, whole.take(is_all), column, filling)
    odd = values.take(~is_all)
    fields, _ = block.wire.fields(odd.spans.starts - note.tag_bytes, odd.spans.ends)
    _read_fields(block, fields, odd.events[fields.message], column, filling)


def _read_fields(
    block: Scanned, fields: Fields, events: Int64, column: str, filling: Filling
) -> None:
    """Values of one column, by kind."""
    for (number, wire), kind in KINDS.items():
        rows = np.flatnonzero((fields.number == number) & (fields.wire == wire))
        span = Spans(fields.starts[rows], fields.ends[rows])
        _put(block, _Values(kind, events[rows], span), column, filling)


def _put(block: Scanned, values: _Values, column: str, filling: Filling) -> None:
    """Puts values into a column."""
    spans = values.spans
    if values.kind == TEXT:
        for texts in block.texts(values.events, spans.starts, spans.ends):
            filling.put_texts(column, texts)
        return
    numbers = block.wire.varints(spans.starts, spans.most)
    if values.kind == NUMBER:
        filling.put_numbers(column, values.events, numbers)
    else:
        filling.put_ids(column, values.events, numbers)
