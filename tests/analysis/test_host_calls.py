"""What hosts are seen to do: who launched what, which calls block, and on which threads."""

from __future__ import annotations

import numpy as np
import pytest
from tables import Gpu, Host, Row, analysis, annotation, comm, reading, step, traces

from commscope.analysis.host import ACTIONS, COPY, Blocked, HostCalls, blocking_call_at
from commscope.analysis.result import Analysis, analyse
from commscope.columns import NONE, Int64

US = 1_000


def _kernel(number: int, start: int = 1_000 * US) -> Gpu:
    return Gpu(start + number * 10 * US, 5 * US, correlation=number)


def _launch(number: int, start: int, thread: int = 1, name: str = "hipLaunchKernel") -> Host:
    return Host(start, 3 * US, name, correlation=number, thread=thread)


def _call(name: str, start: int, dur: int, kind: str = "runtime", thread: int = 1) -> Host:
    return Host(start, dur, name, kind, thread=thread)


def _query(start: int, thread: int = 1) -> Host:
    return _call("hipEventQuery", start, 2 * US, thread=thread)


def _analysed(*rows: Row) -> Analysis:
    """A rank with one kernel that thread 1 launched, besides these rows."""
    return analysis(_kernel(1), _launch(1, 1), *rows)


def _blocked(found: Analysis, activity: int = 0) -> list[tuple[str, int, int]]:
    """The blocking calls of the thread that launched an activity, on its rank's clock."""
    host, shift = found.host, int(found.timeline.shift_ns[0])
    blocked = host.blocked.get(int(host.lane[activity]), Blocked(*[np.empty(0, np.int64)] * 4))
    spans = zip(blocked.name.tolist(), blocked.start.tolist(), blocked.end.tolist(), strict=True)
    return [(host.names[name], start - shift, end - shift) for name, start, end in spans]


def _at(host: HostCalls, lane: int, time: int) -> tuple[int, int]:
    name, action = blocking_call_at(host, np.array([lane]), np.array([time]))
    return int(name[0]), int(action[0])


def _since(values: Int64, found: Analysis) -> list[int | None]:
    shift = found.timeline.shift_ns[found.timeline.activities.rank]
    return [None if v == NONE else v - s for v, s in zip(values.tolist(), shift.tolist())]


def test_the_call_that_launched_an_activity() -> None:
    rows = [_kernel(n) for n in (1, 2, 3)]
    found = analysis(*rows, _launch(1, 10 * US), _launch(2, 20 * US, thread=2))
    assert _since(found.host.launch, found) == [10 * US, 20 * US, None]
    assert _since(found.host.returned, found) == [13 * US, 23 * US, None]
    one, two, none = found.host.lane.tolist()
    assert none == -1
    assert len({one, two, none}) == 3


def test_of_calls_with_one_id_the_first_launches() -> None:
    """As link_launches has it; on ROCm a copy and what it calls inside share an id."""
    found = analysis(_kernel(1), _launch(1, 20 * US), _launch(1, 10 * US, thread=2))
    assert _since(found.host.launch, found) == [10 * US]


def test_one_call_may_launch_many() -> None:
    found = analysis(
        Gpu(100, 5, correlation=1), Gpu(110, 5, correlation=1), _launch(1, 1, name="hipGraphLaunch")
    )
    assert _since(found.host.launch, found) == [1, 1]
    assert len(set(found.host.lane.tolist())) == 1


def test_equal_ids_on_two_ranks_are_two_calls() -> None:
    ranks = [
        reading(_kernel(1), _launch(1, 10 * US), rank=0, file="a"),
        reading(_kernel(1), _launch(1, 30 * US, thread=7), rank=1, file="b"),
        reading(_kernel(1), rank=2, file="c"),
    ]
    found = analyse(traces(ranks))
    assert _since(found.host.launch, found) == [10 * US, 30 * US, None]
    assert len(set(found.host.lane.tolist())) == 3


def test_equal_threads_on_two_ranks_are_two_lanes() -> None:
    sync = _call("hipDeviceSynchronize", 50 * US, 100 * US, "sync")
    ranks = [
        reading(_kernel(1), _launch(1, 10 * US), sync, rank=0, file="a"),
        reading(_kernel(1), _launch(1, 10 * US), rank=1, file="b"),
    ]
    found = analyse(traces(ranks))
    first, second = found.host.lane.tolist()
    time = 60 * US + found.timeline.shift_ns
    assert found.host.names[_at(found.host, first, int(time[0]))[0]] == "hipDeviceSynchronize"
    assert _at(found.host, second, int(time[1])) == (-1, -1)


@pytest.mark.parametrize(
    ("call", "blocks"),
    [
        (_call("hipStreamSynchronize", 50 * US, 9 * US, "sync"), True),
        (_call("cudaDeviceSynchronize", 50 * US, 9 * US, "sync"), True),
        (_call("hipStreamWaitEvent", 50 * US, 9 * US, "sync"), False),
        (_call("hipMalloc", 50 * US, 9 * US, "memory"), True),
        (_call("hipMemcpyAsync", 50 * US, 50 * US, "launch"), False),
        (_call("hipMemcpyAsync", 50 * US, 50 * US + 1, "launch"), True),
        (_call("hipLaunchKernel", 50 * US, 90 * US, "launch"), False),
        (_call("hipEventRecord", 50 * US, 90 * US), False),
        (annotation("DataLoader.__next__", 50 * US, 90 * US), False),
    ],
)
def test_calls_that_block(call: Host, blocks: bool) -> None:
    expected = [(call.name, call.start, call.start + call.dur)] if blocks else []
    assert _blocked(_analysed(call)) == expected


def test_queries_that_follow_each_other_are_one_loop() -> None:
    found = _analysed(*(_query(100 * US + n * 50 * US) for n in range(5)))
    assert _blocked(found) == [("hipEventQuery", 100 * US, 302 * US)]


def test_a_loop_ends_with_the_call_that_ends_last() -> None:
    long, nested = (_call("hipEventQuery", 100 * US, n * US) for n in (140, 1))
    assert _blocked(_analysed(long, nested)) == [("hipEventQuery", 100 * US, 240 * US)]


@pytest.mark.parametrize(("pause", "loops"), [(100 * US - 1, 1), (100 * US, 2)])
def test_a_loop_ends_with_a_pause(pause: int, loops: int) -> None:
    found = _analysed(_query(100 * US), _query(102 * US + pause))
    assert len(_blocked(found)) == loops


def test_a_launch_between_queries_ends_the_loop() -> None:
    rows = (_query(100 * US), _launch(2, 110 * US), _query(120 * US), _query(130 * US))
    assert _blocked(_analysed(*rows)) == [
        ("hipEventQuery", 100 * US, 102 * US),
        ("hipEventQuery", 120 * US, 132 * US),
    ]


def test_calls_of_another_thread_between_queries_do_not_end_the_loop() -> None:
    rows = (_query(100 * US), _launch(2, 110 * US, thread=2), _kernel(2), _query(120 * US))
    assert _blocked(_analysed(*rows)) == [("hipEventQuery", 100 * US, 122 * US)]


def test_the_watchdog_of_the_library_blocks_nobody() -> None:
    """It asks for events on a thread of its own, all the time, and launches nothing."""
    watchdog = [_query(100 * US + n * 20 * US, thread=9) for n in range(50)]
    wait = _call("hipStreamWaitEvent", 300 * US, US, thread=9)
    sync = _call("hipDeviceSynchronize", 400 * US, 500 * US, "sync", thread=9)
    found = _analysed(*watchdog, wait, sync)
    assert _blocked(found) == []
    assert set(found.host.blocked) == {int(found.host.lane[0])}
    assert found.host.waits.tolist() == []
    assert {action: len(found.host.doing[action]) for action in ACTIONS if action != "launch"} == (
        dict.fromkeys(("input", "allocation", "sync", "copy"), 0)
    )


def test_the_watchdog_is_no_reason_for_a_gap() -> None:
    """The next kernel is launched late, by a thread that was not blocked."""
    before = Gpu(1_000 * US, 10 * US, correlation=1)
    late = Gpu(1_300 * US, 10 * US, correlation=2)
    rows = (before, late, comm(1_000 * US, 200 * US, launched=1), _launch(2, 1_290 * US))
    queries = [_query(900 * US + n * 20 * US, thread=9) for n in range(30)]
    own = [_query(900 * US + n * 20 * US, thread=1) for n in range(18)]
    causes = [
        analysis(*rows, _launch(1, 1), *calls).causes.cause.tolist() for calls in (queries, own)
    ]
    assert causes[0] != causes[1]
    assert causes[0] == [2]
    assert causes[1] == [3]


def test_input_may_be_loaded_by_any_thread() -> None:
    found = _analysed(annotation("enumerate(DataLoader)#__next__", 50 * US, 9 * US, thread=5))
    assert found.host.doing["input"].total == 9 * US


def test_a_call_inside_another_is_part_of_it() -> None:
    outer = _call("hipMemcpyWithStream", 50 * US, 100 * US, "launch")
    inner = _call("hipStreamSynchronize", 60 * US, 20 * US, "sync")
    found = _analysed(outer, inner)
    assert _blocked(found) == [("hipMemcpyWithStream", 50 * US, 150 * US)]
    host, shift = found.host, int(found.timeline.shift_ns[0])
    name, action = _at(host, int(host.lane[0]), 100 * US + shift)
    assert (host.names[name], ACTIONS[action]) == ("hipMemcpyWithStream", COPY)


@pytest.mark.parametrize(
    ("time", "is_blocked"), [(49, False), (50, True), (75, True), (100, True), (101, False)]
)
def test_what_blocks_a_thread_at_a_time(time: int, is_blocked: bool) -> None:
    found = _analysed(_call("hipDeviceSynchronize", 50 * US, 50 * US, "sync"))
    at = time * US + int(found.timeline.shift_ns[0])
    assert (_at(found.host, int(found.host.lane[0]), at)[0] >= 0) == is_blocked


def test_waits_are_counted_after_the_begin_and_until_the_end() -> None:
    rows = [_call("hipStreamWaitEvent", time * US, US) for time in (10, 20, 30)]
    found = _analysed(*rows)
    shift = int(found.timeline.shift_ns[0])
    times = np.array([0, 10, 20, 30, 40]) * US + shift
    ends = np.full(5, 30 * US + shift)
    assert found.host.waits_between(times, ends).tolist() == [3, 2, 1, 0, 0]


def test_what_one_host_does_is_apart_from_what_the_next_did_before_its_device() -> None:
    """Ranks lie side by side on the axis: with room for what hosts do while nothing runs."""
    early = [_call("hipDeviceSynchronize", 2 * US, 900 * US, "sync"), _launch(1, 1)]
    after = [_call("hipDeviceSynchronize", 1_100 * US, 80_000 * US, "sync"), _launch(1, 1)]
    ranks = [
        reading(_kernel(1), *rows, rank=rank, file=f"{rank}")
        for rank, rows in enumerate((after, early, after, early))
    ]
    found = analyse(traces(ranks))
    spans = found.host.doing["sync"]
    assert len(spans) == 4
    first = found.timeline.first_ns + found.timeline.shift_ns
    last = found.timeline.last_ns + found.timeline.shift_ns
    assert (first[1:] > last[:-1]).all()
    assert (spans.starts[[0, 2]] >= last[[0, 2]]).all()
    assert (spans.ends[[0, 2]] < spans.starts[[1, 3]]).all()
    assert (spans.ends[[1, 3]] <= first[[1, 3]]).all()


def test_traces_without_rows_of_the_host() -> None:
    for rows in ([Gpu(1, 5)], [Gpu(1, 5), comm(3, 5)], [Gpu(1, 5), step(0, 1, 3)]):
        found = analysis(*rows)
        assert set(found.host.lane.tolist()) == {-1}
        assert found.host.blocked == {}
        name, action = blocking_call_at(found.host, found.host.lane, found.host.launch)
        assert set(name.tolist()) == {-1}
        assert set(action.tolist()) == {-1}
