"""Rows of a lane: events that run at the same time are drawn one below the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from commscope.columns import Int64

#: So many rows of one lane can be told apart; what runs deeper shares the last.
MOST_ROWS = 32

Rows = npt.NDArray[np.uint8]


def rows_of(start: Int64, end: Int64) -> Rows:
    """The first row that is free as each event begins; events are in order of their start."""
    row = np.zeros(len(start), np.uint8)
    rest = _meeting(start, end)
    for depth in range(MOST_ROWS):
        if not len(rest):
            break
        row[rest] = depth
        chosen = _in_turn(start[rest], end[rest])
        rest = rest[~chosen]
    return row


def _meeting(start: Int64, end: Int64) -> Int64:
    """The events that meet others; most run alone, and are in the first row."""
    if len(start) < 2:
        return np.empty(0, np.int64)
    reach = np.maximum.accumulate(end)
    begins = np.concatenate(([True], start[1:] >= reach[:-1]))
    alone = begins & np.append(begins[1:], True)
    return np.flatnonzero(~alone)


def _in_turn(start: Int64, end: Int64) -> npt.NDArray[np.bool_]:
    """Of events in order, the first, then the first that begins as it has ended, and so on."""
    # Python's lists, as each of these looks depends on the one before.
    following = np.maximum(
        np.searchsorted(start, end, side="left"), np.arange(1, len(start) + 1)
    ).tolist()
    chosen, place = [], 0
    while place < len(following):
        chosen.append(place)
        place = following[place]
    taken = np.zeros(len(start), np.bool_)
    taken[chosen] = True
    return taken
