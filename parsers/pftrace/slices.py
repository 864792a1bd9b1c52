"""Slices: what lies between the begin and the end of an event on one track."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.pftrace.events import BEGIN, END, INSTANT, Events, joined


@dataclass(slots=True)
class Slices:
    """Pairs events block after block, each end with the last begin of its track that is open.

    In the order of the file, not of time: writers that know both ends of a slice write them one
    after the other, and slices of a GPU may overlap.
    """

    ends_lost: int = 0  #: ends whose begin is not in the trace
    _open: Events | None = None

    @property
    def unfinished(self) -> int:
        """Begins whose end has not come."""
        return 0 if self._open is None else len(self._open.kind)

    def add(self, events: Events) -> Events:
        """The slices that end with these events, and instants; ``end_ns`` is always told."""
        known = joined([self._open, events]) if self.unfinished and self._open else events
        begin, rows = _neighbors(known)
        outer, outer_end, alone = _pairs(known, rows)
        begin, end = np.concatenate((begin, outer)), np.concatenate((begin + 1, outer_end))
        instants = np.flatnonzero(known.kind == INSTANT)
        self._open = known.take(np.sort(alone[known.kind[alone] == BEGIN]))
        self.ends_lost += int((known.kind[alone] == END).sum())
        behind = np.concatenate((known.time_ns[end], known.time_ns[instants]))
        slices = known.take(np.concatenate((begin, instants)))
        return _with_times(slices, behind)


def _with_times(slices: Events, behind: Int64) -> Events:
    """The times that annotations tell are true: those of the slice may be trimmed to fit it in."""
    begin = np.where(slices.begin_ns == NONE, slices.time_ns, slices.begin_ns)
    end = np.where((slices.end_ns == NONE) | (slices.begin_ns == NONE), behind, slices.end_ns)
    return replace(slices, begin_ns=begin, end_ns=end)


def _neighbors(events: Events) -> tuple[Int64, Int64]:
    """Begins whose end follows at once, as nearly all do; and the rows of all others."""
    begin = np.flatnonzero(
        (events.kind[:-1] == BEGIN) & (events.kind[1:] == END)
        & (events.track[:-1] == events.track[1:]) & (events.sequence[:-1] == events.sequence[1:])
    )  # fmt: skip
    is_other = (events.kind == BEGIN) | (events.kind == END)
    is_other[begin] = is_other[begin + 1] = False
    return begin, np.flatnonzero(is_other)


def _pairs(events: Events, rows: Int64) -> tuple[Int64, Int64, Int64]:
    """Rows of begins, rows of their ends, and rows that have no partner.

    Brackets of one depth on one track alternate: begin, end, begin, end.
    """
    step = np.where(events.kind[rows] == BEGIN, 1, -1)
    order = np.lexsort((rows, events.track[rows], events.sequence[rows]))
    rows, step = rows[order], step[order]
    first = _first_of_track(events, rows)
    depth = _depth(step, first)
    level = np.where(step == 1, depth, depth + 1)
    group = np.cumsum(first)
    by_level = np.lexsort((np.arange(len(rows)), level, group))
    rows, step, level, group = rows[by_level], step[by_level], level[by_level], group[by_level]
    follows = (
        (step[:-1] == 1) & (step[1:] == -1)
        & (level[:-1] == level[1:]) & (group[:-1] == group[1:])
    )  # fmt: skip
    begin = np.flatnonzero(follows)
    is_paired = np.zeros(len(rows), np.bool_)
    is_paired[begin] = is_paired[begin + 1] = True
    return rows[begin], rows[begin + 1], rows[~is_paired]


def _first_of_track(events: Events, rows: Int64) -> Int64:
    first = np.ones(len(rows), np.int64)
    track, sequence = events.track[rows], events.sequence[rows]
    first[1:] = (track[1:] != track[:-1]) | (sequence[1:] != sequence[:-1])
    return first


def _depth(step: Int64, first: Int64) -> Int64:
    """How many slices are open behind each event of its track."""
    depth = np.cumsum(step)
    begins = np.flatnonzero(first)
    before = depth[begins] - step[begins]
    return depth - np.repeat(before, np.diff(np.append(begins, len(step))))
