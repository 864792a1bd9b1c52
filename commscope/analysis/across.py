"""What only several ranks together tell: who waited for whom, and what a transfer took."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.analysis.chosen import in_chosen_steps
from commscope.analysis.instances import Matching, match_collectives
from commscope.analysis.overlap import collective_times
from commscope.analysis.roles import roles_of
from commscope.analysis.stragglers import Verdict, straggler_table, straggler_verdicts
from commscope.analysis.timeline import Timeline
from commscope.analysis.waiting import (
    Waiting,
    call_waits,
    instance_table,
    waiting_of,
    waiting_table,
)
from commscope.columns import Bool, Int64, at, int64
from commscope.trace import Trace


@dataclass(frozen=True, slots=True)
class Across:
    """The collectives of all ranks, matched; communicators are indices of those of the matching.

    Where the user chose steps, ``waits``, ``stragglers`` and ``verdicts`` are of these.
    """

    matching: Matching
    labels: tuple[str, ...]  #: what each communicator is called
    roles: tuple[str | None, ...]  #: what each is for, see ``roles.role_of``
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

    def has_role(self, communicator: Int64, *roles: str | None) -> Bool:
        """Which of these communicators (-1: none) are for one of the roles."""
        wanted = np.array([role in roles for role in self.roles], np.bool_)
        return at(wanted, communicator, missing=False)


def across_ranks(trace: Trace, timeline: Timeline, steps: pa.Table) -> Across:
    """Matches all collectives of a trace; ``steps`` are those of ``breakdown.step_partitions``."""
    times = collective_times(trace, timeline)
    streams = int64(trace.events.select(["stream"]).take(times.column("event")), "stream")
    hosts = dict(
        zip(trace.ranks.column("rank").to_pylist(), trace.ranks.column("host").to_pylist())
    )
    names = [hosts.get(rank) for rank in timeline.ranks.tolist()]
    matching = match_collectives(times, timeline.ranks, streams, names)
    communicators = matching.communicators
    waiting = waiting_of(timeline, times, matching)
    calls = call_waits(times, timeline, matching, waiting)
    chosen = matching.only(in_chosen_steps(trace, int64(times, "rank"), int64(times, "step")))
    return Across(
        matching,
        communicators.labels,
        roles_of(communicators, times.column("op").to_pylist(), trace.roles),
        waiting,
        calls,
        instances=instance_table(times, timeline, matching),
        waits=waiting_table(calls, timeline, chosen),
        stragglers=straggler_table(timeline, chosen),
        verdicts=tuple(straggler_verdicts(timeline, chosen, times, steps)),
    )
