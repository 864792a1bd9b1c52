"""Which call launched which activity: by correlation id, one call to many activities."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, at, int64, nullable, where_word, with_column
from commscope.normalize.parts import Tables
from commscope.schema import Flag

_GRAPH = re.compile(r"GraphLaunch")


def link_launches(tables: Tables) -> Tables:
    """The tables with ``launch_ns`` where the call is known, and graph replays flagged."""
    events, host = tables.events, tables.host
    call = call_of(int64(events, "correlation"), host)
    launch = at(int64(host, "start_ns"), call, NONE)
    flags = np.asarray(events.column("flags").to_numpy()).copy()
    flags[_is_graph_launch(host)[call] & _shared(call)] |= Flag.GRAPH
    events = with_column(events, "launch_ns", nullable(launch))
    return Tables(with_column(events, "flags", pa.array(flags)), host, tables.collectives)


def call_of(wanted: Int64, host: pa.Table) -> Int64:
    """For each correlation the row of the earliest call with it; -1 where there is none."""
    ids, starts = int64(host, "correlation"), int64(host, "start_ns")
    order = np.lexsort((starts, ids))
    order = order[ids[order] != NONE]
    if not len(order):
        return np.full(len(wanted), -1, np.int64)
    position = np.searchsorted(ids[order], wanted)
    row = order[np.minimum(position, len(order) - 1)]
    return np.where((wanted != NONE) & (ids[row] == wanted), row, -1)


def _shared(call: Int64) -> Bool:
    """Activities that share their call with others."""
    return np.asarray(np.bincount(call + 1)[call + 1] > 1)


def _is_graph_launch(host: pa.Table) -> Bool:
    """Host rows that launch a graph, and False at -1, which stands for none."""
    return np.append(where_word(host, "name", _GRAPH.search), False)
