"""The step to look at first: what its ranks did, at the resolution of a picture."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import group_sums
from commscope.analysis.result import Analysis
from commscope.analysis.timeline import on_axis
from commscope.columns import NONE, Bool, Int64, at, int64, nullable
from commscope.findings.model import Metric, Trust
from commscope.findings.withheld import is_withheld
from commscope.intervals import Intervals, clip, difference
from commscope.report.model import ReportTable, WaitedFor, WorstStep
from commscope.units import span
from commscope.wording import counted

#: A picture is so many points wide: nearer things are drawn as one.
_POINTS = 480
_MOST_RANKS = 16
LANES = ("compute", "communication", "exposed")
_LANE = pa.schema(
    [
        ("rank", pa.int64()),
        ("lane", pa.string()),
        ("start_ns", pa.int64()),
        ("dur_ns", pa.int64()),
        ("covered_ns", pa.int64()),
    ]
)


def worst_step(analysis: Analysis, steps: pa.Table, trust: Trust, origin: int) -> WorstStep | None:
    """The closed step with the most exposed communication on any rank, see ``WorstStep``.

    ``steps`` is the table of the report, so without what is withheld. Null where no rank is known
    to have exposed any.
    """
    row = _worst_row(steps)
    return None if row is None else _Picture(analysis, steps, trust, origin, row).drawn()


def _worst_row(steps: pa.Table) -> int | None:
    """The row with most; the first of several. Open steps count where there are no others."""
    exposed = int64(steps, "exposed_comm_ns")
    known = np.flatnonzero(exposed > 0)
    closed = known[_closed(steps)[known]]
    rows = closed if len(closed) else known
    if not len(rows):
        return None
    order = np.lexsort((int64(steps, "rank")[rows], int64(steps, "step")[rows], -exposed[rows]))
    return int(rows[order[0]])


def _closed(steps: pa.Table) -> Bool:
    return ~np.asarray(steps.column("open").to_numpy(zero_copy_only=False), np.bool_)


class _Picture:
    """One step of the ranks whose clocks can be compared with that of the worst one."""

    def __init__(
        self, analysis: Analysis, steps: pa.Table, trust: Trust, origin: int, row: int
    ) -> None:
        self._analysis, self._trust, self._origin = analysis, trust, origin
        self._line, self._clocks = analysis.timeline, analysis.across.matching.clocks
        self._step = int(int64(steps, "step")[row])
        self._exposed = int64(steps, "exposed_comm_ns")
        self._rank = self._line.index_of(int64(steps, "rank"))
        self._start, self._end = (int64(analysis.steps, name) for name in ("start_ns", "end_ns"))
        self._row = row
        of_step = (int64(steps, "step") == self._step) & (self._start != NONE)
        self._of_step = np.flatnonzero(of_step)
        self._is_closed = bool(_closed(steps)[row])

    def drawn(self) -> WorstStep:
        instance = self._most_waited_for()
        rows = self._rows(instance)
        start, end = self._common(rows, self._start), self._common(rows, self._end)
        first, last = int(start.min()), int(end.max())
        resolution = max((last - first) // _POINTS, 1)
        return WorstStep(
            step=None if self._is_whole_trace else self._step,
            rank=int(self._line.ranks[self._rank[self._row]]),
            exposed_comm_ns=int(self._exposed[self._row]),
            start_ns=first,
            end_ns=last,
            resolution_ns=resolution,
            says=self._says(),
            ranks=ReportTable(self._ranks(rows, start, end)),
            lanes=ReportTable(self._lanes(rows, resolution)),
            waited_for=None if instance is None else self._waited_for(instance),
            notes=tuple(self._notes(rows)),
        )

    @property
    def _is_whole_trace(self) -> bool:
        return self._analysis.trace.step_source.kind == "whole_trace"

    def _says(self) -> str:
        rank = self._line.ranks[self._rank[self._row]]
        most = f"{span(self._exposed[self._row])} on rank {rank}"
        if self._is_whole_trace:
            return f"no steps are known: the whole trace, with most exposed communication ({most})"
        kind = "closed " if self._is_closed else ""
        return f"of all {kind}steps, step {self._step} has the most exposed communication: {most}"

    def _rows(self, instance: int | None) -> Int64:
        """Rows of the ranks to draw, by rank: the worst, the last to arrive, the most exposed."""
        here = self._of_step
        here = here[self._clocks.part[self._rank[here]] == self._clocks.part[self._rank[self._row]]]
        last = -1 if instance is None else self._analysis.across.matching.straggler[instance]
        order = np.lexsort((
            self._rank[here], -self._exposed[here], self._rank[here] != last, here != self._row
        ))  # fmt: skip
        chosen: Int64 = here[order[:_MOST_RANKS]]
        return np.asarray(chosen[np.argsort(self._rank[chosen])])

    def _notes(self, rows: Int64) -> Iterator[str]:
        part = self._clocks.part[self._rank[self._of_step]]
        apart = int((part != self._clocks.part[self._rank[self._row]]).sum())
        if apart:
            yield f"{counted(apart, 'rank has', 'ranks have')} no clock in common with these"
        more = len(self._of_step) - apart - len(rows)
        if more:
            yield f"{counted(more, 'rank')} with less exposed communication not drawn"

    def _common(self, rows: Int64, times: Int64) -> Int64:
        """Times of these rows since the origin, on the common clock."""
        return self._clocks.aligned(self._rank[rows], times[rows]) - self._origin

    def _ranks(self, rows: Int64, start: Int64, end: Int64) -> pa.Table:
        steps = self._analysis.steps
        return pa.table(
            {
                "rank": self._line.ranks[self._rank[rows]],
                "start_ns": start,
                "end_ns": end,
                "compute_ns": int64(steps, "compute_ns")[rows],
                "communication_ns": int64(steps, "communication_ns")[rows],
                "exposed_comm_ns": nullable(self._exposed[rows]),
            }
        )

    def _lanes(self, rows: Int64, resolution: int) -> pa.Table:
        return pa.concat_tables([self._of_rank(row, resolution) for row in rows.tolist()])

    def _of_rank(self, row: int, resolution: int) -> pa.Table:
        """The lanes of one rank; nothing of it is told exposed where that is withheld."""
        rank = int(self._rank[row])
        window = (int(t[row] + self._line.shift_ns[rank]) for t in (self._start, self._end))
        begin, end = window
        compute, communication = (
            clip(of, begin, end) for of in (self._line.compute, self._line.communication)
        )
        known = self._exposed[row] != NONE
        exposed = difference(communication, compute)
        lanes = (compute, communication, *([exposed] if known else []))
        return pa.concat_tables(
            [self._lane(rank, name, of, resolution) for name, of in zip(LANES, lanes)]
        )

    def _lane(self, rank: int, name: str, of: Intervals, resolution: int) -> pa.Table:
        pieces, covered = _merged(of, resolution)
        start = pieces.starts - self._line.shift_ns[rank]
        common = self._clocks.aligned(np.full(len(start), rank), start) - self._origin
        number = np.full(len(start), self._line.ranks[rank])
        columns = [number, [name] * len(start), common, pieces.ends - pieces.starts, covered]
        return pa.table(columns, schema=_LANE)

    def _most_waited_for(self) -> int | None:
        """The instance whose members waited longest in the step with nothing else to do."""
        matching, calls = self._analysis.across.matching, self._analysis.across.calls
        rows = np.flatnonzero((matching.instance >= 0) & self._in_step())
        waited = np.maximum(int64(calls, "exposed_wait_ns")[rows], 0)
        sums = group_sums(matching.instance[rows], waited, len(matching.first_row))
        return int(sums.argmax()) if sums.any() else None

    def _in_step(self) -> Bool:
        """Which collectives began in the step, on a rank whose overlap is known."""
        calls = self._analysis.across.calls
        known = ~is_withheld(calls, self._trust, Metric.OVERLAP)
        _, start, _ = on_axis(self._line, calls)
        window = self._analysis.windows.at(self._line, start)
        step = at(int64(self._analysis.active_steps, "step"), window, NONE)
        return np.asarray(known & (step == self._step))

    def _waited_for(self, instance: int) -> WaitedFor:
        matching, calls = self._analysis.across.matching, self._analysis.across.calls
        rows = np.flatnonzero(matching.instance == instance)
        rank = self._line.index_of(int64(calls, "rank")[rows])
        order = np.argsort(rank)
        rows, rank = rows[order], rank[order]
        skew = int(matching.skew_ns[instance])
        told = skew > int(self._clocks.error_ns[rank].max())
        first = calls.slice(int(rows[0]), 1).to_pylist()[0]
        arrivals = {
            "rank": self._line.ranks[rank],
            "start_ns": matching.arrival_ns[rows] - self._origin,
            "end_ns": matching.finish_ns[rows] - self._origin,
            "wait_ns": matching.wait_ns[rows],
        }
        return WaitedFor(
            communicator=self._analysis.across.labels[first["communicator"]],
            op=first["op"],
            bytes=first["bytes"],
            straggler=int(self._line.ranks[matching.straggler[instance]]) if told else None,
            last_arrival_ns=int(matching.last_arrival_ns[instance]) - self._origin,
            skew_ns=skew,
            arrivals=ReportTable(pa.table(arrivals)),
        )


def _merged(of: Intervals, resolution: int) -> tuple[Intervals, Int64]:
    """Intervals nearer to each other than this as one, and how much of each was covered."""
    if not len(of):
        return of, np.empty(0, np.int64)
    first = np.flatnonzero(np.append(True, of.starts[1:] - of.ends[:-1] >= resolution))
    last = np.append(first[1:], len(of)) - 1
    covered = np.add.reduceat(of.ends - of.starts, first)
    return Intervals(of.starts[first], of.ends[last]), covered
