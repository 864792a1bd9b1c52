"""Who sends how much to whom in all_to_all with uneven splits (experts, embeddings)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from commscope.analysis.communicators import Communicators

_NEEDED = ("rank", "communicator", "bytes", "members", "send_sizes", "receive_sizes")


def traffic_table(calls: pa.Table, communicators: Communicators) -> pa.Table:
    """One row a communicator (an index), sender and receiver: ``calls`` and ``bytes`` sent.

    From the split sizes of the sender, or where its file is not here, of the receiver. Splits
    count rows of a tensor: a row's bytes are the size of what the rank sends over its rows. What
    has no splits is even, and not in the table.
    """
    sent: dict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0])
    received: dict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0])
    for call in _uneven(calls):
        row_bytes = call["bytes"] / sum(call["send_sizes"])
        number, rank = call["communicator"], call["rank"]
        members = call["members"] or communicators.found[number].members
        for peer, rows in zip(members, call["send_sizes"]):
            _add(sent[number, rank, peer], round(rows * row_bytes))
        for peer, rows in zip(members, call["receive_sizes"] or ()):
            _add(received[number, peer, rank], round(rows * row_bytes))
    for key, told in received.items():
        sent.setdefault(key, told)
    rows = [
        {"communicator": c, "sender": s, "receiver": r, "calls": count, "bytes": total}
        for (c, s, r), (count, total) in sorted(sent.items())
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


_SCHEMA = pa.schema(
    [(name, pa.int64()) for name in ("communicator", "sender", "receiver", "calls", "bytes")]
)


def _uneven(calls: pa.Table) -> Iterator[dict[str, Any]]:
    """The calls that tell their splits and their size."""
    told = pc.and_(calls.column("send_sizes").is_valid(), calls.column("bytes").is_valid())
    for call in calls.select(_NEEDED).filter(told).to_pylist():
        if sum(call["send_sizes"]) > 0:
            yield call


def _add(pair: list[int], size_bytes: int) -> None:
    pair[0] += 1
    pair[1] += size_bytes
