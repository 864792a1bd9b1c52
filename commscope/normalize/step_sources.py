"""Where the steps of a rank come from: annotation, marker, inferred period, or the whole trace."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import ActivityClass
from commscope.columns import NONE, Int64, codes, int64
from commscope.intervals import union
from commscope.normalize.period import busy_until, find_period
from commscope.normalize.steps import WHOLE_TRACE, HostSteps
from commscope.schema import Flag

Classes = npt.NDArray[np.uint8]

_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_DIGITS = re.compile(r"\d+")
#: A repeated annotation counts as the step only if it holds this share of all launches.
_MARKER_COVERAGE = 0.95
_END = int(np.iinfo(np.int64).max)


def find_host_steps(
    events: pa.Table, host: pa.Table, classes: Classes, marker: re.Pattern[str] | None
) -> HostSteps:
    """The best source of steps that this rank's trace has.

    ``classes`` are the classes of the events; ``marker`` is what the user said begins a step.
    """
    if marker is not None:
        chosen = _from_marker(host, marker)
        if chosen is not None:
            return chosen
    return (
        _from_annotation(host)
        or _from_repetition(host)
        or _from_period(events, classes)
        or _whole_trace()
    )


def _annotations(host: pa.Table) -> tuple[list[str], Int64, Int64]:
    """Names, starts and ends of the host's annotations, in order of start."""
    kinds, kind_words = codes(host, "kind")
    rows = np.flatnonzero(kinds == _code(kind_words, "annotation"))
    starts = int64(host, "start_ns")[rows]
    order = np.argsort(starts, kind="stable")
    rows, starts = rows[order], starts[order]
    names, words = codes(host, "name")
    return [words[c] for c in names[rows]], starts, starts + int64(host, "dur_ns")[rows]


def _code(words: Sequence[str], word: str) -> int:
    return words.index(word) if word in words else -2


def _from_annotation(host: pa.Table) -> HostSteps | None:
    """The profiler's own ProfilerStep#N; of one that several threads repeat, the longest."""
    names, starts, ends = _annotations(host)
    best: dict[int, int] = {}
    for row, name in enumerate(names):
        found = _STEP.match(name)
        if found:
            number = int(found[1])
            kept = best.setdefault(number, row)
            if ends[row] - starts[row] > ends[kept] - starts[kept]:
                best[number] = row
    if not best:
        return None
    numbers = np.array(sorted(best, key=lambda number: starts[best[number]]), np.int64)
    rows = np.array([best[int(number)] for number in numbers])
    begins = starts[rows]
    # A step that overlaps the next one by rounding ends where that begins.
    finishes = np.minimum(ends[rows], np.append(begins[1:], _END))
    follows = np.append(np.diff(numbers) == 1, False)
    return HostSteps(
        numbers, tuple(names[r] for r in rows), begins, finishes, follows,
        "annotation", 1.0, "the profiler's ProfilerStep annotation",
    )  # fmt: skip


def _from_marker(host: pa.Table, marker: re.Pattern[str]) -> HostSteps | None:
    """Each occurrence of what the user named begins a step."""
    names, starts, ends = _annotations(host)
    rows = [row for row, name in enumerate(names) if marker.search(name)]
    if not rows:
        return None
    return _beginning_at(
        [names[r] for r in rows], starts[rows], int(ends.max()), "marker", 1.0,
        f"--step-marker {marker.pattern}",
    )  # fmt: skip


def _from_repetition(host: pa.Table) -> HostSteps | None:
    """A repeated annotation whose repetitions together hold nearly all launches."""
    names, starts, ends = _annotations(host)
    groups: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(names):
        groups[_DIGITS.sub("#", name)].append(row)
    launches = np.sort(_launches(host))
    best: tuple[float, int, str] | None = None
    for pattern, rows in groups.items():
        share = _share_inside(starts[rows], ends[rows], launches)
        if len(rows) > 1 and share >= _MARKER_COVERAGE:
            best = max(best or (share, len(rows), pattern), (share, len(rows), pattern))
    if best is None:
        return None
    rows = groups[best[2]]
    return _beginning_at(
        [names[r] for r in rows], starts[rows], int(ends.max()), "marker", best[0],
        f"the annotation {best[2]}, which holds {best[0]:.1%} of the launches",
    )  # fmt: skip


def _launches(host: pa.Table) -> Int64:
    kinds, words = codes(host, "kind")
    return int64(host, "start_ns")[kinds == _code(words, "launch")]


def _share_inside(starts: Int64, ends: Int64, times: Int64) -> float:
    """Share of the (sorted) times that lie inside any of the intervals."""
    if not len(times):
        return 0.0
    covered = union(starts, ends)
    inside = np.searchsorted(times, covered.ends) - np.searchsorted(times, covered.starts)
    return float(inside.sum() / len(times))


def _beginning_at(
    names: Sequence[str], starts: Int64, end: int, source: str, confidence: float, says: str
) -> HostSteps:
    """Steps that each begin at a time and end where the next begins."""
    order = np.argsort(starts, kind="stable")
    begins = starts[order]
    return HostSteps(
        np.arange(len(begins)), tuple(names[i] for i in order), begins,
        np.append(begins[1:], max(end, int(begins[-1]) + 1)),
        np.append(np.ones(len(begins) - 1, np.bool_), False), source, confidence, says,
    )  # fmt: skip


_PHASES = {
    "gap": "the device falls idle between them",
    "start": "the recording begins with one",
    "end": "only the recording's end tells where they begin",
}


def _from_period(events: pa.Table, classes: Classes) -> HostSteps | None:
    """Steps inferred from the repetition of the activities on the busiest compute stream."""
    counts = np.flatnonzero((np.asarray(events.column("flags").to_numpy()) & Flag.BROKEN) == 0)
    all_starts = int64(events, "start_ns")[counts]
    all_ends = all_starts + int64(events, "dur_ns")[counts]
    rows, times = _in_order(events, _busiest_stream(events, classes, counts))
    names, starts = codes(events, "name")[0][rows], int64(events, "start_ns")[rows]
    period = find_period(names, starts, busy_until(starts, all_starts, all_ends))
    if period is None:
        return None
    return _beginning_at(
        [f"inferred step {i}" for i in range(len(period.firsts))], times[period.firsts],
        int(times[-1]) + 1, "inferred", period.match_share,
        f"inferred: {period.length} activities repeat ({period.match_share:.1%} match), and "
        f"{_PHASES[period.phase]}",
    )  # fmt: skip


def _busiest_stream(events: pa.Table, classes: Classes, rows: Int64) -> Int64:
    """Of these rows, those on the stream that has most compute."""
    stream, duration = int64(events, "stream")[rows], int64(events, "dur_ns")[rows]
    compute = classes[rows] == ActivityClass.COMPUTE
    streams, inverse = np.unique(stream, return_inverse=True)
    if not compute.any():
        return rows[:0]
    busy = np.bincount(inverse.reshape(-1), np.where(compute, duration, 0).astype(np.float64))
    return rows[stream == streams[busy.argmax()]]


def _in_order(events: pa.Table, rows: Int64) -> tuple[Int64, Int64]:
    """Rows in the order of their launches with the times of these; else in order of start.

    A run of activities at the begin whose launches were not recorded belongs to no whole step.
    """
    start, launch = int64(events, "start_ns")[rows], int64(events, "launch_ns")[rows]
    by_start = np.argsort(start, kind="stable")
    known = np.flatnonzero(launch[by_start] != NONE)
    tail = by_start[known[0] :] if len(known) else by_start
    if len(known) and (launch[tail] != NONE).all():
        order = tail[np.argsort(launch[tail], kind="stable")]
        return rows[order], launch[order]
    return rows[by_start], start[by_start]


def _whole_trace() -> HostSteps:
    """No step can be told: the whole trace is one window."""
    nowhere = np.array([NONE])
    return HostSteps(
        np.zeros(1, np.int64), ("whole trace",), nowhere, nowhere, np.zeros(1, np.bool_),
        WHOLE_TRACE, 1.0, "no step could be told: the whole trace is one window",
    )  # fmt: skip
