"""What rules look at: the gaps with their causes, and how much of each step a finding claims.

Every nanosecond of exposed communication is claimed by one finding at most. The bound of a finding
is what the step would be shorter by if what it claims were gone and nothing else moved: the slowest
rank decides (DEFINITIONS 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from commscope.analysis.causes import CAUSES
from commscope.analysis.gaps import Gaps, covered_by
from commscope.analysis.groups import group_rows
from commscope.analysis.result import Analysis
from commscope.columns import NONE, Bool, Int64, codes, int64
from commscope.findings.model import Evidence, Grade, Metric, Trust
from commscope.findings.withheld import is_withheld
from commscope.intervals import measure
from commscope.units import size

_SHOWN = 3
#: Shares of the median step from which on a finding is of high, medium and low severity.
HIGH, MEDIUM, LOW = 0.10, 0.05, 0.02


@dataclass(slots=True)
class Case:
    """An analysis with what of it can be judged, and which gaps are claimed already.

    Arrays of windows have an entry a step and rank with activity: those of ``Analysis.windows``.
    """

    analysis: Analysis
    trust: Trust
    usable: Bool  #: gaps that rules may judge
    counts: Bool  #: windows that count: closed steps, or all where there are none
    number: Int64  #: the step of each window
    claimed: Bool = field(init=False)
    idle_claimed_ns: Int64 = field(init=False)  #: of each window

    def __post_init__(self) -> None:
        self.claimed = np.zeros(len(self.usable), np.bool_)
        self.idle_claimed_ns = np.zeros(len(self.counts), np.int64)

    @classmethod
    def of(cls, analysis: Analysis, trust: Trust) -> Case:
        """The case of an analysis: without what trust withholds."""
        active = int64(analysis.steps, "start_ns") != NONE
        steps = analysis.steps.filter(active)
        is_open = np.asarray(steps.column("open").to_numpy(zero_copy_only=False), np.bool_)
        hidden = is_withheld(steps, trust, Metric.OVERLAP)
        counts = (~is_open if (~is_open).any() else np.ones(len(is_open), np.bool_)) & ~hidden
        inside = analysis.gaps.step
        usable = (inside >= 0) & np.append(counts, False)[inside]
        return cls(analysis, trust, usable, counts, int64(steps, "step"))

    @property
    def gaps(self) -> Gaps:
        """The gaps of all ranks."""
        return self.analysis.gaps

    @property
    def ranks(self) -> list[int]:
        """The numbers of all ranks."""
        found: list[int] = self.analysis.timeline.ranks.tolist()
        return found

    @property
    def length(self) -> Int64:
        """The length of each window."""
        windows = self.analysis.windows
        return windows.end_ns - windows.start_ns

    @property
    def step_ns(self) -> int:
        """The median length of a step that counts."""
        return round(float(np.median(self.length[self.counts]))) if self.counts.any() else 0

    def due_to(self, *causes: str) -> Bool:
        """Usable gaps with one of these causes that nothing claims yet."""
        wanted = [CAUSES.index(cause) for cause in causes]
        return self.usable & ~self.claimed & np.isin(self.analysis.causes.cause, wanted)

    def claim(self, rows: Bool) -> Int64:
        """Claims gaps for a finding; how much that is of each window."""
        rows = rows & self.usable & ~self.claimed
        self.claimed |= rows
        return self.time_of(rows)

    def claim_idle(self, idle_ns: Int64) -> Int64:
        """Claims idle time of each window for a finding, as far as it is not claimed yet."""
        windows = self.analysis.windows
        idle = self.length - measure(
            self.analysis.timeline.busy, *windows.axis(self.analysis.timeline)
        )
        granted = np.clip(np.where(self.counts, idle_ns, 0), 0, idle - self.idle_claimed_ns)
        self.idle_claimed_ns = self.idle_claimed_ns + granted
        return granted

    def time_of(self, rows: Bool) -> Int64:
        """How much of each window these gaps are."""
        return covered_by(self.gaps, rows, len(self.number))

    def bound(self, claimed_ns: Int64) -> int:
        """How much shorter the median step would be without so much of each window."""
        gain = []
        for step in np.unique(self.number[self.counts]):
            mine = self.counts & (self.number == step)
            length = self.length[mine]
            gain.append(int(length.max() - (length - claimed_ns[mine]).max()))
        return round(float(np.median(gain))) if gain else 0

    def a_step(self, claimed_ns: Int64) -> int:
        """The claimed time of a step on the rank with most of it (median over steps)."""
        per_rank = [
            float(np.median(claimed_ns[self.counts & (self.analysis.windows.rank == rank)]))
            for rank in np.unique(self.analysis.windows.rank[self.counts])
        ]
        return round(max(per_rank, default=0.0))

    def ranks_of(self, claimed_ns: Int64) -> list[int]:
        """The ranks that have most of it: at least half of what the worst has."""
        total = self.analysis.windows.sums(np.where(self.counts, claimed_ns, 0), len(self.ranks))
        return [self.ranks[i] for i in np.flatnonzero(total * 2 >= max(total.max(initial=0), 1))]

    def evidence(self, rows: Bool) -> tuple[Evidence, ...]:
        """The longest of these gaps, on their ranks' clocks."""
        places = np.flatnonzero(rows)
        longest = places[np.argsort(-self.gaps.length[places], kind="stable")][:_SHOWN]
        return tuple(self._evidence(place) for place in longest.tolist())

    def _evidence(self, place: int) -> Evidence:
        rank, window = int(self.gaps.rank[place]), int(self.gaps.step[place])
        shift = int(self.analysis.timeline.shift_ns[rank])
        return Evidence(
            rank=self.ranks[rank],
            step=int(self.number[window]) if window >= 0 else None,
            t0_ns=int(self.gaps.start[place]) - shift,
            t1_ns=int(self.gaps.end[place]) - shift,
        )

    def calls(self, column: str) -> Int64:
        """A column of the collective of each gap, as numbers; ``NONE`` where there is none."""
        return np.append(int64(self.analysis.across.calls, column), NONE)[self.gaps.call]

    def op_is(self, *words: str) -> Bool:
        """Gaps whose collective is one of these operations."""
        code, names = codes(self.analysis.across.calls, "op")
        wanted = np.array([name in words for name in names] + [False])
        return np.asarray(wanted[np.append(code, -1)[self.gaps.call]])

    def role_is(self, *words: str | None) -> Bool:
        """Gaps whose communicator has one of these roles."""
        wanted = np.array([role in words for role in self.analysis.across.roles] + [False])
        return np.asarray(wanted[np.where(self.gaps.call < 0, -1, self.calls("communicator"))])

    def main_collective(self, rows: Bool) -> str:
        """The operation, communicator and size of the most of these gaps."""
        calls = self.analysis.across.calls
        keys = [self.calls("communicator")[rows], self.calls("bytes")[rows], self._op()[rows]]
        if not rows.any():
            return "communication"
        group, first = group_rows(keys)
        heaviest = int(np.bincount(group, self.gaps.length[rows]).argmax())
        call = int(self.gaps.call[rows][first[heaviest]])
        if call < 0:
            return "communication"
        row = calls.slice(call, 1).to_pylist()[0]
        of = "" if row["bytes"] is None else f" of {size(row['bytes'])}"
        label = self.analysis.across.labels[row["communicator"]]
        return f"{row['op'] or 'a collective'}{of} in {label}"

    def _op(self) -> Int64:
        return np.append(codes(self.analysis.across.calls, "op")[0], -1)[self.gaps.call]

    def severity(self, bound_ns: int) -> Grade | None:
        """By the bound's share of the median step; null for what is no finding."""
        share = bound_ns / self.step_ns if self.step_ns else 0.0
        grades: Sequence[tuple[float, Grade]] = ((HIGH, "high"), (MEDIUM, "medium"), (LOW, "low"))
        return next((grade for least, grade in grades if share >= least), None)
