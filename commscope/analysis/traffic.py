"""Who sends how much to whom in all_to_all with uneven splits (experts, embeddings)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from commscope.analysis.communicators import Communicators
from commscope.analysis.groups import group_rows, group_sums, rows_among
from commscope.columns import Bool, Int64, int64


def traffic_table(calls: pa.Table, communicators: Communicators) -> pa.Table:
    """One row a communicator (an index), sender and receiver: ``calls`` and ``bytes`` sent.

    From the split sizes of the sender, or where its file is not here, of the receiver. Splits
    count rows of a tensor: a row's bytes are the size of what the rank sends over its rows. What
    has no splits is even, and not in the table.
    """
    calls = calls.filter(
        pc.and_(calls.column("send_sizes").is_valid(), calls.column("bytes").is_valid())
    )
    number, rank, size = (int64(calls, name) for name in ("communicator", "rank", "bytes"))
    sends, receives = (
        _Splits.of(calls, name, communicators) for name in ("send_sizes", "receive_sizes")
    )
    # As floats: what a damaged trace tells may exceed 64 bits.
    total = np.bincount(sends.call, sends.rows, calls.num_rows)
    row_bytes = size / np.maximum(total, 1)
    sends, receives = (splits.only(total > 0) for splits in (sends, receives))
    sent = [number[sends.call], rank[sends.call], sends.peer]
    received = [number[receives.call], receives.peer, rank[receives.call]]
    more = ~rows_among(received, sent)
    keys = [np.concatenate((own, others[more])) for own, others in zip(sent, received)]
    moved = np.concatenate((sends.bytes(row_bytes), receives.bytes(row_bytes)[more]))
    group, first = group_rows(keys)
    columns = (*(key[first] for key in keys), np.bincount(group, minlength=len(first)))
    return pa.table([*columns, group_sums(group, moved, len(first))], names=_COLUMNS)


_COLUMNS = ["communicator", "sender", "receiver", "calls", "bytes"]
#: More bytes than this are no number that a trace can mean.
_MOST = 2.0**62


@dataclass(frozen=True, slots=True)
class _Splits:
    """Split sizes one by one: of which call (a row), for which rank (-1: not known), how many."""

    call: Int64
    peer: Int64
    rows: Int64

    @classmethod
    def of(cls, calls: pa.Table, column: str, communicators: Communicators) -> _Splits:
        """Those of a column; the members of a call, in their order, are the peers."""
        sizes = calls.column(column).combine_chunks()
        call = pc.list_parent_indices(sizes).to_numpy().astype(np.int64)
        length = _lengths(sizes)
        place = np.arange(len(call)) - (np.cumsum(length) - length)[call]
        rows = pc.list_flatten(sizes).fill_null(0).to_numpy()
        return cls(call, _members_at(calls, communicators, call, place), rows)

    def only(self, calls: Bool) -> _Splits:
        """Those of some of the calls, and for ranks that are known."""
        kept = calls[self.call] & (self.peer >= 0)
        return _Splits(self.call[kept], self.peer[kept], self.rows[kept])

    def bytes(self, row_bytes: npt.NDArray[np.float64]) -> Int64:
        """How many bytes each is, by the bytes of a row in each call."""
        return np.minimum(np.rint(self.rows * row_bytes[self.call]), _MOST).astype(np.int64)


def _members_at(calls: pa.Table, communicators: Communicators, call: Int64, place: Int64) -> Int64:
    """The member at a place in each call: its own list tells, or its communicator; -1: none."""
    own = calls.column("members").combine_chunks()
    groups = [found.members for found in communicators.found]
    of_call, of_group = _lengths(own), np.array([len(group) for group in groups], np.int64)
    members = np.concatenate(
        (pc.list_flatten(own).to_numpy(), *(np.array(group, np.int64) for group in groups))
    )
    lengths = np.concatenate((of_call, of_group))
    begins = np.cumsum(lengths) - lengths
    group = len(of_call) + int64(calls, "communicator")
    lists = np.where(of_call > 0, np.arange(len(of_call)), group)[call]
    is_there = place < lengths[lists]
    peer = np.full(len(call), -1)
    peer[is_there] = members[(begins[lists] + place)[is_there]]
    return peer


def _lengths(lists: pa.Array) -> Int64:
    return np.asarray(pc.list_value_length(lists).fill_null(0).to_numpy(), np.int64)
