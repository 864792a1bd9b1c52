"""Traces whose collectives are matched across ranks, in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from support import case

import commscope
from commscope.analysis.instances import Matching, match_collectives
from commscope.analysis.overlap import collective_times
from commscope.analysis.result import Analysis, analyse
from commscope.columns import NONE, Int64, int64
from commscope.schema import COLLECTIVES
from commscope.trace import Trace


@dataclass(frozen=True)
class Matched:
    """An analysis, its collectives matched, and the rank (index) of each collective."""

    analysis: Analysis
    matching: Matching
    rank: Int64
    times: pa.Table  #: see ``overlap.collective_times``


def match_trace(trace: Trace, hosts: Sequence[str | None] | None = None) -> Matched:
    analysis = analyse(trace)
    times, ranks = collective_times(trace, analysis.timeline), analysis.timeline.ranks
    streams = int64(trace.events.take(times.column("event")), "stream")
    matching = match_collectives(times, ranks, streams, hosts or [None] * len(ranks))
    return Matched(analysis, matching, analysis.timeline.index_of(int64(times, "rank")), times)


@cache
def match_case(path: str) -> Matched:
    """A real case: a folder, or the traces in it where it holds other files too."""
    folder: Path = case(path)
    return match_trace(commscope.load(sorted(folder.glob("*.json.gz"))))


@dataclass(frozen=True)
class Op:
    """A collective of a rank, on its clock."""

    rank: int
    start: int
    end: int
    comm: str | None = "0"
    op: str | None = "all_reduce"
    bytes: int | None = 1024
    seq: int | None = None
    members: tuple[int, ...] | None = None
    group_size: int | None = None
    peer: int | None = None
    stream: int | None = 1
    description: str | None = None


def times_of(ops: Sequence[Op]) -> pa.Table:
    """The ops as ``overlap.collective_times`` would give them."""
    rows = [
        {
            "event": number, "rank": o.rank, "comm": o.comm, "op": o.op, "bytes": o.bytes,
            "seq": o.seq, "members": o.members, "group_size": o.group_size, "peer": o.peer,
            "description": o.description, "source": "args",
        }
        for number, o in enumerate(ops)
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=COLLECTIVES)
    extra: dict[str, Any] = {
        "step": pa.nulls(len(ops), pa.int64()),
        "start_ns": pa.array([o.start for o in ops], pa.int64()),
        "dur_ns": pa.array([o.end - o.start for o in ops], pa.int64()),
    }
    for name, values in extra.items():
        table = table.append_column(name, values)
    return table


def streams_of(ops: Sequence[Op]) -> Int64:
    return np.array([NONE if o.stream is None else o.stream for o in ops], np.int64)


def match_ops(ops: Sequence[Op], hosts: Sequence[str | None] | None = None) -> Matching:
    ranks = np.unique([o.rank for o in ops]).astype(np.int64)
    return match_collectives(times_of(ops), ranks, streams_of(ops), hosts or [None] * len(ranks))
