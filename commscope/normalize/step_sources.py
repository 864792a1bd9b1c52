"""Where the steps of a rank come from: annotation, marker, inferred period, or the whole trace."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import ActivityClass, Expression
from commscope.columns import NONE, Int64, codes, flagged, int64
from commscope.errors import UsageError
from commscope.normalize.annotations import (
    Annotations,
    annotations_of,
    beginning_at,
    launches_of,
    share_inside,
    without_digits,
)
from commscope.normalize.known_steps import MICRO, between_optimizers, by_known_name
from commscope.normalize.period import busy_until, find_period
from commscope.normalize.steps import WHOLE_TRACE, HostSteps
from commscope.schema import Flag
from commscope.trace import StepSource

Classes = npt.NDArray[np.uint8]

#: PyTorch's profiler marks steps so, and jobs of ``commscope generate`` under other profilers.
_STEP = re.compile(r"(?:ProfilerStep|(csg\.step))#(\d{1,18})")
_OF_PROFILER = "the profiler's ProfilerStep annotation"
#: A repeated annotation counts as the step only if it holds this share of all launches.
_MARKER_COVERAGE = 0.95
#: Of several that do, one that is called a step or an iteration is it.
_CALLED_STEP = re.compile(
    r"^(?:train|training)?[_ ]?(?:step|iter|iteration)(?![a-z])", re.IGNORECASE
)
_END = int(np.iinfo(np.int64).max)
_SHOWN = 5


def find_host_steps(
    events: pa.Table, host: pa.Table, classes: Classes, marker: Expression | None
) -> HostSteps:
    """The best source of steps that this rank's trace has.

    ``classes`` are the classes of the events; ``marker`` is what the user said begins a step.
    Annotations are intervals of the host: without a single launch they say nothing of the device.
    """
    linked = events.column("launch_ns").null_count < events.num_rows
    return (
        (_from_marker(host, marker) if marker is not None and linked else None)
        or (_from_annotation(host) if linked else None)
        or (_marked(host) if linked else None)
        or _from_period(events, classes)
        or _whole_trace()
    )


def require_marker(hosts: Iterable[pa.Table], marker: Expression) -> None:
    """Raises UsageError where no rank has an annotation that the user's marker fits."""
    names = [name for host in hosts for name in set(annotations_of(host).names())]
    if any(marker.search(name) for name in names):
        return
    kinds = sorted({without_digits(name) for name in names})
    more = ", ..." if len(kinds) > _SHOWN else ""
    there = f"there are {', '.join(kinds[:_SHOWN])}{more}" if kinds else "there are none at all"
    raise UsageError(f"--step-marker {marker.pattern}: no annotation of the trace fits; {there}")


def _from_annotation(host: pa.Table) -> HostSteps | None:
    """The profiler's own ProfilerStep#N; of one that several threads repeat, the longest."""
    found = annotations_of(host)
    matches = [_STEP.match(word) for word in found.words]
    number_of = [int(match[2]) if match else -1 for match in matches]
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
    is_generated = any(match and match[1] for match in matches)
    says = "the generator's csg.step marker" if is_generated else _OF_PROFILER
    source = StepSource("annotation", 1.0, says)
    return HostSteps(numbers, steps.names(), steps.starts, ends, follows, source)


def _from_marker(host: pa.Table, marker: Expression) -> HostSteps | None:
    """Each occurrence of what the user named begins a step; the last lasts to the end."""
    steps = annotations_of(host).fitting(marker)
    if not len(steps.starts):
        return None
    end = int((int64(host, "start_ns") + int64(host, "dur_ns")).max())
    source = StepSource("marker", 1.0, f"--step-marker {marker.pattern}")
    return beginning_at(steps.names(), steps.starts, end, source)


def _marked(host: pa.Table) -> HostSteps | None:
    """Steps by annotations: known ones, one that repeats, or those of the optimizers."""
    found, launches = annotations_of(host), launches_of(host)
    if not len(launches):
        return None
    by_optimizers = between_optimizers(found, launches)
    most = np.inf if by_optimizers is None else MICRO * len(by_optimizers.starts)
    return (
        by_known_name(found, launches, most)
        or _by_repetition(found, launches, most)
        or by_optimizers
    )


def _by_repetition(found: Annotations, launches: Int64, most: float) -> HostSteps | None:
    """A repeated annotation whose repetitions, at most so many, hold nearly all launches."""
    patterns, kind_of = np.unique(
        np.array([without_digits(word) for word in found.words] or [""]), return_inverse=True
    )
    kinds = kind_of.reshape(-1)[found.name]
    best: tuple[bool, float, int, str] | None = None
    for kind in np.flatnonzero(np.bincount(kinds, minlength=len(patterns)) > 1):
        steps, name = found.outermost(np.flatnonzero(kinds == kind)), str(patterns[kind])
        share, count = share_inside(steps, launches), len(steps.starts)
        if 1 < count <= most and share >= _MARKER_COVERAGE:
            one = (bool(_CALLED_STEP.search(name)), share, count, name)
            best = max(best or one, one)
    if best is None:
        return None
    _, share, _, name = best
    steps = found.outermost(np.flatnonzero(patterns[kinds] == name))
    says = f"the annotation {name}, which holds {share:.1%} of the launches"
    source = StepSource("marker", share, says)
    return beginning_at(steps.names(), steps.starts, int(steps.ends[-1]), source)


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
    return beginning_at(
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
