"""What the order of logged calls tells of kernels, and where it must not be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from called import PID, SIZES, Called, log_of
from log_samples import read_text
from tables import ALL_REDUCE, GENERIC, Gpu, Known, Row, lost, reading, traces

from commscope.normalize.named_by_log import name_by_log
from commscope.parsers.base import Health
from commscope.trace import Trace

GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
#: Two steps of three calls, each of another size.
STEP = [Called("AllReduce", 1024 << place) for place in range(3)]


def kernels(*names: str, streams: Sequence[int] = (1,)) -> list[Row]:
    """Kernels launched one after the other."""
    return [
        Gpu(
            1000 * number + 500,
            100,
            name,
            launched=1000 * number,
            stream=streams[number % len(streams)],
        )
        for number, name in enumerate(names, 1)
    ]


def named(rows: Sequence[Row], *texts: str, **facts: Any) -> list[dict[str, Any]]:
    """COLLECTIVES of a process with this log."""
    return name(rows, *texts, **facts).collectives.to_pylist()


def name(rows: Sequence[Row], *texts: str, **facts: Any) -> Trace:
    told = {"pid": PID, "is_rocm": False, **facts}
    trace = traces([reading(*rows, **told)])
    return name_by_log(trace, read_text(*(text.encode() for text in texts)).tables)


def sizes(rows: Sequence[Row], calls: Sequence[Called], **facts: Any) -> list[int | None]:
    return [row["bytes"] for row in named(rows, log_of(calls), **facts)]


def test_as_many_kernels_as_calls_are_those_calls() -> None:
    calls = [Called("AllReduce", opcount=4), Called("AllGather", opcount=5)]
    first, second = named(kernels(GENERIC, GENERIC), log_of(calls))
    assert (first["op"], first["bytes"], first["dtype"]) == ("all_reduce", 4096, "Float")
    assert (second["op"], second["bytes"], second["seq"]) == ("all_gather", 8192, 5)
    assert (first["comm"], first["group_size"], first["source"]) == ("0x1a", 2, "log")


def test_one_of_several_is_named_only_where_all_that_fit_are_alike() -> None:
    assert sizes(kernels(ALL_REDUCE), STEP) == [None]
    assert sizes(kernels(ALL_REDUCE), [STEP[0]] * 5) == [4096]
    (row,) = named(kernels(GENERIC), log_of(STEP))
    assert (row["op"], row["comm"], row["seq"], row["bytes"]) == ("all_reduce", "0x1a", None, None)


def test_a_name_that_tells_the_operation_says_where_in_a_step_one_is() -> None:
    step = [Called("AllGather"), *STEP]
    shown = kernels(ALL_REDUCE, ALL_REDUCE, ALL_REDUCE, GATHER, ALL_REDUCE)
    assert sizes(shown, step * 4) == [4096, 8192, 16384, 8192, 4096]
    assert [row["seq"] for row in named(shown, log_of(step * 4))] == [None] * 5


def test_what_metadata_tells_of_one_tells_of_the_others() -> None:
    rows = [*kernels(*[GENERIC] * 3), Known(1, "all_reduce", "dp", 8192)]
    found = named(rows, log_of(STEP * 4))
    assert [row["bytes"] for row in found] == [4096, 8192, 16384]
    assert [row["comm"] for row in found] == ["dp"] * 3
    assert [row["source"] for row in found] == ["log", "args", "log"]


def test_what_contradicts_the_log_is_not_named() -> None:
    assert sizes(kernels(GATHER, GATHER), STEP) == [None, None]
    assert sizes(kernels(*[ALL_REDUCE] * 4), STEP) == [None] * 4


def test_streams_tell_communicators_apart() -> None:
    calls = [Called("AllReduce"), Called("AllReduce", 2048, comm=1, stream=4)] * 3
    found = named(kernels(*[GENERIC] * 5, streams=(1, 2)), log_of(calls[1:]))
    assert [row["bytes"] for row in found] == [8192, 4096, 8192, 4096, 8192]
    assert [row["comm"] for row in found] == ["0x2a", "0x1a"] * 2 + ["0x2a"]


def test_a_group_whose_kernels_are_not_known_leaves_the_other_streams() -> None:
    group = [Called("Send", root=1, stream=4), Called("Recv", root=1, stream=4)]
    shown = kernels(GENERIC, "ncclDevKernel_SendRecv", GENERIC, streams=(1, 2))
    assert sizes(shown, [STEP[0], *group, STEP[0]]) == [4096, None, 4096]


def test_queues_that_streams_may_share_are_not_taken_for_streams() -> None:
    group = [Called("Send", root=1, stream=4), Called("Recv", root=1, stream=4)]
    shown = kernels(GENERIC, GENERIC, GENERIC)
    assert sizes(shown, [STEP[0], *group, STEP[0]], is_rocm=True) == [None] * 3


def test_where_a_kernel_is_missing_the_parts_are_looked_for_each() -> None:
    shown = kernels(GENERIC, GENERIC, GENERIC)
    assert sizes(shown, STEP) == [4096, 8192, 16384]
    with_hole = [shown[0], lost(2000), shown[2]]
    assert sizes(with_hole, STEP) == [None, None]
    assert sizes(with_hole, [STEP[0]] * 3) == [4096, 4096]


def test_files_of_which_events_were_lost_are_left() -> None:
    health = Health(events_read=10, events_lost=1)
    assert sizes(kernels(*[GENERIC] * 3), STEP, health=health) == [None] * 3


def test_replays_of_graphs_and_kernels_of_others_are_in_no_log() -> None:
    other = Gpu(9_500, 100, "void vllm::cross_device_reduce_2stage<c10::Half, 8>", launched=9_000)
    assert sizes([*kernels(*[GENERIC] * 3), other], STEP) == [4096, 8192, 16384, None]


def test_the_order_of_lines_in_two_files_is_not_known() -> None:
    first, second = log_of(STEP[:1]), log_of(STEP[1:])
    found = named(kernels(*[GENERIC] * 3), first, second)
    assert [row["bytes"] for row in found] == [None] * 3


def test_logs_of_another_process_name_nothing() -> None:
    found = named(kernels(*[GENERIC] * 3), log_of(STEP), pid=7)
    assert [row["bytes"] for row in found] == [None] * 3


def test_members_are_known_where_the_trace_holds_them_all() -> None:
    texts = [log_of(STEP, (2,), rank).replace(f":{PID}:", f":{PID + rank}:") for rank in (0, 1)]
    readings = [
        replace(
            reading(
                *kernels(*[GENERIC] * 3), pid=PID + rank, rank=rank, is_rocm=False, file=f"{rank}"
            )
        )
        for rank in (0, 1)
    ]
    found = name_by_log(traces(readings), read_text(*(text.encode() for text in texts)).tables)
    assert found.collectives.column("members").to_pylist() == [[0, 1]] * 6
    assert set(found.collectives.column("comm").to_pylist()) == {"0x1a"}


@pytest.mark.parametrize("calls", [[], [Called("AllReduce", comm=2)]])
def test_a_log_without_kernels_names_none(calls: list[Called]) -> None:
    assert sizes(kernels(ALL_REDUCE), calls) == [None]
    assert len(SIZES) > 2
