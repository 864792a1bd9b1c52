"""Who is late: by arrival at collectives, never by the length of steps (DEFINITIONS 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.analysis.groups import group_sums
from commscope.analysis.instances import Matching
from commscope.analysis.timeline import Timeline
from commscope.columns import NONE, Bool, Int64, int64

#: A straggler causes at least this share of all waiting of a communicator,
MIN_SHARE = 0.8
#: two thirds of it in every closed step,
MIN_STEP_SHARE = 2 / 3
#: a mean wait of this many times the error of the clocks,
MIN_ERRORS = 3
#: and this share of the time in steps.
MIN_STEP_TIME = 0.01
#: A rank that causes more than this share causes most of it, of two ranks too.
MOST_SHARE = 2 / 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one rank of a communicator is the straggler; ``says`` why, or that waiting moves."""

    communicator: int
    straggler: int | None
    shares: dict[int, float]  #: rank -> share of the waiting it caused
    says: str


def straggler_table(timeline: Timeline, matching: Matching) -> pa.Table:
    """One row a rank and communicator (an index) that was last at least once, most waiting first.

    ``instances`` they took part in, ``last_count``, ``last_share`` of them, ``mean_lateness_ns``
    behind the mean arrival of the other members, ``waited_by_others_ns`` in all, ``caused_share``
    of the waiting of that communicator.
    """
    caused, lateness = instance_waits(matching), _lateness(matching)
    rows = []
    for number in np.unique(matching.communicator):
        mine = np.flatnonzero(matching.communicator == number)
        total = int(caused[mine].sum())
        for rank in np.unique(matching.straggler[mine]):
            last = mine[matching.straggler[mine] == rank]
            rows.append(
                {
                    "rank": int(timeline.ranks[rank]),
                    "communicator": int(number),
                    "instances": len(mine),
                    "last_count": len(last),
                    "last_share": len(last) / len(mine),
                    "mean_lateness_ns": round(float(lateness[last].mean())),
                    "waited_by_others_ns": int(caused[last].sum()),
                    "caused_share": int(caused[last].sum()) / total if total else None,
                }
            )
    table = pa.Table.from_pylist(rows, schema=_SCHEMA)
    return table.sort_by([("waited_by_others_ns", "descending"), ("rank", "ascending")])


_SCHEMA = pa.schema(
    [
        ("rank", pa.int64()),
        ("communicator", pa.int64()),
        ("instances", pa.int64()),
        ("last_count", pa.int64()),
        ("last_share", pa.float64()),
        ("mean_lateness_ns", pa.int64()),
        ("waited_by_others_ns", pa.int64()),
        ("caused_share", pa.float64()),
    ]
)


def instance_waits(matching: Matching) -> Int64:
    """For each instance how long its members waited in all."""
    matched = matching.instance >= 0
    count = len(matching.first_row)
    return group_sums(matching.instance[matched], matching.wait_ns[matched], count)


def _lateness(matching: Matching) -> npt.NDArray[np.float64]:
    """How late the last member of each instance came, behind the mean arrival of the others."""
    matched = matching.instance >= 0
    instance, last = matching.instance[matched], matching.last_arrival_ns
    before = group_sums(instance, last[instance] - matching.arrival_ns[matched], len(last))
    return np.asarray(before / np.maximum(matching.members - 1, 1))


def straggler_verdicts(
    timeline: Timeline, matching: Matching, times: pa.Table, steps: pa.Table
) -> list[Verdict]:
    """For each communicator with waiting, whether one rank is to blame for it."""
    blame = _Blame(
        matching.straggler,
        instance_waits(matching),
        _steps_of(matching, times, steps),
        MIN_ERRORS * int(matching.clocks.error_ns.max(initial=0)),
        round(MIN_STEP_TIME * _time_in_steps(steps)),
    )
    return [
        blame.verdict(int(number), matching.communicator == number, timeline.ranks)
        for number in np.unique(matching.communicator)
        if blame.caused_ns[matching.communicator == number].sum() > 0
    ]


def _time_in_steps(steps: pa.Table) -> int:
    window = int64(steps, "window_ns")
    return int(window[window != NONE].sum())


def _steps_of(matching: Matching, times: pa.Table, steps: pa.Table) -> Int64:
    """The closed step of each instance, ``NONE`` for none."""
    is_open = np.asarray(steps.column("open").to_numpy(zero_copy_only=False), np.bool_)
    closed = np.unique(int64(steps, "step")[~is_open])
    step = int64(times, "step")[matching.first_row]
    return np.where(np.isin(step, closed), step, NONE)


@dataclass(frozen=True, slots=True)
class _Blame:
    """For each instance its straggler (an index), the waiting it caused, its closed step.

    A mean wait up to ``least_mean_ns`` or a total up to ``least_total_ns`` blames nobody.
    """

    straggler: Int64
    caused_ns: Int64
    step: Int64
    least_mean_ns: int
    least_total_ns: int

    def verdict(self, number: int, mine: Bool, ranks: Int64) -> Verdict:
        """On the instances of one communicator."""
        by_rank = group_sums(self.straggler[mine], self.caused_ns[mine], len(ranks))
        shares = by_rank / by_rank.sum()
        named = {int(ranks[r]): float(shares[r]) for r in np.flatnonzero(by_rank)}
        top = int(shares.argmax())
        objection = self._objection(mine, top, float(shares[top]))
        if objection is not None:
            return Verdict(number, None, named, f"{objection}: {_listed(named)}")
        rank = int(ranks[top])
        says = f"rank {rank} arrives last and causes {shares[top]:.0%} of the waiting"
        return Verdict(number, rank, named, says)

    def _objection(self, mine: Bool, rank: int, share: float) -> str | None:
        """Why a rank (an index) is not to blame although nobody causes more waiting."""
        if share < MIN_SHARE:
            most = f"no rank causes {MIN_SHARE:.0%} of the waiting"
            return most if share > MOST_SHARE else "the waiting moves between ranks"
        of_rank = self.straggler[mine] == rank
        if not leads_every_step(self.step[mine], self.caused_ns[mine], of_rank, MIN_STEP_SHARE):
            return "the waiting moves between ranks from step to step; in all"
        caused = self.caused_ns[mine]
        if caused.mean() <= self.least_mean_ns or caused.sum() <= self.least_total_ns:
            return "too little waiting to blame a rank"
        return None


def leads_every_step(step: Int64, caused_ns: Int64, is_own: Bool, least: float) -> bool:
    """Whether more than this share of the waiting of every step that has any is its own.

    Arrays with an entry an instance; those whose step is ``NONE`` do not count.
    """
    counts = step != NONE
    steps, place = np.unique(step[counts], return_inverse=True)
    place, caused = place.reshape(-1), caused_ns[counts]
    total = group_sums(place, caused, len(steps))
    own = group_sums(place, np.where(is_own[counts], caused, 0), len(steps))
    return bool((own[total > 0] > least * total[total > 0]).all())


def _listed(shares: dict[int, float]) -> str:
    largest = sorted(shares.items(), key=lambda item: -item[1])[:4]
    return ", ".join(f"rank {rank} {share:.0%}" for rank, share in largest)
