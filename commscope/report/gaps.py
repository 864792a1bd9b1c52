"""Overlap gaps for people: each with its cause and what shows it, and their sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.analysis.causes import CAUSES, HOST_LATE, MISSING
from commscope.analysis.gaps import PARTS, WAIT
from commscope.analysis.groups import group_rows, group_sums
from commscope.analysis.host import ACTIONS, main_action
from commscope.analysis.result import Analysis
from commscope.analysis.timeline import on_axis
from commscope.columns import NONE, Bool, Int64, at, int64, nullable
from commscope.findings.model import OUTSIDE, Metric, Trust
from commscope.findings.withheld import is_withheld


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
    shown = table.filter(pa.array(shown_gaps(analysis, trust)))
    order = [("dur_ns", "descending"), ("rank", "ascending"), ("start_ns", "ascending")]
    return shown.sort_by(order)


def gap_sums(analysis: Analysis, trust: Trust) -> pa.Table:
    """One row a rank, step and cause: number of gaps and their sum, which is exact."""
    rows = np.flatnonzero(shown_gaps(analysis, trust))
    ranks, step = _ranks(analysis)[rows], _steps(analysis)[rows]
    cause, length = analysis.causes.cause[rows], analysis.gaps.length[rows]
    group, first = group_rows([ranks, step, cause])
    return pa.table(
        {
            "rank": ranks[first],
            "step": nullable(step[first]),
            "cause": _words(CAUSES, cause[first]),
            "gaps": np.bincount(group, minlength=len(first)),
            "total_ns": group_sums(group, length, len(first)),
        }
    )


def shown_gaps(analysis: Analysis, trust: Trust) -> Bool:
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
    return at(int64(analysis.active_steps, "step"), analysis.gaps.window, NONE)


def _words(words: Sequence[str | None], place: Int64) -> pa.Array:
    """The words at these places; null for -1."""
    places = pa.array(place.astype(np.int32), mask=place < 0)
    return pa.DictionaryArray.from_arrays(places, pa.array(words, pa.string()))


def _of_call(analysis: Analysis, column: str) -> pa.Array:
    call = analysis.gaps.call
    values = analysis.across.calls.column(column).take(pa.array(call, mask=call < 0))
    return values.cast(pa.string()) if column == "op" else values


def _labels(analysis: Analysis) -> pa.Array:
    labels = pa.array(analysis.across.labels, pa.string())
    return labels.take(_of_call(analysis, "communicator").combine_chunks())


def _names(analysis: Analysis, activity: Int64) -> pa.Array:
    row = at(analysis.timeline.activities.row, activity, -1)
    return analysis.trace.events.column("name").take(pa.array(row, mask=row < 0))


def _running(analysis: Analysis) -> Int64:
    """How many collectives run on the rank as each gap begins."""
    _, start, end = on_axis(analysis.timeline, analysis.across.calls)
    at = analysis.gaps.start
    begun = np.searchsorted(np.sort(start), at, side="right")
    return np.asarray(begun - np.searchsorted(np.sort(end), at, side="right"))


def _straggler(analysis: Analysis) -> Int64:
    """The rank that each wait is for."""
    matching = analysis.across.matching
    instance = at(matching.instance, analysis.gaps.call, -1)
    waits = (analysis.gaps.part == WAIT) & (instance >= 0)
    last = at(matching.straggler, instance, 0)
    return np.where(waits, analysis.timeline.ranks[last], NONE)


def _launched(analysis: Analysis) -> Int64:
    """When the next activity was launched, since the exposure began; negative: before."""
    launch = analysis.causes.next_launch
    return np.where(launch == NONE, NONE, launch - analysis.gaps.exposed_since)


def _host(analysis: Analysis) -> pa.Array:
    """What kept the host: the call that blocked it, or what it did until it launched."""
    causes, host = analysis.causes, analysis.host
    begin, end = causes.until_launch(analysis.gaps)
    actions = _words(ACTIONS, main_action(host.doing, begin, end, end - begin))
    is_late = pa.array(causes.cause == HOST_LATE)
    return pc.if_else(is_late, actions, _words(host.names, causes.call_name))
