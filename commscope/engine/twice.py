"""One process in files of several formats, as a profiler writes that was asked for several."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from commscope.columns import int64
from commscope.parsers.base import Reading
from commscope.trace import Note


def without_twice_read(readings: Sequence[Reading]) -> tuple[list[Reading], list[Note]]:
    """The readings, of one process in several formats only the one that says most; with notes.

    They are of one process if they begin with the same activity, to the nanosecond.
    """
    by_start: dict[int, list[Reading]] = defaultdict(list)
    for reading in readings:
        begin = _begin_ns(reading)
        if begin is not None:
            by_start[begin].append(reading)
    left_out: dict[int, Reading] = {}
    for alike in by_start.values():
        if len({reading.input.format for reading in alike}) == len(alike) > 1:
            best = max(alike, key=_says)
            left_out |= {id(reading): best for reading in alike if reading is not best}
    kept = [reading for reading in readings if id(reading) not in left_out]
    return kept, [_note(r, left_out[id(r)]) for r in readings if id(r) in left_out]


def _begin_ns(reading: Reading) -> int | None:
    """The begin of the first activity on the wall clock; null where there is none."""
    starts = int64(reading.events, "start_ns")
    starts = starts[starts > 0]
    return int(starts.min()) + reading.facts.base_ns if len(starts) else None


def _says(reading: Reading) -> tuple[int, int]:
    """How much a reading says: whole ones first, then by their values."""
    tables = (reading.events, reading.host, reading.collectives)
    values = (column.length() - column.null_count for table in tables for column in table.columns)
    return -reading.health.lacks_events, int(np.sum(list(values)))


def _note(reading: Reading, instead: Reading) -> Note:
    return Note(
        "files",
        f"left out: {reading.input.file}: the same process as in {instead.input.file}, "
        "which says more",
    )
