"""What rules look at: the gaps with their causes, and how much of each step a finding claims.

Every nanosecond of exposed communication is claimed by one finding at most. The bound of a finding
is what the step would be shorter by if what it claims were gone and nothing else moved: the slowest
rank decides (DEFINITIONS 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from commscope.analysis.causes import CAUSES
from commscope.analysis.gaps import Gaps
from commscope.analysis.groups import group_rows, group_sums
from commscope.analysis.result import Analysis
from commscope.columns import NONE, Bool, Int64, at, codes, int64, where_word
from commscope.counters.model import KernelCounters
from commscope.findings.model import Evidence, Finding, Grade, Metric, Trust
from commscope.findings.withheld import is_withheld
from commscope.intervals import Intervals, cut, measure
from commscope.joined.result import Joined
from commscope.units import size, span

_SHOWN = 3
#: Shares of the median step from which on a finding is of high, medium and low severity.
HIGH, MEDIUM, LOW = 0.10, 0.05, 0.02


@dataclass(frozen=True, slots=True)
class Beside:
    """What else is known of the job: its logs, joined and by themselves; counters of kernels."""

    joined: Joined | None = None
    findings: tuple[Finding, ...] = ()
    counters: Mapping[str, KernelCounters] = field(default_factory=dict)


@dataclass(slots=True)
class Case:
    """An analysis with what of it can be judged, and what of that nothing claims yet.

    Arrays of windows have an entry a step and rank with activity: those of ``Analysis.windows``.
    """

    analysis: Analysis
    trust: Trust
    usable: Bool  #: gaps that rules may judge
    counts: Bool  #: windows that count: closed steps, or all where there are none
    step: Int64  #: the number of the step of each window
    joined: Joined | None = None  #: with the logs of the job, where there are any
    log_findings: tuple[Finding, ...] = ()  #: what the logs show by themselves
    counters: Mapping[str, KernelCounters] = field(default_factory=dict)  #: of kernels by name
    left_ns: Int64 = field(init=False)  #: of each gap, what no finding claims; 0 if not usable
    idle_left_ns: Int64 = field(init=False)  #: of each window that counts, likewise

    def __post_init__(self) -> None:
        self.left_ns = np.where(self.usable, self.gaps.length, 0)
        idle = self.inside(self.analysis.timeline.idle)
        self.idle_left_ns = np.where(self.counts, idle, 0)

    @classmethod
    def of(cls, analysis: Analysis, trust: Trust, beside: Beside | None = None) -> Case:
        """The case of an analysis: without what trust withholds."""
        steps = analysis.active_steps
        is_open = np.asarray(steps.column("open").to_numpy(zero_copy_only=False), np.bool_)
        hidden = is_withheld(steps, trust, Metric.OVERLAP)
        counts = (~is_open if (~is_open).any() else np.ones(len(is_open), np.bool_)) & ~hidden
        usable = at(counts, analysis.gaps.window, missing=False)
        more = Beside() if beside is None else beside
        return cls(
            analysis, trust, usable, counts, int64(steps, "step"),
            more.joined, more.findings, more.counters,
        )  # fmt: skip

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
        inside = self.gaps.window >= 0
        return group_sums(self.gaps.window[inside], of_gap[inside], len(self.step))

    def bound(self, claimed_ns: Int64) -> int:
        """How much shorter the median step would be without so much of each window."""
        steps, place = np.unique(self.step[self.counts], return_inverse=True)
        length = self.length[self.counts]
        now, then = (
            _greatest(place.reshape(-1), left, len(steps))
            for left in (length, length - claimed_ns[self.counts])
        )
        return round(float(np.median(now - then))) if len(steps) else 0

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
        windows, timeline = self.analysis.windows, self.analysis.timeline
        starts, ends = cut(starts, ends, np.unique(np.concatenate(windows.axis(timeline))))
        window = windows.at(timeline, starts)
        places = np.flatnonzero(at(self.counts, window, missing=False))
        longest = places[np.argsort((starts - ends)[places], kind="stable")][:_SHOWN]
        return tuple(self.moment(int(starts[i]), int(ends[i])) for i in longest)

    def moment(self, start: int, end: int) -> Evidence:
        """A time on the axis, by rank, step and the rank's own clock."""
        timeline, begin = self.analysis.timeline, np.array([start])
        rank = int(timeline.rank_at(begin)[0])
        window = int(self.analysis.windows.at(timeline, begin)[0])
        shift = int(timeline.shift_ns[rank])
        step = int(self.step[window]) if window >= 0 else None
        return Evidence(self.ranks[rank], step, start - shift, end - shift)

    def calls(self, column: str) -> Int64:
        """A column of the collective of each gap, as numbers; ``NONE`` where there is none."""
        return at(int64(self.analysis.across.calls, column), self.gaps.call, NONE)

    @property
    def communicator(self) -> Int64:
        """The communicator of the collective of each gap; -1 where there is none."""
        return at(int64(self.analysis.across.calls, "communicator"), self.gaps.call, -1)

    @property
    def instance(self) -> Int64:
        """The instance of the collective of each gap; -1 where it is not matched."""
        return at(self.analysis.across.matching.instance, self.gaps.call, -1)

    def op_is(self, *words: str) -> Bool:
        """Gaps whose collective is one of these operations."""
        is_wanted = where_word(self.analysis.across.calls, "op", words.__contains__)
        return at(is_wanted, self.gaps.call, missing=False)

    def role_is(self, *words: str | None) -> Bool:
        """Gaps whose communicator has one of these roles."""
        return self.analysis.across.has_role(self.communicator, *words)

    def main_collective(self, rows: Bool) -> str:
        """The operation, size and communicator of most of these gaps; empty if not known."""
        if not rows.any():
            return ""
        calls = self.analysis.across.calls
        op = at(codes(calls, "op")[0], self.gaps.call, -1)
        group, first = group_rows([self.communicator[rows], self.calls("bytes")[rows], op[rows]])
        heaviest = int(np.bincount(group, self.gaps.length[rows]).argmax())
        call = int(self.gaps.call[rows][first[heaviest]])
        if call < 0:
            return ""
        row = calls.slice(call, 1).to_pylist()[0]
        of = "" if row["bytes"] is None else f" of {size(row['bytes'])}"
        label = self.analysis.across.labels[row["communicator"]]
        return f"{row['op'] or 'a collective'}{of} in {label}"

    def severity(self, bound_ns: int) -> Grade | None:
        """By the bound's share of the median step; null for what is no finding."""
        share = bound_ns / self.step_ns if self.step_ns else 0.0
        grades: Sequence[tuple[float, Grade]] = ((HIGH, "high"), (MEDIUM, "medium"), (LOW, "low"))
        return next((grade for least, grade in grades if share >= least), None)


def _greatest(group: Int64, values: Int64, count: int) -> Int64:
    """The greatest value of each group."""
    found = np.full(count, NONE)
    np.maximum.at(found, group, values)
    return found
