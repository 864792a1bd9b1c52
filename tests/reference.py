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
from collections import Counter
from collections.abc import Callable, Iterable
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


@dataclass(frozen=True)
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
    categories: Counter[str]
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


def nanoseconds(microseconds: object) -> int:
    """Microseconds as the file writes them, to the nearest nanosecond."""
    return int((Decimal(str(microseconds)) * 1000).to_integral_value())


def _integer(value: object) -> int | None:
    return int(str(value)) if re.fullmatch(r"-?\d+", str(value)) else None


def _args(event: dict[str, Any]) -> dict[str, Any]:
    return event.get("args") or {}


def _category(event: dict[str, Any]) -> str:
    return str(event.get("cat", "")).lower()


def _rank(event: dict[str, Any]) -> int | None:
    """The rank of an event of a merged file; null in all others."""
    return _integer(_args(event).get("rank"))


def _span(event: dict[str, Any]) -> tuple[int, int]:
    start = nanoseconds(event["ts"])
    return start, start + nanoseconds(event["dur"])


def _correlation(event: dict[str, Any]) -> int:
    return _integer(_args(event).get("correlation")) or 0


@dataclass(frozen=True)
class _Host:
    """What the host's side knows of activities: ``launches`` by rank and correlation id."""

    launches: dict[tuple[int | None, int], int]
    flows: frozenset[int | None]

    @classmethod
    def of(cls, events: list[dict[str, Any]]) -> _Host:
        launches: dict[tuple[int | None, int], int] = {}
        for event in events:
            if _category(event) in RUNTIME and _correlation(event) and event.get("ph") == "X":
                key = (_rank(event), _correlation(event))
                start = nanoseconds(event["ts"])
                launches[key] = min(start, launches.get(key, start))
        starts = (one for one in events if one.get("ph") == "s" and _category(one) == "ac2g")
        return cls(launches, frozenset(_integer(one.get("id")) for one in starts))

    def activity(self, event: dict[str, Any]) -> Activity:
        start, end = _span(event)
        return Activity(
            kind=DEVICE.get(_category(event), _category(event)),
            name=str(event["name"]),
            start_ns=start,
            end_ns=end,
            launch_ns=self.launches.get((_rank(event), _correlation(event))),
            flow=_correlation(event) in self.flows,
            args=_args(event),
        )


def _annotations(events: list[dict[str, Any]], rank: int | None) -> tuple[Annotation, ...]:
    found = []
    for event in events:
        name = STEP_NAME.fullmatch(str(event.get("name")))
        if name and _category(event) in ANNOTATION and _rank(event) == rank:
            found.append(Annotation(int(name[1]), *_span(event)))
    return tuple(sorted(found, key=lambda one: one.start_ns))


def _is_other(event: dict[str, Any], rank: int | None) -> bool:
    stream = _integer(_args(event).get("stream"))
    known = _category(event) in DEVICE or _category(event) in RUNTIME
    return not known and stream is not None and stream >= 0 and _rank(event) == rank


def _load(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as stream:
        root = json.loads(stream.read(), parse_float=str)
    head = root if isinstance(root, dict) else {"traceEvents": root}
    return head, head.pop("traceEvents")


def read(path: Path) -> File:
    """The file with every activity of a GPU, in order of start."""
    head, every = _load(path)
    host = _Host.of(every)
    events = [event for event in every if event.get("ph") == "X" and "dur" in event]
    by_rank: dict[tuple[int | None, int | None], list[Activity]] = {}
    for event in events:
        if _category(event) in DEVICE:
            key = (_rank(event), _integer(_args(event).get("device")))
            by_rank.setdefault(key, []).append(host.activity(event))
    recordings = tuple(
        Recording(
            rank,
            device,
            tuple(sorted(activities, key=lambda one: one.start_ns)),
            _annotations(events, rank),
            tuple(host.activity(event) for event in events if _is_other(event, rank)),
        )
        for (rank, device), activities in sorted(by_rank.items(), key=str)
    )
    return File(head, len(every), Counter(map(_category, every)), recordings)


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


# -- across ranks ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instance:
    """One collective on all its ranks, in the order of the ranks."""

    members: tuple[Activity, ...]

    @property
    def last_arrival_ns(self) -> int:
        """When the last of its ranks came."""
        return max(one.start_ns for one in self.members)

    @property
    def transfer_ns(self) -> int:
        """The shortest time that any rank spent in it without waiting."""
        last = self.last_arrival_ns
        return min(one.end_ns - min(last, one.end_ns) for one in self.members)

    @property
    def end_skew_ns(self) -> int:
        """How far its ends lie apart."""
        ends = [one.end_ns for one in self.members]
        return max(ends) - min(ends)


def instances(recordings: list[Recording]) -> list[Instance]:
    """The collectives of ranks of one clock, matched from the end: the files end together."""
    per_rank = [
        [one for one in counted(recording.activities) if classify(one) == COMMUNICATION]
        for recording in recordings
    ]
    matched = min(map(len, per_rank))
    return [
        Instance(members) for members in zip(*(one[-matched:] for one in per_rank), strict=True)
    ]


def exposed_wait_ns(recordings: list[Recording], rank: int) -> int:
    """The exposed time of one rank before the last arrival, over the matched collectives."""
    found = 0
    for instance in instances(recordings):
        own = instance.members[rank]
        until = min(instance.last_arrival_ns, own.end_ns)
        found += sweep(recordings[rank].activities, (own.start_ns, until)).exposed_comm_ns
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
