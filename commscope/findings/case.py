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
from commscope.analysis.gaps import Gaps
from commscope.analysis.groups import group_rows
from commscope.analysis.result import Analysis
from commscope.columns import NONE, Bool, Int64, codes, int64
from commscope.findings.model import Evidence, Grade, Metric, Trust
from commscope.findings.withheld import is_withheld
from commscope.intervals import Intervals, difference, measure
from commscope.units import size, span

_SHOWN = 3
#: Shares of the median step from which on a finding is of high, medium and low severity.
HIGH, MEDIUM, LOW = 0.10, 0.05, 0.02


@dataclass(slots=True)
class Case:
    """An analysis with what of it can be judged, and what of that nothing claims yet.

    Arrays of windows have an entry a step and rank with activity: those of ``Analysis.windows``.
    """

    analysis: Analysis
    trust: Trust
    usable: Bool  #: gaps that rules may judge
    counts: Bool  #: windows that count: closed steps, or all where there are none
    number: Int64  #: the step of each window
    left_ns: Int64 = field(init=False)  #: of each gap, what no finding claims; 0 if not usable
    idle_left_ns: Int64 = field(init=False)  #: of each window that counts, likewise

    def __post_init__(self) -> None:
        self.left_ns = np.where(self.usable, self.gaps.length, 0)
        self.idle_left_ns = np.where(self.counts, self.inside(self.idle), 0)

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
    def idle(self) -> Intervals:
        """When nothing runs on a rank, between its first and last activity, on the axis."""
        timeline = self.analysis.timeline
        first, last = timeline.first_ns + timeline.shift_ns, timeline.last_ns + timeline.shift_ns
        return difference(Intervals(first, last), timeline.busy)

    def inside(self, times: Intervals) -> Int64:
        """How much of each window these times are."""
        return measure(times, *self.analysis.windows.axis(self.analysis.timeline))

    @property
    def step_ns(self) -> int:
        """The median length of a step that counts."""
        return round(float(np.median(self.length[self.counts]))) if self.counts.any() else 0

    def due_to(self, *causes: str) -> Bool:
        """Gaps with one of these causes of which something is left to claim."""
        wanted = [CAUSES.index(cause) for cause in causes]
        return (self.left_ns > 0) & np.isin(self.analysis.causes.cause, wanted)

    def claim(self, rows: Bool, but: float = 0.0) -> Int64:
        """Claims what is left of gaps, but for a share; how much it is of each window."""
        taken = np.where(rows, self.left_ns - (self.left_ns * but).astype(np.int64), 0)
        self.left_ns = self.left_ns - taken
        return self._of_windows(taken)

    def claim_idle(self, idle: Intervals) -> Int64:
        """Claims idle time, as far as it is left; how much it is of each window."""
        taken = np.minimum(self.inside(idle), self.idle_left_ns)
        self.idle_left_ns = self.idle_left_ns - taken
        return taken

    def left_of(self, rows: Bool) -> Int64:
        """How much of each window is left to claim of these gaps."""
        return self._of_windows(np.where(rows, self.left_ns, 0))

    def restore(self, left_ns: Int64, idle_left_ns: Int64) -> None:
        """Takes back all claims since these were what is left."""
        self.left_ns, self.idle_left_ns = left_ns, idle_left_ns

    def _of_windows(self, of_gap: Int64) -> Int64:
        inside = self.gaps.step >= 0
        total = np.zeros(len(self.number), np.int64)
        np.add.at(total, self.gaps.step[inside], of_gap[inside])
        return total

    def bound(self, claimed_ns: Int64) -> int:
        """How much shorter the median step would be without so much of each window."""
        gain = []
        for step in np.unique(self.number[self.counts]):
            mine = self.counts & (self.number == step)
            length = self.length[mine]
            gain.append(int(length.max() - (length - claimed_ns[mine]).max()))
        return round(float(np.median(gain))) if gain else 0

    def a_step(self, claimed_ns: Int64) -> int:
        """The claimed time of a step on the rank with most of it (median over steps).

        Where ranks take turns in having it, that is less than what can be won: then it is this.
        """
        per_rank = [
            float(np.median(claimed_ns[self.counts & (self.analysis.windows.rank == rank)]))
            for rank in np.unique(self.analysis.windows.rank[self.counts])
        ]
        return max(round(max(per_rank, default=0.0)), self.bound(claimed_ns))

    @property
    def each(self) -> str:
        """What times and counts are of, in words."""
        has_steps = self.analysis.trace.step_source.kind != "whole_trace"
        return "a step" if has_steps else "in the trace"

    def spoken(self, ns: int) -> str:
        """A time of each step, in words."""
        return f"{span(ns)} {self.each}"

    def ranks_of(self, claimed_ns: Int64) -> list[int]:
        """The ranks that have most of it: at least half of what the worst has."""
        total = self.analysis.windows.sums(np.where(self.counts, claimed_ns, 0), len(self.ranks))
        return [self.ranks[i] for i in np.flatnonzero(total * 2 >= max(total.max(initial=0), 1))]

    def evidence(self, rows: Bool, *others: Intervals) -> tuple[Evidence, ...]:
        """The longest of gaps and of other times, which do not overlap, in windows that count."""
        parts = (Intervals(self.gaps.start[rows], self.gaps.end[rows]), *others)
        starts = np.sort(np.concatenate([part.starts for part in parts]))
        ends = np.sort(np.concatenate([part.ends for part in parts]))
        starts, ends = self._cut_at_steps(starts, ends)
        window = self.analysis.windows.at(self.analysis.timeline, starts)
        places = np.flatnonzero(np.append(self.counts, False)[window])
        longest = places[np.argsort((starts - ends)[places], kind="stable")][:_SHOWN]
        return tuple(self.moment(int(starts[i]), int(ends[i])) for i in longest)

    def _cut_at_steps(self, starts: Int64, ends: Int64) -> tuple[Int64, Int64]:
        edges = np.unique(np.concatenate(self.analysis.windows.axis(self.analysis.timeline)))
        holds = np.searchsorted(starts, edges, side="left") - 1
        edges = edges[(holds >= 0) & (edges < np.append(ends, NONE)[holds])]
        return np.sort(np.concatenate((starts, edges))), np.sort(np.concatenate((ends, edges)))

    def moment(self, start: int, end: int) -> Evidence:
        """A time on the axis, by rank, step and the rank's own clock."""
        timeline = self.analysis.timeline
        begins = timeline.first_ns + timeline.shift_ns
        rank = int(np.searchsorted(begins, start, side="right")) - 1
        window = int(self.analysis.windows.at(timeline, np.array([start]))[0])
        shift = int(timeline.shift_ns[rank])
        step = int(self.number[window]) if window >= 0 else None
        return Evidence(self.ranks[rank], step, start - shift, end - shift)

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
        """The operation, size and communicator of most of these gaps; empty if not known."""
        calls = self.analysis.across.calls
        keys = [self.calls("communicator")[rows], self.calls("bytes")[rows], self._op()[rows]]
        if not rows.any():
            return ""
        group, first = group_rows(keys)
        heaviest = int(np.bincount(group, self.gaps.length[rows]).argmax())
        call = int(self.gaps.call[rows][first[heaviest]])
        if call < 0:
            return ""
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
