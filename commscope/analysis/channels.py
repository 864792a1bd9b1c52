"""In which sequence each collective stands: on a communicator, or of messages between two ranks.

Only the order within such a channel is the same on all its members: messages of several pairs on
one communicator may begin in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.analysis.alignment import Lane
from commscope.analysis.communicators import Communicators
from commscope.analysis.groups import group_rows
from commscope.columns import NONE, Bool, Int64, codes, int64, runs

#: Operations that hold all members until the last has arrived. Grouped messages without peers are
#: taken for one of them: the check in time tells whether that is right.
SYNCHRONISING = frozenset(
    {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier", "send_recv"}
)


@dataclass(frozen=True, slots=True)
class Rows:
    """What matching needs of each collective; the rank is an index, times are on its own clock.

    ``kind`` is equal for what may be the same operation, -1 where that is not known.
    """

    rank: Int64
    start: Int64
    end: Int64
    kind: Int64
    synchronises: Bool
    seq: Int64
    sends: Bool
    receives: Bool
    source: Int64  #: number of the rank that sends the message; ``NONE``: not known, or no message
    target: Int64

    @property
    def peerless(self) -> Bool:
        """Messages of which it is not known with whom."""
        return np.asarray((self.sends | self.receives) & (self.source == NONE))


@dataclass(frozen=True, slots=True)
class Channel:
    """Rows of each rank (index) in order of start; ``size`` members belong to an operation.

    ``reference`` is the rank with most operations: the others are compared with it.
    """

    lanes: dict[int, Int64]
    size: int
    reference: int


def rows_of(times: pa.Table, ranks: Int64, communicators: Communicators) -> Rows:
    """The collectives (see ``overlap.collective_times``) of ranks with these numbers."""
    op, words = codes(times, "op")
    sends, receives = (_is(op, words, {word}) for word in ("send", "recv"))
    size = int64(times, "bytes")
    kind, _ = group_rows([np.where(sends | receives, len(words), op), size])
    start, own = int64(times, "start_ns"), int64(times, "rank")
    peer = _peers(times, own, communicators)
    known = (sends | receives) & (peer != NONE)
    return Rows(
        rank=np.searchsorted(ranks, own),
        start=start,
        end=start + int64(times, "dur_ns"),
        kind=np.where((op >= 0) & (size != NONE), kind, -1),
        synchronises=_is(op, words, SYNCHRONISING) | (op < 0),
        seq=np.where(sends | receives, NONE, int64(times, "seq")),
        sends=sends,
        receives=receives,
        source=np.where(known, np.where(sends, own, peer), NONE),
        target=np.where(known, np.where(sends, peer, own), NONE),
    )


def _is(op: Int64, words: list[str], wanted: set[str] | frozenset[str]) -> Bool:
    return np.array([word in wanted for word in words] + [False])[op]


def lane_of(rows: Rows, chosen: Int64) -> Lane:
    """Some rows as a lane."""
    return Lane(
        rows.start[chosen],
        rows.end[chosen],
        rows.kind[chosen],
        rows.synchronises[chosen],
        rows.seq[chosen],
    )


def channels_of(rows: Rows, communicators: Communicators) -> list[Channel]:
    """The channels with more than one rank; messages whose peer is not known are in none."""
    placed = np.flatnonzero(~rows.peerless)
    keys = communicators.of_row, rows.source, rows.target
    group, _ = group_rows([key[placed] for key in keys])
    order = np.lexsort((rows.start[placed], rows.rank[placed], group))
    sizes = [c.size for c in communicators.found]
    found = []
    for of_group in runs(group[order]):
        chosen = placed[order[of_group]]
        lanes = _lanes(rows.rank, chosen)
        if len(lanes) > 1:
            row = int(chosen[0])
            size = sizes[int(communicators.of_row[row])] if rows.source[row] == NONE else 2
            found.append(Channel(lanes, max(size, 2), _longest(lanes)))
    return found


def _longest(lanes: Mapping[int, Int64]) -> int:
    return max(lanes, key=lambda rank: (len(lanes[rank]), -rank))


def _lanes(rank: Int64, chosen: Int64) -> dict[int, Int64]:
    """Rows, which are sorted by rank, of each rank."""
    lanes = (chosen[run] for run in runs(rank[chosen]))
    return {int(rank[lane[0]]): lane for lane in lanes}


def _peers(times: pa.Table, own: Int64, communicators: Communicators) -> Int64:
    """The other rank of messages: the trace tells it, or the communicator has just one other."""
    other = _only_other(own, communicators)
    peer = int64(times, "peer")
    return np.where(peer == NONE, other, peer)


def _only_other(own: Int64, communicators: Communicators) -> Int64:
    """The other member of communicators that have two."""
    pairs = np.full((len(communicators.found) + 1, 2), NONE)
    for number, found in enumerate(communicators.found):
        if found.size == len(found.members) == 2 and not found.by_stream:
            pairs[number] = found.members
    pair = pairs[communicators.of_row]
    return np.where(pair[:, 0] == own, pair[:, 1], pair[:, 0])
