"""Instances: who waited how long for whom, and what is left out for which reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matched import Op, match_ops

from commscope.analysis.instances import Matching
from commscope.columns import NONE

SECOND = 10**9
REASONS = (
    "partner outside the files", "operations differ", "members do not overlap in time",
    "no clear order", "peer not known",
)  # fmt: skip


def _left_out(matching: Matching) -> dict[str, int]:
    assert set(matching.left_out) == set(REASONS)
    assert sum(matching.left_out.values()) == (matching.instance < 0).sum()
    return {reason: count for reason, count in matching.left_out.items() if count}


def test_waits_and_transfers_of_a_synchronising_operation() -> None:
    found = match_ops([Op(0, 0, 100_000), Op(1, 60_000, 101_000), Op(2, 10_000, 99_000)])
    assert found.instance.tolist() == [0, 0, 0]
    assert found.wait_ns.tolist() == [60_000, 0, 50_000]
    assert found.transfer_ns.tolist() == [40_000, 41_000, 39_000]
    assert (found.straggler[0], found.skew_ns[0], found.members[0]) == (1, 60_000, 3)
    assert (found.last_arrival_ns[0], found.transfer_of_ns[0]) == (60_000, 39_000)
    assert _left_out(found) == {}


def test_who_ends_a_broadcast_before_the_last_arrival_did_not_wait() -> None:
    ops = [Op(0, 0, 20_000), Op(1, 60_000, 90_000), Op(2, 5_000, 91_000)]
    found = match_ops([replace(op, op="broadcast", seq=4) for op in ops])
    assert found.wait_ns.tolist() == [0, 0, 55_000]
    assert found.transfer_of_ns.tolist() == [30_000]
    assert found.straggler.tolist() == [1]


def test_of_equal_arrivals_the_lowest_rank_is_called_the_last() -> None:
    assert match_ops([Op(0, 5, 100), Op(1, 5, 100)]).straggler.tolist() == [0]


def test_a_member_that_is_not_in_the_files() -> None:
    found = match_ops([Op(0, 0, 100, group_size=3), Op(1, 0, 100, group_size=3)])
    assert _left_out(found) == {"partner outside the files": 2}
    assert _left_out(match_ops([Op(0, 0, 100)])) == {"partner outside the files": 1}


def test_operations_that_differ() -> None:
    found = match_ops([Op(0, 0, 100, seq=1), Op(1, 0, 100, seq=1, bytes=2048)])
    assert _left_out(found) == {"operations differ": 2}
    unknown = match_ops([Op(0, 0, 100, seq=1), Op(1, 0, 100, seq=1, bytes=None, op=None)])
    assert unknown.instance.tolist() == [0, 0]


def test_members_that_cannot_be_one_operation() -> None:
    """Equal numbers, but rank 1 ended the middle one long before rank 0 began it."""
    times = [number * 10**6 for number in range(9)]
    ops = [Op(rank, at, at + 50_000, seq=at) for at in times for rank in (0, 1)]
    ops[8] = Op(0, 4_400_000, 4_450_000, seq=4 * 10**6)
    found = match_ops(ops)
    assert np.flatnonzero(found.instance < 0).tolist() == [8, 9]
    assert _left_out(found) == {"members do not overlap in time": 2}


def test_messages_are_matched_by_sender_and_receiver() -> None:
    def message(rank: int, peer: int, op: str, start: int, end: int) -> Op:
        return Op(rank, start, end, comm="pp", op=op, peer=peer, members=(0, 1, 2))

    ops = [
        message(0, 1, "send", 0, 30_000), message(0, 1, "send", 40_000, 70_000),
        message(1, 2, "send", 10_000, 80_000), message(1, 0, "recv", 5_000, 30_000),
        message(1, 0, "recv", 31_000, 70_000), message(2, 1, "recv", 60_000, 81_000),
    ]  # fmt: skip
    found = match_ops(ops)
    pairs = {tuple(np.flatnonzero(found.instance == number)) for number in range(3)}
    assert pairs == {(0, 3), (1, 4), (2, 5)}
    assert found.members.tolist() == [2, 2, 2]
    assert found.wait_ns.tolist() == [5_000, 0, 50_000, 0, 9_000, 0]


def test_a_message_is_not_received_before_it_is_sent() -> None:
    def message(rank: int, op: str, start: int, end: int) -> Op:
        return Op(rank, start, end, comm="pp", op=op, members=(0, 1))

    times = [(0, 10_000), (500_000, 510_000), (800_000, 810_000)]
    ops = [message(0, "send", *time) for time in times]
    ops += [message(1, "recv", *time) for time in times]
    assert (match_ops(ops).instance >= 0).all()
    ops[1] = replace(ops[1], start=560_000, end=590_000)
    assert _left_out(match_ops(ops)) == {"members do not overlap in time": 2}


def test_messages_without_a_peer_are_left_out_unless_the_group_has_only_two() -> None:
    ops = [
        Op(0, 0, 100, comm="pp", op="send", members=(0, 1, 2)),
        Op(1, 0, 100, comm="pp", op="recv", members=(0, 1, 2)),
    ]
    assert _left_out(match_ops(ops)) == {"peer not known": 2}
    pair = [replace(op, members=(0, 1)) for op in ops]
    assert match_ops(pair).instance.tolist() == [0, 0]


def test_grouped_messages_are_tried_as_one_operation_of_all_members() -> None:
    together = [Op(rank, rank * 1_000, 50_000, op="send_recv", comm=None) for rank in range(4)]
    assert match_ops(together).instance.tolist() == [0] * 4
    apart = [
        Op(rank, rank * 70_000, rank * 70_000 + 50_000, op="send_recv", comm=None)
        for rank in range(2)
    ]
    assert (match_ops(apart).instance < 0).all()


def test_one_member_on_an_unknown_clock_leaves_all_out() -> None:
    ops = [Op(rank, 0, 100) for rank in range(3)]
    found = match_ops(ops, hosts=["a", "a", "b"])
    assert _left_out(found) == {"no clear order": 3}


def test_numbers_and_clocks_hours_apart() -> None:
    later = 6 * 3600 * SECOND
    ends = np.cumsum([0, 10**6, 3 * 10**6, 10**6, 7 * 10**6])
    ops = [Op(0, int(e) - 80_000, int(e), seq=n) for n, e in enumerate(ends)]
    ops += [Op(1, int(e) - 30_000 + later, int(e) + later, seq=n) for n, e in enumerate(ends)]
    found = match_ops(ops)
    assert found.clocks.corrections[1].offset_ns == later
    assert found.wait_ns.tolist() == [50_000] * 5 + [0] * 5
    assert found.arrival_ns[5:].tolist() == (ends - 30_000).tolist()


@pytest.mark.parametrize("ops", [[], [Op(0, 0, 1, op="send")]])
def test_little_or_nothing(ops: list[Op]) -> None:
    found = match_ops(ops)
    assert len(found.first_row) == 0
    assert (found.transfer_of_ns != NONE).all()
