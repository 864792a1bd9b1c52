"""What kernels logged calls launch: one each, one a group of messages, or none."""

from __future__ import annotations

import pytest
from called import SIZES, Called, log_of
from log_samples import read_text

from commscope.columns import NONE
from commscope.normalize.logged_units import units_of

SEND, RECV = "Send", "Recv"


def units(*calls: Called) -> list[tuple[str, int | None] | None]:
    """Operation and size of each unit; null where it is not sure what kernels it is."""
    found = units_of(read_text(log_of(calls).encode()).tables["CALLS"], SIZES)
    return [
        (found.words[op], None if size == NONE else size) if sure else None
        for op, size, sure in zip(found.op.tolist(), found.bytes.tolist(), found.sure.tolist())
    ]


def test_a_collective_is_a_kernel() -> None:
    assert units(Called("AllReduce"), Called("AllGather")) == [
        ("all_reduce", 4096),
        ("all_gather", 8192),
    ]


def test_nothing_and_one_rank_alone_launch_no_kernel() -> None:
    assert units(Called("AllReduce", 0), Called("AllReduce", comm=2)) == []


def test_a_group_of_messages_by_its_number_is_one_kernel() -> None:
    group = [Called(op, opcount=7, root=1) for op in (SEND, RECV)]
    assert units(*group, Called("AllReduce", opcount=8)) == [
        ("send_recv", 4096),
        ("all_reduce", 4096),
    ]
    assert units(group[0], Called(RECV, 2048, opcount=7, root=1)) == [("send_recv", None)]


@pytest.mark.parametrize("told", ["number", "task"])
def test_messages_with_all_ranks_are_an_all_to_all(told: str) -> None:
    calls = [
        Called(op, root=root, comm=3, opcount=5 if told == "number" else 0,
               task=None if told == "number" else 2 * root + place)
        for root in range(4)
        for place, op in enumerate((SEND, RECV))
    ]  # fmt: skip
    assert units(*calls) == [("all_to_all", 16384)]


def test_without_numbers_nobody_knows_where_a_group_ends() -> None:
    pair = [Called(SEND, root=1), Called(RECV, root=1)]
    assert units(*pair) == [None, None]
    assert units(Called(SEND, root=1)) == [("send", 4096)]


def test_two_messages_to_one_rank_under_one_number_may_be_two_groups() -> None:
    assert units(*[Called(SEND, opcount=1, root=1)] * 2) == [None, None]


def test_how_many_kernels_a_group_of_collectives_takes_is_not_told() -> None:
    assert units(Called("AllReduce", task=0), Called("AllReduce", task=1)) == [None, None]
    assert units(*[Called("AllReduce", opcount=3)] * 2) == [None, None]


def test_messages_of_nothing_are_no_kernel_for_sure() -> None:
    assert units(Called(SEND, 0, root=1)) == [None]


def test_calls_of_another_thread_do_not_end_a_group() -> None:
    first, second = (Called(op, opcount=7, root=1) for op in (SEND, RECV))
    other = Called("AllReduce", comm=1, opcount=1, thread=101)
    assert units(first, other, second) == [("all_reduce", 4096), ("send_recv", 4096)]
