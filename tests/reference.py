"""A second opinion on every number: an independent calculator for Kineto files.

It shares no code with commscope and no method either: the whole file is decoded by the standard
library, times are decimals until they are integers, and every partition comes out of one plain
sweep over the sorted begins and ends. Slow, short, and easy to follow by hand:

    python tests/reference.py FILE...

prints what it finds as JSON. Nothing here is used by the program.
"""

from __future__ import annotations

import bisect
import gzip
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

COMPUTE, COMMUNICATION, COPY = "compute", "communication", "copy"

#: Categories of today's files and of those of 2021, in lower case.
DEVICE = {
    "kernel": "kernel",
    "gpu_memcpy": "memcpy",
    "memcpy": "memcpy",
    "gpu_memset": "memset",
    "memset": "memset",
}
RUNTIME = {"cuda_runtime", "cuda_driver", "runtime"}
ANNOTATION = {"user_annotation", "cpu_op", "operator"}

COLLECTIVE_NAME = re.compile("nccl|rccl|msccl", re.IGNORECASE)
ROCM_COPY_NAME = re.compile(r"__amd_rocclr_(copy|fill)Buffer")
INTEGER = re.compile(r"-?\d+")
STEP_NAME = re.compile(r"ProfilerStep#(\d+)")


@dataclass(frozen=True)
class Activity:
    """One interval on a GPU.

    ``launch_ns`` is null where the file holds no launch for it; ``flow`` says whether an arrow
    leads from the host to it.
    """

    kind: str
    name: str
    start_ns: int
    end_ns: int
    launch_ns: int | None
    flow: bool
    args: dict[str, Any]

    @property
    def stream(self) -> str:
        """The stream as text, "None" where the file does not say."""
        return str(self.args.get("stream"))


@dataclass(frozen=True)
class Annotation:
    """The host interval of one step."""

    step: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, eq=False)
class Recording:
    """What one file says of one rank."""

    rank: int | None
    device: int | None
    activities: tuple[Activity, ...]
    annotations: tuple[Annotation, ...]
    others: tuple[Activity, ...]  #: not GPU work, though they carry a stream: only HTA counts them


@dataclass(frozen=True)
class File:
    """One file: its ranks and what its head says."""

    head: dict[str, Any]
    events: int
    categories: dict[str, int]
    recordings: tuple[Recording, ...]

    @property
    def base_ns(self) -> int:
        """What to add to a time of the file for the wall clock."""
        return int(self.head.get("baseTimeNanoseconds", 0))


@dataclass(frozen=True)
class Partition:
    """A window cut into what ran in it; the parts are those of the definitions."""

    window_ns: int
    compute_ns: int
    communication_ns: int
    hidden_comm_ns: int
    exposed_comm_ns: int
    exposed_copy_ns: int
    idle_ns: int


@dataclass(frozen=True)
class Step:
    """One step's device window.

    ``kernels`` counts by launch, and by start those that have none; ``launched_kernels`` counts
    by launch only.
    """

    step: int
    start_ns: int
    end_ns: int
    kernels: int
    launched_kernels: int
    partition: Partition


# -- reading -----------------------------------------------------------------------------------

Event = dict[str, Any]
ByCategory = dict[str, list[Event]]


def nanoseconds(microseconds: object) -> int:
    """Microseconds as the file writes them, to the nearest nanosecond."""
    return int((Decimal(str(microseconds)) * 1000).to_integral_value())


def _integer(value: object) -> int | None:
    return int(str(value)) if INTEGER.fullmatch(str(value)) else None


def _args(event: Event) -> dict[str, Any]:
    return event.get("args") or {}


def _rank(event: Event) -> int | None:
    """The rank of an event of a merged file; null in all others."""
    return _integer(_args(event).get("rank"))


def _correlation(event: Event) -> int:
    return _integer(_args(event).get("correlation")) or 0


def _span(event: Event) -> tuple[int, int]:
    start = nanoseconds(event["ts"])
    return start, start + nanoseconds(event["dur"])


def _complete(events: ByCategory, categories: Iterable[str]) -> Iterator[tuple[str, Event]]:
    """The events of these categories that have a length, each with its category."""
    for category in categories:
        for event in events.get(category, ()):
            if event.get("ph") == "X" and "dur" in event:
                yield category, event


@dataclass(frozen=True)
class _Host:
    """What the host's side knows of activities: ``launches`` by rank and correlation id."""

    launches: dict[tuple[int | None, int], int]
    flows: frozenset[int | None]

    @classmethod
    def of(cls, events: ByCategory) -> _Host:
        launches: dict[tuple[int | None, int], int] = {}
        for _, event in _complete(events, RUNTIME):
            if _correlation(event):
                key = (_rank(event), _correlation(event))
                start = nanoseconds(event["ts"])
                launches[key] = min(start, launches.get(key, start))
        starts = (one for one in events.get("ac2g", ()) if one.get("ph") == "s")
        return cls(launches, frozenset(_integer(one.get("id")) for one in starts))

    def activity(self, category: str, event: Event) -> Activity:
        start, end = _span(event)
        return Activity(
            kind=DEVICE.get(category, category),
            name=str(event["name"]),
            start_ns=start,
            end_ns=end,
            launch_ns=self.launches.get((_rank(event), _correlation(event))),
            flow=_correlation(event) in self.flows,
            args=_args(event),
        )


def _annotations(events: ByCategory, rank: int | None) -> tuple[Annotation, ...]:
    found = []
    for _, event in _complete(events, ANNOTATION):
        name = STEP_NAME.fullmatch(str(event.get("name")))
        if name and _rank(event) == rank:
            found.append(Annotation(int(name[1]), *_span(event)))
    return tuple(sorted(found, key=lambda one: one.start_ns))


def _others(events: ByCategory, host: _Host, rank: int | None) -> Iterator[Activity]:
    for category, event in _complete(events, events.keys() - DEVICE.keys() - RUNTIME):
        stream = _integer(_args(event).get("stream"))
        if stream is not None and stream >= 0 and _rank(event) == rank:
            yield host.activity(category, event)


def _load(path: Path) -> tuple[dict[str, Any], ByCategory]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as stream:
        root = json.loads(stream.read(), parse_float=str)
    head = root if isinstance(root, dict) else {"traceEvents": root}
    events: ByCategory = {}
    for event in head.pop("traceEvents"):
        events.setdefault(str(event.get("cat", "")).lower(), []).append(event)
    return head, events


def read(path: Path) -> File:
    """The file with every activity of a GPU, in order of start."""
    head, events = _load(path)
    host = _Host.of(events)
    by_rank: dict[tuple[int | None, int | None], list[Activity]] = {}
    for category, event in _complete(events, DEVICE):
        key = (_rank(event), _integer(_args(event).get("device")))
        by_rank.setdefault(key, []).append(host.activity(category, event))
    recordings = tuple(
        Recording(
            rank,
            device,
            tuple(sorted(activities, key=lambda one: one.start_ns)),
            _annotations(events, rank),
            tuple(_others(events, host, rank)),
        )
        for (rank, device), activities in sorted(by_rank.items(), key=lambda one: str(one[0]))
    )
    categories = {category: len(found) for category, found in events.items()}
    return File(head, sum(categories.values()), categories, recordings)


# -- calculating -------------------------------------------------------------------------------


def classify(activity: Activity) -> str:
    """The class of an activity, by commscope's definitions."""
    if activity.kind != "kernel" or ROCM_COPY_NAME.match(activity.name):
        return COPY
    return COMMUNICATION if COLLECTIVE_NAME.search(activity.name) else COMPUTE


def counted(activities: Iterable[Activity]) -> list[Activity]:
    """Those that take time; zero-length and broken ones count nowhere."""
    return [one for one in activities if one.end_ns > one.start_ns]


def window_of(activities: Iterable[Activity]) -> tuple[int, int]:
    """From the first start to the last end."""
    chosen = counted(activities)
    return min(one.start_ns for one in chosen), max(one.end_ns for one in chosen)


def sweep(
    activities: Iterable[Activity],
    window: tuple[int, int],
    class_of: Callable[[Activity], str] = classify,
) -> Partition:
    """Walk through all begins and ends in the window, counting what is running between them."""
    begin, end = window
    boundaries = []
    for one in counted(activities):
        start, stop = max(one.start_ns, begin), min(one.end_ns, end)
        if start < stop:
            kind = class_of(one)
            boundaries += [(start, 1, kind), (stop, -1, kind)]
    running = {COMPUTE: 0, COMMUNICATION: 0, COPY: 0}
    spent = {COMPUTE: 0, "hidden": 0, "exposed": 0, COPY: 0, "idle": 0}
    now = begin
    for time, change, kind in sorted(boundaries):
        for part in _parts(running):
            spent[part] += time - now
        running[kind] += change
        now = time
    spent["idle"] += end - now
    return Partition(
        window_ns=end - begin,
        compute_ns=spent[COMPUTE],
        communication_ns=spent["hidden"] + spent["exposed"],
        hidden_comm_ns=spent["hidden"],
        exposed_comm_ns=spent["exposed"],
        exposed_copy_ns=spent[COPY],
        idle_ns=spent["idle"],
    )


def _parts(running: dict[str, int]) -> tuple[str, ...]:
    if running[COMPUTE]:
        return (COMPUTE, "hidden") if running[COMMUNICATION] else (COMPUTE,)
    if running[COMMUNICATION]:
        return ("exposed",)
    return (COPY,) if running[COPY] else ("idle",)


def whole(recording: Recording) -> Partition:
    """The partition of all that the file holds."""
    return sweep(recording.activities, window_of(recording.activities))


def launched_in(recording: Recording) -> dict[int, list[Activity]]:
    """The activities of each step, by launch; those launched in no step are absent."""
    begins = [one.start_ns for one in recording.annotations]
    found: dict[int, list[Activity]] = {one.step: [] for one in recording.annotations}
    for activity in counted(recording.activities):
        if activity.launch_ns is None:
            continue
        index = bisect.bisect_right(begins, activity.launch_ns) - 1
        if index >= 0 and activity.launch_ns < recording.annotations[index].end_ns:
            found[recording.annotations[index].step].append(activity)
    return found


def step_windows(recording: Recording) -> dict[int, tuple[int, int]]:
    """Device windows of the steps that launched anything: they tile."""
    launched = {step: found for step, found in launched_in(recording).items() if found}
    starts = {step: min(one.start_ns for one in found) for step, found in launched.items()}
    order = sorted(starts, key=lambda step: starts[step])
    windows = {step: (starts[step], starts[after]) for step, after in pairwise(order)}
    for step in order[-1:]:
        windows[step] = (starts[step], max(one.end_ns for one in launched[step]))
    return windows


def steps(recording: Recording) -> list[Step]:
    """Every step with a device window, in order."""
    launched = launched_in(recording)
    unlinked = [one for one in counted(recording.activities) if one.launch_ns is None]
    found = []
    for step, (begin, end) in step_windows(recording).items():
        own = sum(one.kind == "kernel" for one in launched[step])
        lost = sum(one.kind == "kernel" and begin <= one.start_ns < end for one in unlinked)
        partition = sweep(recording.activities, (begin, end))
        found.append(Step(step, begin, end, own + lost, own, partition))
    return found


def main(paths: list[str]) -> None:
    """Print the partition of every rank and step of the files."""
    for path in paths:
        ranks = [
            {
                "rank": recording.rank,
                "device": recording.device,
                "partition": asdict(whole(recording)),
                "steps": [asdict(step) for step in steps(recording)],
            }
            for recording in read(Path(path)).recordings
        ]
        sys.stdout.write(json.dumps({"file": path, "ranks": ranks}, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
