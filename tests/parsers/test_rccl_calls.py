"""Which collective a kernel of RCCL runs, by the calls of RCCL around its launch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from commscope.columns import NONE
from commscope.parsers.device_tables import KERNEL, Activities, Calls
from commscope.parsers.rccl_arguments import Arguments
from commscope.parsers.rccl_calls import collectives_of
from commscope.parsers.words import Words

_RCCL = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"
#: Name, begin, end, correlation; on thread 1 unless a fifth tells another.
Call = tuple[str, int, int, int] | tuple[str, int, int, int, int]


def ops(kernels: Sequence[tuple[int, int]], calls: Sequence[Call], name: str = _RCCL) -> object:
    """The operations by kernel, each of which is given as (begin, correlation)."""
    words = Words()
    count = len(kernels)
    starts = np.array([start for start, _ in kernels], np.int64)
    nothing = np.full(count, NONE)
    activities = Activities(
        kind=np.full(count, KERNEL), name=np.full(count, words[name]), device=nothing * 0,
        stream=nothing, queue=nothing, start_ns=starts, end_ns=starts + 5,
        correlation=np.array([number for _, number in kernels], np.int64),
        bytes=nothing, workgroups=nothing,
    )  # fmt: skip
    columns = np.array([(*call[1:4], call[4] if len(call) > 4 else 1) for call in calls])
    columns = columns.reshape(-1, 4).astype(np.int64)
    made = Calls(
        kind=np.zeros(len(calls), np.int64), name=np.array([words[c[0]] for c in calls], np.int64),
        thread=columns[:, 3], start_ns=columns[:, 0], end_ns=columns[:, 1],
        correlation=columns[:, 2],
    )  # fmt: skip
    table = collectives_of(activities, made, words, Arguments())
    return dict(zip(table.column("event").to_pylist(), table.column("op").to_pylist()))


LAUNCH = ("hipExtLaunchKernel", 15, 16, 7)


@pytest.mark.parametrize(
    ("calls", "op"),
    [
        ([("ncclAllReduce", 10, 20, 1)], "all_reduce"),
        ([("ncclBcast", 10, 20, 1)], "broadcast"),
        ([("ncclAllReduce", 10, 15, 1)], None),  # ended before the launch
        ([("ncclAllReduce", 10, 20, 1, 2)], None),  # on another thread
        ([("ncclCommInitAll", 10, 20, 1)], None),
        ([("ncclGroupStart", 1, 2, 1), ("ncclGroupEnd", 10, 20, 2)], None),
        (
            [
                ("ncclGroupStart", 1, 2, 1),
                ("ncclAllGather", 3, 4, 2),
                ("ncclAllGather", 5, 6, 3),
                ("ncclGroupEnd", 10, 20, 4),
            ],
            "all_gather",
        ),
        (
            [
                ("ncclGroupStart", 1, 2, 1),
                ("ncclAllGather", 3, 4, 2),
                ("ncclReduceScatter", 5, 6, 3),
                ("ncclGroupEnd", 10, 20, 4),
            ],
            None,
        ),
        (
            [
                ("ncclGroupStart", 1, 2, 1),
                ("ncclGroupStart", 2, 3, 1),
                ("ncclSend", 3, 4, 2),
                ("ncclGroupEnd", 4, 5, 4),
                ("ncclRecv", 5, 6, 3),
                ("ncclGroupEnd", 10, 20, 4),
            ],
            "send_recv",
        ),
        ([("ncclReduce", 10, 20, 1), ("ncclAllReduce", 11, 19, 2)], "reduce"),  # inside another
    ],
)
def test_the_call_around_the_launch(calls: list[Call], op: str | None) -> None:
    expected = {} if op is None else {0: op}
    other = ("ncclAllReduce", 500, 501, 99)  # a second call: the order tells nothing
    assert ops([(100, 7)], [LAUNCH, *calls, other]) == expected


def test_the_call_may_be_the_launch_itself() -> None:
    calls = [("ncclAllReduce", 10, 20, 7), ("ncclBroadcast", 30, 40, 8)]
    assert ops([(100, 8), (50, 7)], calls) == {0: "broadcast", 1: "all_reduce"}


def test_the_order_tells_where_launches_do_not() -> None:
    calls = [("ncclAllReduce", 10, 20, 1), ("ncclBroadcast", 30, 40, 2)]
    assert ops([(100, NONE), (50, NONE)], calls) == {0: "broadcast", 1: "all_reduce"}


@pytest.mark.parametrize("kernels", [[(50, NONE)], [(50, NONE), (29, NONE)], []])
def test_an_order_that_cannot_be_tells_nothing(kernels: list[tuple[int, int]]) -> None:
    """One kernel too few, or one that began before its call."""
    calls = [("ncclAllReduce", 10, 20, 1), ("ncclBroadcast", 60, 70, 2)]
    assert ops(kernels, calls) == {}


def test_other_kernels_are_no_collectives() -> None:
    assert ops([(100, 7)], [LAUNCH, ("ncclAllReduce", 10, 20, 1)], "gemm") == {}
