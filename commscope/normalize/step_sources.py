"""Where the steps of a rank come from: annotation, marker, inferred period, or the whole trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import ActivityClass
from commscope.columns import NONE, Int64, codes, flagged, int64, where_equal
from commscope.errors import UsageError
from commscope.intervals import union
from commscope.normalize.period import busy_until, find_period
from commscope.normalize.steps import WHOLE_TRACE, HostSteps
from commscope.schema import Flag
from commscope.trace import StepSource

Classes = npt.NDArray[np.uint8]

_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_DIGITS = re.compile(r"\d+")
#: A repeated annotation counts as the step only if it holds this share of all launches.
_MARKER_COVERAGE = 0.95
#: Annotations that overlap by no more than this follow each other: their ends are rounded.
_ROUNDING_NS = 1_000
_END = int(np.iinfo(np.int64).max)
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Annotations:
    """Annotations of the host in order of start; ``words[name[i]]`` is the name of row i."""

    name: Int64
    words: list[str]
    starts: Int64
    ends: Int64

    def take(self, rows: Int64) -> _Annotations:
        return _Annotations(self.name[rows], self.words, self.starts[rows], self.ends[rows])

    def names(self) -> tuple[str, ...]:
        return tuple(self.words[code] for code in self.name.tolist())


def find_host_steps(
    events: pa.Table, host: pa.Table, classes: Classes, marker: re.Pattern[str] | None
) -> HostSteps:
    """The best source of steps that this rank's trace has.

    ``classes`` are the classes of the events; ``marker`` is what the user said begins a step.
    Annotations are intervals of the host: without a single launch they say nothing of the device.
    """
    linked = events.column("launch_ns").null_count < events.num_rows
    return (
        (_from_marker(host, marker) if marker is not None and linked else None)
        or (_from_annotation(host) if linked else None)
        or (_from_repetition(host) if linked else None)
        or _from_period(events, classes)
        or _whole_trace()
    )


def require_marker(hosts: Iterable[pa.Table], marker: re.Pattern[str]) -> None:
    """Raises UsageError where no rank has an annotation that the user's marker fits."""
    names = [name for host in hosts for name in set(_annotations(host).names())]
    if any(marker.search(name) for name in names):
        return
    kinds = sorted({_DIGITS.sub("#", name) for name in names})
    more = ", ..." if len(kinds) > _SHOWN else ""
    there = f"there are {', '.join(kinds[:_SHOWN])}{more}" if kinds else "there are none at all"
    raise UsageError(f"--step-marker {marker.pattern}: no annotation of the trace fits; {there}")


def _annotations(host: pa.Table) -> _Annotations:
    rows = np.flatnonzero(where_equal(host, "kind", "annotation"))
    starts, (names, words) = int64(host, "start_ns"), codes(host, "name")
    rows = rows[np.argsort(starts[rows], kind="stable")]
    return _Annotations(
        names[rows], words, starts[rows], starts[rows] + int64(host, "dur_ns")[rows]
    )


def _from_annotation(host: pa.Table) -> HostSteps | None:
    """The profiler's own ProfilerStep#N; of one that several threads repeat, the longest."""
    found = _annotations(host)
    number_of = [int(m[1]) if (m := _STEP.match(word)) else -1 for word in found.words]
    numbers = np.array([*number_of, -1], np.int64)[found.name]
    rows = np.flatnonzero(numbers >= 0)
    if not len(rows):
        return None
    longest_first = rows[np.argsort((found.starts - found.ends)[rows], kind="stable")]
    chosen = np.sort(longest_first[np.unique(numbers[longest_first], return_index=True)[1]])
    steps, numbers = found.take(chosen), numbers[chosen]
    # A step that overlaps the next one by rounding ends where that begins.
    ends = np.minimum(steps.ends, np.append(steps.starts[1:], _END))
    follows = np.append(np.diff(numbers) == 1, False)
    source = StepSource("annotation", 1.0, "the profiler's ProfilerStep annotation")
    return HostSteps(numbers, steps.names(), steps.starts, ends, follows, source)


def _from_marker(host: pa.Table, marker: re.Pattern[str]) -> HostSteps | None:
    """Each occurrence of what the user named begins a step; the last lasts to the end."""
    found = _annotations(host)
    fits = np.array([bool(marker.search(word)) for word in found.words] + [False])
    steps = _outermost(found, np.flatnonzero(fits[found.name]))
    if not len(steps.starts):
        return None
    end = int((int64(host, "start_ns") + int64(host, "dur_ns")).max())
    source = StepSource("marker", 1.0, f"--step-marker {marker.pattern}")
    return _beginning_at(steps.names(), steps.starts, end, source)


def _from_repetition(host: pa.Table) -> HostSteps | None:
    """A repeated annotation whose repetitions together hold nearly all launches."""
    found = _annotations(host)
    patterns, kind_of = np.unique(
        np.array([_DIGITS.sub("#", word) for word in found.words] or [""]), return_inverse=True
    )
    kinds = kind_of.reshape(-1)[found.name]
    launches = np.sort(_launches(host))
    best: tuple[float, int, str] | None = None
    for kind in np.flatnonzero(np.bincount(kinds, minlength=len(patterns)) > 1):
        steps = _outermost(found, np.flatnonzero(kinds == kind))
        share, count = _share_inside(steps, launches), len(steps.starts)
        if count > 1 and share >= _MARKER_COVERAGE:
            best = max(best or (0.0, 0, ""), (share, count, str(patterns[kind])))
    if best is None:
        return None
    share, _, name = best
    steps = _outermost(found, np.flatnonzero(patterns[kinds] == name))
    says = f"the annotation {name}, which holds {share:.1%} of the launches"
    source = StepSource("marker", share, says)
    return _beginning_at(steps.names(), steps.starts, int(steps.ends[-1]), source)


def _outermost(found: _Annotations, rows: Int64) -> _Annotations:
    """Some of the annotations, without those that begin inside an earlier one of them.

    Those are parts of a step that its name fits too, or another thread's record of it.
    """
    chosen = found.take(rows)
    rounding = np.minimum((chosen.ends - chosen.starts) // 2, _ROUNDING_NS)
    reach = np.maximum.accumulate(chosen.ends - rounding)
    first = np.append(True, chosen.starts[1:] >= reach[:-1])[: len(rows)]
    return chosen.take(np.flatnonzero(first))


def _launches(host: pa.Table) -> Int64:
    return np.asarray(int64(host, "start_ns")[where_equal(host, "kind", "launch")])


def _share_inside(steps: _Annotations, times: Int64) -> float:
    """Share of the (sorted) times that lie inside any of the annotations."""
    if not len(times):
        return 0.0
    covered = union(steps.starts, steps.ends)
    inside = np.searchsorted(times, covered.ends) - np.searchsorted(times, covered.starts)
    return float(inside.sum() / len(times))


def _beginning_at(
    names: Sequence[str], begins: Int64, end: int, source: StepSource, *, on_device: bool = False
) -> HostSteps:
    """Steps that each begin at a time and end where the next begins."""
    ends = np.append(begins[1:], max(end, int(begins[-1]) + 1))
    follows = np.append(np.ones(len(begins) - 1, np.bool_), False)
    numbers = np.arange(len(begins))
    return HostSteps(numbers, tuple(names), begins, ends, follows, source, on_device)


_PHASES = {
    "gap": "the device falls idle between them",
    "start": "the recording begins with one",
    "end": "only the recording's end tells where they begin",
}


def _from_period(events: pa.Table, classes: Classes) -> HostSteps | None:
    """Steps inferred from the repetition of the activities on the busiest compute stream."""
    counts = np.flatnonzero(~flagged(events, Flag.BROKEN))
    start, launch = int64(events, "start_ns"), int64(events, "launch_ns")
    stream = _busiest_stream(events, classes, counts)
    launched = _launched(start, launch, stream)
    rows = stream[np.argsort(start[stream], kind="stable")] if launched is None else launched
    ends = start[counts] + int64(events, "dur_ns")[counts]
    busy = busy_until(start[rows], start[counts], ends)
    period = find_period(codes(events, "name")[0][rows], start[rows], busy)
    if period is None:
        return None
    times = start if launched is None else launch
    names = [f"inferred step {i}" for i in range(len(period.firsts))]
    says = (
        f"inferred: {period.length} activities repeat ({period.match_share:.1%} match), and "
        f"{_PHASES[period.phase]}"
    )
    return _beginning_at(
        names, times[rows][period.firsts], int(times[counts].max()) + 1,
        StepSource("inferred", period.match_share, says), on_device=launched is None,
    )  # fmt: skip


def _busiest_stream(events: pa.Table, classes: Classes, rows: Int64) -> Int64:
    """Of these rows, those on the stream that has most compute."""
    stream, duration = int64(events, "stream")[rows], int64(events, "dur_ns")[rows]
    compute = classes[rows] == ActivityClass.COMPUTE
    streams, inverse = np.unique(stream, return_inverse=True)
    if not compute.any():
        return rows[:0]
    busy = np.zeros(len(streams), np.int64)
    np.add.at(busy, inverse.reshape(-1), np.where(compute, duration, 0))
    return np.asarray(rows[stream == streams[busy.argmax()]])


def _launched(start: Int64, launch: Int64, rows: Int64) -> Int64 | None:
    """These rows in the order of their launches, or null where not all launches are known.

    A run of activities at the begin whose launches were not recorded belongs to no whole step, and
    is left out.
    """
    order = rows[np.argsort(start[rows], kind="stable")]
    known = np.flatnonzero(launch[order] != NONE)
    tail = order[known[0] :] if len(known) else order[:0]
    if not len(tail) or (launch[tail] == NONE).any():
        return None
    return np.asarray(tail[np.argsort(launch[tail], kind="stable")])


def _whole_trace() -> HostSteps:
    """No step can be told: the whole trace is one window."""
    nowhere = np.array([NONE])
    says = "no step could be told: the whole trace is one window"
    return HostSteps(
        np.zeros(1, np.int64), ("whole trace",), nowhere, nowhere, np.zeros(1, np.bool_),
        StepSource(WHOLE_TRACE, 1.0, says),
    )  # fmt: skip
