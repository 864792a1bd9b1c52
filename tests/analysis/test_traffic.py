"""Who sends how much to whom in all_to_all."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from commscope.analysis.communicators import Communicator, Communicators
from commscope.analysis.traffic import traffic_table

_GROUP = Communicators((Communicator("ep", None, (2, 5), 2, by_stream=False),), [], [])  # type: ignore[arg-type]
_SCHEMA = pa.schema(
    [
        ("rank", pa.int64()), ("communicator", pa.int64()), ("bytes", pa.int64()),
        ("members", pa.list_(pa.int32())), ("send_sizes", pa.list_(pa.int64())),
        ("receive_sizes", pa.list_(pa.int64())),
    ]
)  # fmt: skip


def _traffic(*calls: dict[str, Any]) -> dict[tuple[int, int], tuple[int, int]]:
    rows = [{"communicator": 0, "members": [2, 5], **call} for call in calls]
    table = traffic_table(pa.Table.from_pylist(rows, schema=_SCHEMA), _GROUP)
    return {(r["sender"], r["receiver"]): (r["calls"], r["bytes"]) for r in table.to_pylist()}


def test_both_ranks_tell_what_they_send() -> None:
    """Rank 2 sends 40 rows of 16 bytes, rank 5 sends 10; a row of a tensor has several elements."""
    two = {"rank": 2, "bytes": 640, "send_sizes": [10, 30], "receive_sizes": [10, 4]}
    five = {"rank": 5, "bytes": 160, "send_sizes": [4, 6], "receive_sizes": [30, 6]}
    once = {(2, 2): (1, 160), (2, 5): (1, 480), (5, 2): (1, 64), (5, 5): (1, 96)}
    assert _traffic(two, five) == once
    assert _traffic(two, five, two)[2, 5] == (2, 960)


def test_the_receiver_tells_what_a_rank_without_a_file_sends() -> None:
    two = {"rank": 2, "bytes": 640, "send_sizes": [10, 30], "receive_sizes": [10, 4]}
    assert _traffic(two) == {(2, 2): (1, 160), (2, 5): (1, 480), (5, 2): (1, 64)}


def test_members_are_those_of_the_communicator_where_the_call_does_not_tell() -> None:
    call = {"rank": 2, "bytes": 8, "send_sizes": [1, 1], "receive_sizes": None, "members": None}
    assert _traffic(call) == {(2, 2): (1, 4), (2, 5): (1, 4)}


def test_what_cannot_be_told_is_left_out() -> None:
    even = {"rank": 2, "bytes": 640, "send_sizes": None, "receive_sizes": None}
    unsized = {"rank": 2, "bytes": None, "send_sizes": [1, 2], "receive_sizes": None}
    nothing = {"rank": 2, "bytes": 640, "send_sizes": [0, 0], "receive_sizes": [0, 0]}
    assert _traffic(even, unsized, nothing) == {}
