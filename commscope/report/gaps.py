"""Overlap gaps for people: each with its cause and what shows it, and their sums."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.analysis.causes import CAUSES, MISSING
from commscope.analysis.gaps import PARTS
from commscope.analysis.groups import group_rows
from commscope.analysis.host import ACTIONS, HostCalls
from commscope.analysis.result import Analysis
from commscope.analysis.waiting import on_axis
from commscope.columns import NONE, Bool, Int64, int64, nullable
from commscope.findings.model import OUTSIDE, Metric, Trust
from commscope.findings.withheld import is_withheld
from commscope.intervals import measure

#: A host action is named if it fills at least this share of the time.
_FILLS = 0.5


def gap_table(analysis: Analysis, trust: Trust, origin: int) -> pa.Table:
    """One row a gap, longest first; those that trust withholds are left out."""
    gaps, causes = analysis.gaps, analysis.causes
    ranks, step = _ranks(analysis), _steps(analysis)
    start = gaps.start - analysis.timeline.shift_ns[gaps.rank] - origin
    after = gaps.exposures.after[gaps.exposure]
    table = pa.table(
        {
            "rank": ranks,
            "step": nullable(step),
            "start_ns": start,
            "dur_ns": gaps.length,
            "part": _words(PARTS, gaps.part),
            "cause": _words(CAUSES, causes.cause),
            "missing": _words([word or None for word in MISSING], causes.missing),
            "communicator": _labels(analysis),
            "op": _of_call(analysis, "op"),
            "bytes": _of_call(analysis, "bytes"),
            "running": _running(analysis),
            "straggler": nullable(_straggler(analysis)),
            "same_stream": causes.same_stream,
            "before": _names(analysis, gaps.exposures.before[gaps.exposure]),
            "after": _names(analysis, after),
            "after_launch_ns": nullable(_launched(analysis)),
            "host": _host(analysis),
            "may_be_waiting": ~analysis.across.waiting.has_matches[gaps.rank],
        }
    )
    shown = table.filter(pa.array(_shown(analysis, trust)))
    order = [("dur_ns", "descending"), ("rank", "ascending"), ("start_ns", "ascending")]
    return shown.sort_by(order)


def gap_sums(analysis: Analysis, trust: Trust) -> pa.Table:
    """One row a rank, step and cause: number of gaps and their sum, which is exact."""
    rows = np.flatnonzero(_shown(analysis, trust))
    ranks, step = _ranks(analysis)[rows], _steps(analysis)[rows]
    cause, length = analysis.causes.cause[rows], analysis.gaps.length[rows]
    group, first = group_rows([ranks, step, cause])
    total = np.zeros(len(first), np.int64)
    np.add.at(total, group, length)
    return pa.table(
        {
            "rank": ranks[first],
            "step": nullable(step[first]),
            "cause": _words(CAUSES, cause[first]),
            "gaps": np.bincount(group, minlength=len(first)),
            "total_ns": total,
        }
    )


def _shown(analysis: Analysis, trust: Trust) -> Bool:
    """Gaps of chosen steps whose rank's overlap is not withheld there."""
    step = _steps(analysis)
    where = pa.table({"rank": _ranks(analysis), "step": pa.array(step)})
    hidden = is_withheld(where, trust, Metric.OVERLAP)
    chosen = (step != OUTSIDE) | (analysis.trace.selection is None)
    return np.asarray(~hidden & chosen)


def _ranks(analysis: Analysis) -> Int64:
    return np.asarray(analysis.timeline.ranks[analysis.gaps.rank])


def _steps(analysis: Analysis) -> Int64:
    """The number of each gap's step; ``NONE`` outside of steps."""
    active = analysis.steps.column("start_ns").is_valid()
    number = int64(analysis.steps.filter(active), "step")
    return np.asarray(np.append(number, NONE)[analysis.gaps.step])


def _words(words: tuple[str, ...] | list[str | None], place: Int64) -> pa.Array:
    return pa.array(list(words), pa.string()).take(pa.array(place))


def _of_call(analysis: Analysis, column: str) -> pa.Array:
    call = analysis.gaps.call
    values = analysis.across.calls.column(column).take(pa.array(call, mask=call < 0))
    return values.cast(pa.string()) if column == "op" else values


def _labels(analysis: Analysis) -> pa.Array:
    labels = pa.array(analysis.across.labels, pa.string())
    return labels.take(_of_call(analysis, "communicator").combine_chunks())


def _names(analysis: Analysis, activity: Int64) -> pa.Array:
    row = np.append(analysis.timeline.activities.row, -1)[activity]
    names = analysis.trace.events.column("name").take(pa.array(row, mask=row < 0))
    return names.cast(pa.string())


def _running(analysis: Analysis) -> Int64:
    """How many collectives run on the rank as each gap begins."""
    _, start, end = on_axis(analysis.timeline, analysis.across.calls)
    at = analysis.gaps.start
    begun = np.searchsorted(np.sort(start), at, side="right")
    return np.asarray(begun - np.searchsorted(np.sort(end), at, side="right"))


def _straggler(analysis: Analysis) -> Int64:
    """The rank that each wait is for."""
    matching = analysis.across.matching
    instance = np.append(matching.instance, -1)[analysis.gaps.call]
    waits = (analysis.gaps.part == PARTS.index("wait")) & (instance >= 0)
    last = np.append(matching.straggler, 0)[instance]
    return np.where(waits, analysis.timeline.ranks[last], NONE)


def _launched(analysis: Analysis) -> Int64:
    """When the next activity was launched, since the exposure began; negative: before."""
    launch = analysis.causes.next_launch
    begin = analysis.gaps.exposures.start[analysis.gaps.exposure]
    return np.where(launch == NONE, NONE, launch - begin)


def _host(analysis: Analysis) -> pa.Array:
    """What kept the host: the call that blocked it, or what it did until it launched."""
    causes, host = analysis.causes, analysis.host
    names = pa.array([*host.names, None], pa.string())
    calls = names.take(pa.array(np.where(causes.call_name >= 0, causes.call_name, len(host.names))))
    late = causes.cause == CAUSES.index("host_late")
    doing = _doing(analysis, host)
    actions = pa.array([*ACTIONS, None], pa.string()).take(pa.array(doing))
    return pc.if_else(pa.array(late), actions, calls)


def _doing(analysis: Analysis, host: HostCalls) -> Int64:
    """What each host did from the begin of the exposure to the launch; the last place for none."""
    begin = analysis.gaps.exposures.start[analysis.gaps.exposure]
    end = np.maximum(analysis.causes.next_launch, begin)
    found = np.full(len(begin), len(ACTIONS))
    for number, action in reversed(list(enumerate(ACTIONS))):
        spent = measure(host.doing[action], begin, end)
        found[spent > _FILLS * np.maximum(end - begin, 1)] = number
    return found
