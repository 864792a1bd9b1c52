"""Calls of the log and collectives of the trace one by one, where their order allows only one way.

Both are in the order in which they were issued on a communicator. A trace shows a stretch of the
log: the shift is where the stretch begins. Training repeats itself, so that often several shifts
fit: then no call is told from its repetitions, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.columns import Int64
from commscope.normalize.stretches import ANY, whole_stretches

_NOWHERE = np.empty(0, np.int64)
#: A trace that lacks more of what was logged than this share is not compared further.
_MOST_LACKING = 0.34
#: Work in Python steps that looking for a stretch with holes may take.
_MOST_WORK = 2_000_000


@dataclass(frozen=True, slots=True)
class Aligned:
    """Where in the log the collectives of one rank on one communicator are.

    ``shifts`` is how many stretches of the log fit. ``place`` is the place of each collective among
    the logged calls, -1 for none, where just one does. ``lacking`` are the places of logged calls
    between them that the trace lacks.
    """

    shifts: int
    place: Int64
    lacking: Int64


def align(shown: Int64, logged: Int64) -> Aligned:
    """Compares numbers that stand for operation and size; ``ANY`` in ``shown`` fits all."""
    shifts = whole_stretches(shown, logged)
    if len(shifts) == 1:
        return Aligned(1, shifts[0] + np.arange(len(shown)), _NOWHERE)
    none = np.full(len(shown), -1)
    if len(shifts) or not len(shown):
        return Aligned(len(shifts), none, _NOWHERE)
    return _with_holes(shown, logged) or Aligned(0, none, _NOWHERE)


def _with_holes(shown: Int64, logged: Int64) -> Aligned | None:
    """The stretch of the log that holds all that the trace shows, in order, and least besides."""
    if shown[0] == ANY:
        return None
    starts = np.flatnonzero(logged == shown[0])
    if len(starts) * len(shown) > _MOST_WORK:
        return None
    most = int(len(shown) * _MOST_LACKING) + 1
    own, others = shown.tolist(), logged.tolist()
    found = [place for start in starts.tolist() if (place := _follow(own, others, start, most))]
    if not found:
        return None
    spare = [places[-1] - places[0] + 1 - len(places) for places in found]
    best = [places for places, more in zip(found, spare) if more == min(spare)]
    if len(best) > 1:
        return Aligned(len(best), np.full(len(shown), -1), _holes(best[0]))
    return Aligned(1, np.array(best[0], np.int64), _holes(best[0]))


def _follow(shown: list[int], logged: list[int], start: int, most: int) -> list[int] | None:
    """The places of the shown calls from a start on; none where more than so many are between."""
    places, at, spare = [], start, 0
    for number in shown:
        while at < len(logged) and number not in (ANY, logged[at]):
            at, spare = at + 1, spare + 1
            if spare > most:
                return None
        if at == len(logged):
            return None
        places.append(at)
        at += 1
    return places


def _holes(places: list[int]) -> Int64:
    return np.setdiff1d(np.arange(places[0], places[-1] + 1), np.array(places, np.int64))
