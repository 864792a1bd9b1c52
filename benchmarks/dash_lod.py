"""Measures the timeline's data on a run that is made up: time of queries, and memory.

    python benchmarks/dash_lod.py                      # 10 million events on 8 ranks
    python benchmarks/dash_lod.py --events 1000000 --calls 0
    python benchmarks/dash_lod.py --events 80000000 --lanes-only

The run is made as tables, as parsers make them: on each rank kernels of three streams, every
fiftieth an all-reduce that begins at slightly different times, and a call of the host for each
activity of the share that has one (``--calls``). With ``--lanes-only`` only what answers queries is
made, rank by rank: the analysis of so many events would need more memory than the view.

Printed are the median time of a query at each zoom, of the lanes that are shown at first and of
all, how long it took to make the view, and what the process keeps for it, in bytes an event.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from commscope.analysis.result import analyse
from commscope.classify import classes_of, families_of
from commscope.columns import Int64
from commscope.dashboards.data import Answer, LaneView, RunView, encode
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.lanes import Events, Lane, lane_of
from commscope.dashboards.data.level_of_detail import Window, lane_view
from commscope.report.build import report_of
from commscope.schema import COLLECTIVES, EVENTS, HOST, RANKS, STEPS, conform
from commscope.trace import Classes, StepSource, Trace

Result = TypeVar("Result")
COLUMNS = 1500
ZOOMS = (1.0, 0.1, 0.01, 0.001)
PLACES = 15
STEP_ACTIVITIES = 2_000
EVERY_COLLECTIVE, EVERY_COPY, EVERY_SECOND = 50, 40, 10
BUCKET_BYTES = 25_000_000
COLLECTIVE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
COPY = "Memcpy DtoD (Device -> Device)"
KERNELS = tuple(
    f"{kind}_{number}"
    for kind in ("Cijk_Ailk_Bljk_BBS_BH_MT", "elementwise_kernel", "softmax_warp_forward")
    for number in range(40)
)
NAMES = (*KERNELS, COLLECTIVE, COPY)
DEFAULT_LANES = ("steps", "compute", "communication", "copy", "exposed")


@dataclass(frozen=True, slots=True)
class Activities:
    """The activities of one rank, by start; ``name`` is a place in NAMES."""

    start: Int64
    duration: Int64
    name: Int64
    stream: Int64

    @property
    def is_collective(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which of them are all-reduces."""
        return np.asarray(self.name == NAMES.index(COLLECTIVE))


def activities(rank: int, count: int) -> Activities:
    """Kernels one after the other, some beside others; collectives end together on all ranks."""
    shared, own = np.random.default_rng(7), np.random.default_rng(1000 + rank)
    number = np.arange(count)
    duration = (3_000 + shared.lognormal(9.0, 1.0, count)).astype(np.int64)
    start = 10**6 + np.cumsum(duration + shared.integers(0, 3_000, count)) - duration
    name = shared.integers(0, len(KERNELS), count)
    stream = np.full(count, 7)
    beside = number % EVERY_SECOND == 3
    duration[beside] *= 3
    stream[beside] = 21
    copies = number % EVERY_COPY == 5
    name[copies], stream[copies] = NAMES.index(COPY), 20
    collectives = number % EVERY_COLLECTIVE == 7
    name[collectives], stream[collectives] = NAMES.index(COLLECTIVE), 17
    late = own.integers(0, 5_000, count)
    duration[collectives] += 200_000 - late[collectives]
    start[collectives] += late[collectives]
    order = np.argsort(start, kind="stable")
    return Activities(start[order], duration[order], name[order], stream[order])


def made_up_trace(ranks: int, count: int, calls: int) -> Trace:
    """A trace of so many activities, and calls that launched them, on each rank."""
    parts = [activities(rank, count) for rank in range(ranks)]
    events = pa.concat_tables([_events(rank, part) for rank, part in enumerate(parts)])
    host = pa.concat_tables([_host(rank, part, calls) for rank, part in enumerate(parts)])
    steps = pa.concat_tables([_steps(rank, part) for rank, part in enumerate(parts)])
    kinds = classes_of(NAMES)
    return Trace(
        events=conform(events.unify_dictionaries(), EVENTS, "EVENTS"),
        host=conform(host.unify_dictionaries(), HOST, "HOST"),
        collectives=conform(_collectives(parts), COLLECTIVES, "COLLECTIVES"),
        steps=steps, all_steps=steps, ranks=_ranks(ranks),
        classes=Classes(
            kinds[np.concatenate([part.name for part in parts])], families_of(NAMES)
        ),
        step_source=StepSource("annotation", 1.0, "made up"),
        files=(), repairs=(), notes=(),
    )  # fmt: skip


def _table(schema: pa.Schema, rows: int, columns: dict[str, object]) -> pa.Table:
    """A table of these columns; what is not given is null."""
    return pa.table(
        [_column(columns.get(field.name), field.type, rows) for field in schema], schema=schema
    )


def _column(values: object, kind: pa.DataType, rows: int) -> pa.Array:
    if values is None:
        is_text = pa.types.is_dictionary(kind)
        return pa.nulls(rows, pa.string()).dictionary_encode() if is_text else pa.nulls(rows, kind)
    if isinstance(values, tuple):
        place, words = values
        codes = np.zeros(rows, np.int32) if place is None else place.astype(np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words, pa.string()))
    return pa.array(np.full(rows, values) if isinstance(values, int) else values).cast(kind)


def _step_of(part: Activities) -> Int64:
    return np.asarray(np.arange(len(part.start)) // STEP_ACTIVITIES)


def _events(rank: int, part: Activities) -> pa.Table:
    count = len(part.start)
    return _table(EVENTS, count, {
        "rank": rank, "device": rank, "stream": part.stream, "flags": 0,
        "kind": ((part.name == NAMES.index(COPY)).astype(np.int32), ["kernel", "memcpy"]),
        "name": (part.name, NAMES), "start_ns": part.start, "dur_ns": part.duration,
        "correlation": np.arange(1, count + 1), "launch_ns": part.start - 500_000,
        "step": _step_of(part),
    })  # fmt: skip


def _host(rank: int, part: Activities, calls: int) -> pa.Table:
    return _table(HOST, calls, {
        "rank": rank, "thread": 1 + rank, "kind": (None, ["launch"]),
        "name": (None, ["hipLaunchKernel"]), "start_ns": part.start[:calls] - 500_000,
        "dur_ns": np.minimum(np.diff(part.start, append=part.start[-1] + 9_000), 4_000)[:calls],
        "correlation": np.arange(1, calls + 1), "step": _step_of(part)[:calls],
    })  # fmt: skip


def _collectives(parts: Sequence[Activities]) -> pa.Table:
    ranks, count = len(parts), len(parts[0].start)
    event = np.concatenate([
        np.flatnonzero(part.is_collective) + rank * count for rank, part in enumerate(parts)
    ])  # fmt: skip
    each = len(event) // ranks
    members = pa.array([list(range(ranks))], pa.list_(pa.int32())).take(
        pa.array(np.zeros(len(event), np.int64))
    )
    return _table(COLLECTIVES, len(event), {
        "event": event, "rank": np.repeat(np.arange(ranks), each), "comm": (None, ["0"]),
        "description": (None, ["default_pg"]), "seq": np.tile(np.arange(each), ranks),
        "op": (None, ["all_reduce"]), "dtype": (None, ["BFloat16"]), "bytes": BUCKET_BYTES,
        "group_size": ranks, "members": members, "is_async": True, "source": (None, ["args"]),
    })  # fmt: skip


def _steps(rank: int, part: Activities) -> pa.Table:
    begin = part.start[::STEP_ACTIVITIES]
    last = int((part.start + part.duration).max())
    return _table(STEPS, len(begin), {
        "rank": rank, "step": np.arange(len(begin)), "name": (None, ["ProfilerStep"]),
        "open": np.arange(len(begin)) == len(begin) - 1, "start_ns": begin,
        "end_ns": np.append(begin[1:], last), "host_start_ns": begin - 500_000,
        "host_end_ns": np.append(begin[1:], last) - 500_000, "source": (None, ["annotation"]),
    })  # fmt: skip


def _ranks(ranks: int) -> pa.Table:
    return _table(RANKS, ranks, {
        "rank": np.arange(ranks), "device": np.arange(ranks), "clock_offset_ns": 0,
        "world_size": ranks, "source": (None, ["given"]), "file": (None, ["made up"]),
    })  # fmt: skip


def resident_bytes() -> int:
    """What the process has in memory now."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)  # the allocator of glibc keeps what was freed
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def timed(says: str, do: Callable[[], Result]) -> Result:
    """The result of a call, whose time is printed."""
    begin = time.perf_counter()
    result = do()
    print(f"{says}: {time.perf_counter() - begin:.1f} s")
    return result


def windows(t0: int, t1: int, zoom: float) -> Iterator[tuple[int, int]]:
    """Windows of one zoom, spread over the run."""
    length = max(int((t1 - t0) * zoom), 1)
    for number in range(PLACES):
        begin = t0 + (t1 - t0 - length) * number // (PLACES - 1)
        yield begin, begin + length


def measure(t0: int, t1: int, query: Callable[[int, int], Iterable[LaneView]], says: str) -> None:
    """Prints how long queries take, and how long the answers are."""
    for zoom in ZOOMS:
        times, busy, sizes, bars = [], [], [], []
        for begin, end in windows(t0, t1, zoom):
            start, spent = time.perf_counter(), time.process_time()
            views = tuple(query(begin, end))
            times.append(time.perf_counter() - start)
            busy.append(time.process_time() - spent)
            sizes.append(len(encode(Answer(0, begin, end, COLUMNS, views))))
            bars.append(sum(len(view.start) for view in views))
        p50, cpu = (statistics.median(of) * 1e3 for of in (times, busy))
        print(
            f"{says}, {zoom:7.1%} of the run: p50 {p50:5.1f} ms (CPU {cpu:5.1f}), worst "
            f"{max(times) * 1e3:5.1f} ms, {statistics.median(sizes) / 1e3:6.0f} kB, "
            f"{statistics.median(bars):6.0f} bars"
        )


def whole_view(arguments: argparse.Namespace) -> None:
    """Measures a whole view: made by the analysis, which is freed before memory is read."""
    each = arguments.events // arguments.ranks
    calls = int(each * arguments.calls)
    before = resident_bytes()
    view = _view(arguments.ranks, each - calls, calls)
    kept = resident_bytes() - before
    print(f"memory kept: {kept / 1e6:,.0f} MB, {kept / arguments.events:.0f} bytes an event")
    layout = view.layout
    shown = [0, *(lane.id for lane in layout.lanes if lane.kind in DEFAULT_LANES)]
    every = [0, *(lane.id for lane in layout.lanes)]
    for lanes in (shown, every):
        query = partial(_query, view, lanes)
        measure(layout.t0, layout.t1, query, f"{len(lanes)} lanes")
    measure_answers(view)


def _query(view: RunView, lanes: Sequence[int], t0: int, t1: int) -> list[LaneView]:
    return view.query(t0, t1, COLUMNS, lanes)


def measure_answers(view: RunView) -> None:
    """Prints how long other questions of the app take."""
    layout = view.layout
    middle, tenth = (layout.t0 + layout.t1) // 2, (layout.t1 - layout.t0) // 10
    compute = next(lane for lane in view.lanes if lane.kind == "compute")
    instance = view.instances.count() // 2
    questions: dict[str, Callable[[], object]] = {
        "selection of all": lambda: view.select(layout.t0, layout.t1, []),
        "selection of a tenth": lambda: view.select(middle, middle + tenth, []),
        "search": lambda: view.matches("softmax"),
        "search again": lambda: view.next_match("softmax", middle, 1),
        "event": lambda: view.event(compute.id, len(compute) // 2),
        "instance": lambda: view.instance(instance),
        "gap": lambda: view.gap_at(view.ranks[0], middle),
        "next exposed": lambda: view.next(view.ranks[0], middle, "exposed", 1),
        "export of a thousandth": lambda: view.export(middle, middle + tenth // 100, [], "csv"),
    }
    for says, ask in questions.items():
        start = time.perf_counter()
        ask()
        print(f"{says}: {(time.perf_counter() - start) * 1e3:.1f} ms")


def _view(ranks: int, count: int, calls: int) -> RunView:
    trace = made_up_trace(ranks, count, min(calls, count))
    print(trace, f"and {trace.host.num_rows:,} calls")
    analysis = timed("analysis", lambda: analyse(trace))
    report = timed("report", lambda: report_of(analysis))
    return timed("view", lambda: RunView.of(analysis, report, "made up"))


def lanes_only(arguments: argparse.Namespace) -> None:
    """Measures queries on lanes alone: three of each rank, with their categories."""
    before = resident_bytes()
    begin = time.perf_counter()
    lanes = [
        lane
        for rank in range(arguments.ranks)
        for lane in _lanes(rank, activities(rank, arguments.events // arguments.ranks))
    ]
    print(f"{len(lanes)} lanes: {time.perf_counter() - begin:.1f} s")
    kept = resident_bytes() - before
    print(f"memory kept: {kept / 1e6:,.0f} MB, {kept / arguments.events:.0f} bytes an event")
    clock = RankClock(0, 0.0, 0)

    def query(t0: int, t1: int) -> list[LaneView]:
        window = Window.of(t0, t1, COLUMNS, clock)
        return [lane_view(lane, window) for lane in lanes]

    last = max(int(lane.latest.max()) for lane in lanes)
    measure(0, last, query, f"{len(lanes)} lanes")


def _lanes(rank: int, part: Activities) -> Iterator[Lane]:
    kinds = classes_of(NAMES)[part.name]
    for kind in range(3):
        row = np.flatnonzero(kinds == kind)
        events = Events.of(
            part.start[row], part.duration[row], part.name[row].astype(np.uint8),
            (part.name[row] // 40).astype(np.uint8), row,
        )  # fmt: skip
        yield lane_of(3 * rank + kind, (rank, str(kind), str(kind), None), events)


def main() -> None:
    """Measures, as the command line says."""
    parser = argparse.ArgumentParser(description="Measure the timeline's data.")
    parser.add_argument("--events", type=int, default=10_000_000, help="on all ranks together")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--calls", type=float, default=0.5, help="share of events on hosts")
    parser.add_argument("--lanes-only", action="store_true", help="without an analysis")
    arguments = parser.parse_args()
    if arguments.lanes_only:
        lanes_only(arguments)
    else:
        whole_view(arguments)


if __name__ == "__main__":
    main()
