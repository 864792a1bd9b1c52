"""The begins, ends and instants of a block as columns, with the annotations that are used."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.kineto.rows import Words, integers, products
from commscope.parsers.pftrace import numbers
from commscope.parsers.pftrace.scan import Scanned
from commscope.parsers.pftrace.state import State
from commscope.parsers.pftrace.wire import LENGTH, VARINT, Fields

BEGIN, END, INSTANT = 1, 2, 3
#: Annotation -> column; several are one thing in different versions.
_COLUMNS = {
    "begin_ns": "begin_ns",
    "end_ns": "end_ns",
    "corr_id": "correlation",
    "stack_id": "correlation",
    "tid": "thread",
    "stream_ID": "stream",
    "stream_id": "stream",
    "queue": "queue",
    "queue_id": "queue",
    "copy_bytes": "bytes",
    "bytes": "bytes",
    "grid_size": "grid",
    "workgroup_size": "group",
}
#: Annotations whose texts are kept, as codes.
_TEXTS = {"agent": "agent", "src_agent": "source", "dst_agent": "target"}
_SIZES = {"grid", "group"}
_ANNOTATED = sorted({*_COLUMNS.values(), *_TEXTS.values()})
_UNUSED = 255


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

    def read(self, block: Scanned) -> Events:
        """The events of a block."""
        told = self._state.apply(block)
        packet, count = block.packet_of_event, len(block.packet_of_event)
        epoch = told.epoch[packet]
        columns = {name: np.full(count, NONE, np.int64) for name in _ANNOTATED}
        self._annotate(block, epoch, columns)
        return Events(
            kind=block.number(block.events, count, numbers.TYPE, 0),
            sequence=told.sequence[packet],
            track=self._tracks(block, epoch),
            category=self._texts(block, epoch, numbers.CATEGORY_ID, numbers.CATEGORY),
            name=self._texts(block, epoch, numbers.NAME_ID, numbers.NAME),
            time_ns=told.time_ns[packet],
            **columns,
        )

    def _tracks(self, block: Scanned, epoch: Int64) -> Int64:
        found = block.number(block.events, len(epoch), numbers.TRACK, NONE)
        missing = np.flatnonzero(found == NONE)
        if len(missing):
            default = self._state.default_tracks
            found[missing] = [default.get(one, 0) for one in epoch[missing].tolist()]
        return found

    def _texts(self, block: Scanned, epoch: Int64, by_id: int, written: int) -> Int64:
        """The code of a text that is told by number, or written out."""
        table = self._state.names if by_id == numbers.NAME_ID else self._state.categories
        ids = block.number(block.events, len(epoch), by_id, NONE)
        codes = table.codes(epoch, ids)
        texts = block.events.of(written, LENGTH)
        codes[texts.message] = self._encoded(block, texts)
        return codes

    def _encoded(self, block: Scanned, texts: Fields) -> Int64:
        spans = zip(texts.starts.tolist(), texts.ends.tolist())
        data = block.wire.data
        return self._words.encode([str(data[a:b], "utf-8", "replace") for a, b in spans])

    def _annotate(self, block: Scanned, epoch: Int64, columns: dict[str, Int64]) -> None:
        """Fills the columns with the annotations that they are of."""
        found = block.annotations
        name = self._state.annotation_names.codes(epoch[found.event], found.name_id)
        name[found.names.message] = self._encoded(block, found.names)
        column_of = np.full(len(self._words) + 1, _UNUSED, np.uint8)
        for key, column in (_COLUMNS | _TEXTS).items():
            column_of[self._words.get(key, -1)] = _ANNOTATED.index(column)
        column_of[-1] = _UNUSED
        wanted = column_of[np.where(name == NONE, -1, name)]
        rows = np.flatnonzero(wanted != _UNUSED)
        values, _ = block.wire.fields(found.starts[rows], found.ends[rows])
        which, event = wanted[rows[values.message]], found.event[rows[values.message]]
        order = np.argsort(which, kind="stable")
        bounds = np.searchsorted(which[order], np.arange(len(_ANNOTATED) + 1)).tolist()
        for column, first, last in zip(_ANNOTATED, bounds, bounds[1:]):
            mine = order[first:last]
            fill = _Fill(block, values.where(mine), event[mine], columns[column])
            self._fill_numbers(fill, column)
            self._fill_texts(fill, epoch, column)

    def _fill_numbers(self, fill: _Fill, column: str) -> None:
        """Values that are whole numbers."""
        is_whole = np.isin(fill.values.number, numbers.ANNOTATION_NUMBERS)
        rows = np.flatnonzero(is_whole & (fill.values.wire == VARINT))
        if len(rows):
            read = fill.block.wire.varints(fill.values.starts[rows])
            is_text = column in _TEXTS.values()
            into = self._words.encode(list(map(str, read.tolist()))) if is_text else read
            fill.into[fill.event[rows]] = into

    def _fill_texts(self, fill: _Fill, epoch: Int64, column: str) -> None:
        """Values that are texts, written out or told by number; numbers in them are read."""
        values = fill.values
        written = np.flatnonzero(
            (values.number == numbers.ANNOTATION_TEXT) & (values.wire == LENGTH)
        )
        by_id = np.flatnonzero(
            (values.number == numbers.ANNOTATION_TEXT_ID) & (values.wire == VARINT)
        )
        if len(written):
            codes = self._encoded(fill.block, values.where(written))
            fill.into[fill.event[written]] = self._meant(codes, column)
        if len(by_id):
            ids = fill.block.wire.varints(values.starts[by_id])
            codes = self._state.texts.codes(epoch[fill.event[by_id]], ids)
            fill.into[fill.event[by_id]] = self._meant(codes, column)

    def _meant(self, codes: Int64, column: str) -> Int64:
        """What texts mean in a column: themselves, the product of sizes, or a number."""
        if column in _TEXTS.values():
            return codes
        words = [*self._words, ""]
        texts = [words[code] if code != NONE else "" for code in codes.tolist()]
        if column in _SIZES:
            return products([word.encode() for word in texts])
        return integers(texts)


@dataclass(frozen=True, slots=True)
class _Fill:
    """Values of one annotation, and the column that they go into."""

    block: Scanned
    values: Fields
    event: Int64  #: the event that each is of
    into: Int64
