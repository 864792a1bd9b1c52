"""What only several ranks together tell: who waited for whom, and what a transfer took."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from commscope.analysis.instances import Matching, match_collectives
from commscope.analysis.overlap import collective_times
from commscope.analysis.stragglers import Verdict, straggler_table, straggler_verdicts
from commscope.analysis.timeline import Timeline
from commscope.analysis.waiting import (
    Waiting,
    call_waits,
    instance_table,
    waiting_of,
    waiting_table,
)
from commscope.columns import int64
from commscope.trace import Trace


@dataclass(frozen=True, slots=True)
class Across:
    """The collectives of all ranks, matched; communicators are indices of those of the matching."""

    matching: Matching
    waiting: Waiting
    calls: pa.Table  #: see ``waiting.call_waits``
    instances: pa.Table  #: see ``waiting.instance_table``
    waits: pa.Table  #: see ``waiting.waiting_table``
    stragglers: pa.Table  #: see ``stragglers.straggler_table``
    verdicts: tuple[Verdict, ...]

    @property
    def hosts(self) -> int:
        """How many hosts the ranks are on, as far as clocks and names tell."""
        return len(set(self.matching.clocks.host.tolist()))


def across_ranks(trace: Trace, timeline: Timeline, steps: pa.Table) -> Across:
    """Matches all collectives of a trace; ``steps`` are those of ``breakdown.step_partitions``."""
    times = collective_times(trace, timeline)
    streams = int64(trace.events.select(["stream"]).take(times.column("event")), "stream")
    hosts = dict(
        zip(trace.ranks.column("rank").to_pylist(), trace.ranks.column("host").to_pylist())
    )
    names = [hosts.get(rank) for rank in timeline.ranks.tolist()]
    matching = match_collectives(times, timeline.ranks, streams, names)
    waiting = waiting_of(timeline, times, matching)
    calls = call_waits(times, timeline, matching, waiting)
    return Across(
        matching,
        waiting,
        calls,
        instances=instance_table(times, timeline, matching),
        waits=waiting_table(calls, timeline, matching),
        stragglers=straggler_table(timeline, matching),
        verdicts=tuple(straggler_verdicts(timeline, matching, times, steps)),
    )
