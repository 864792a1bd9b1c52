"""Arguments of the calls of RCCL, which rocpd keeps apart from the calls, by the event of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from commscope.columns import NONE, Int64, distinct_of
from commscope.parsers.rccl_arguments import Texts
from commscope.parsers.sqlite_fetch import Fetched


@dataclass(frozen=True, slots=True)
class RcclCalls:
    """The calls of RCCL in a run that have an event."""

    nid: Int64
    pid: Int64
    event: Int64
    correlation: Int64

    @classmethod
    def of(cls, regions: Fetched, rows: Int64) -> RcclCalls:
        """Those among these rows of the regions."""
        rows = rows[regions.numbers("event")[rows] != NONE]
        names = ("nid", "pid", "event", "correlation")
        return cls(*(regions.numbers(name)[rows] for name in names))

    def arguments(self, found: Fetched, nid: int, pid: int) -> dict[int, Texts]:
        """The arguments of the calls of one process, by the correlation of the call."""
        mine = np.flatnonzero((self.nid == nid) & (self.pid == pid))
        events, calls = self.event[mine], self.correlation[mine]
        _, place = distinct_of(calls)
        # An id that several calls share tells none of them.
        is_own = (np.bincount(place, minlength=1)[place] == 1) & (calls != NONE)
        by_event = _by_event(found, events[is_own])
        pairs = zip(calls[is_own].tolist(), events[is_own].tolist())
        return {call: by_event[event] for call, event in pairs if event in by_event}


def _by_event(found: Fetched, events: Int64) -> Mapping[int, Texts]:
    rows = np.isin(found.numbers("event"), events) & (found.numbers("value") != NONE)
    words = list(found.own)
    texts: dict[int, dict[str, str]] = defaultdict(dict)
    columns = (found.numbers(name)[rows].tolist() for name in ("event", "name", "value"))
    for event, name, value in zip(*columns):
        texts[event][words[name]] = words[value]
    return texts
