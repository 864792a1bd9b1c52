"""Which collectives of the ranks belong together, and the clocks on which they do.

Both depend on each other: clocks come from matched ends, and where clocks are known, what ends
together is matched. What is clear without clocks comes first and gives the first clocks; then all
is matched once more on them, until no further host is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from commscope.analysis.alignment import (
    SAME_CLOCK_NS,
    Lane,
    Pairing,
    find_pairing,
    is_refuted,
    scatter,
    voting,
)
from commscope.analysis.channels import Channel, Rows, lane_of
from commscope.analysis.clocks import Clocks, Ends, find_clocks
from commscope.analysis.guesses import is_joint
from commscope.columns import NONE, Bool, Int64

#: Each round connects at least two parts of the job, or is the last.
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Correspondence:
    """``partner`` is the row of the reference rank that a row belongs to (itself there).

    ``NONE``: it has none; ``unclear`` is how many of these are in channels in which some rank
    could not be compared with the reference.
    """

    clocks: Clocks
    partner: Int64
    unclear: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """A rank of a channel beside its reference."""

    channel: Channel
    rank: int
    is_guess: bool  #: nothing but streams says that they are of one communicator

    @property
    def ranks(self) -> list[int]:
        """The reference and the rank."""
        return [self.channel.reference, self.rank]

    @property
    def rows(self) -> tuple[Int64, Int64]:
        """Those of the reference, and those of the rank."""
        return self.channel.lanes[self.channel.reference], self.channel.lanes[self.rank]


def correspond(
    rows: Rows, channels: Sequence[Channel], hosts: Sequence[str | None], is_guess: Bool
) -> Correspondence:
    """The partners of all rows; ``hosts`` are the names of the ranks' hosts where known.

    ``is_guess`` are the rows of which nothing but the stream tells the communicator.
    """
    pairs = _pairs(channels, is_guess)
    search = _Search(rows, hosts, _guessed_lanes(pairs))
    found = [search.unaligned(pair) for pair in pairs]
    clocks = search.clocks(pairs, found)
    for _ in range(_ROUNDS):
        aligned = replace(search, rows=_on_common_clock(rows, clocks))
        found = [
            aligned.aligned(pair, clocks) if clocks.share(pair.ranks) else old
            for pair, old in zip(pairs, found)
        ]
        previous, clocks = clocks, search.clocks(pairs, found)
        if np.array_equal(previous.part, clocks.part):
            break
    return Correspondence(clocks, *_partners(rows, channels, pairs, found))


def _pairs(channels: Sequence[Channel], is_guess: Bool) -> list[_Pair]:
    return [
        _Pair(channel, rank, bool(is_guess[lane[0]]))
        for channel in channels
        for rank, lane in channel.lanes.items()
        if rank != channel.reference
    ]


def _guessed_lanes(pairs: Sequence[_Pair]) -> dict[int, list[Int64]]:
    """The lanes of each rank that are in guessed channels."""
    channels = {id(pair.channel): pair.channel for pair in pairs if pair.is_guess}
    found: dict[int, list[Int64]] = {}
    for channel in channels.values():
        for rank, lane in channel.lanes.items():
            found.setdefault(rank, []).append(lane)
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    rows: Rows
    hosts: Sequence[str | None]
    guessed: Mapping[int, list[Int64]]  #: see ``_guessed_lanes``

    def unaligned(self, pair: _Pair) -> Pairing | None:
        """What is clear without the clocks of hosts."""
        names = [self.hosts[rank] for rank in pair.ranks]
        if None not in names:
            return self._pairing(pair, SAME_CLOCK_NS if names[0] == names[1] else None)
        found = self._pairing(pair, SAME_CLOCK_NS)
        # Clocks that differ by about the time of some operations could pass for one.
        if found is None or is_refuted(*self._lanes(*pair.rows), found):
            return self._pairing(pair, None)
        return found

    def aligned(self, pair: _Pair, clocks: Clocks) -> Pairing | None:
        """What is clear on the common clock, which the rows are on already."""
        return self._pairing(pair, SAME_CLOCK_NS + int(clocks.error_ns[pair.ranks].sum()))

    def _pairing(self, pair: _Pair, tolerance_ns: int | None) -> Pairing | None:
        found = self._between(*pair.rows, pair.is_guess, tolerance_ns)
        if found is None or not pair.is_guess:
            return found
        return None if self._has_rival(pair, tolerance_ns) else found

    def _between(
        self, a: Int64, b: Int64, is_guess: bool, tolerance_ns: int | None
    ) -> Pairing | None:
        one, other = self._lanes(a, b)
        found = find_pairing(one, other, tolerance_ns)
        if found is None or (is_guess and not is_joint(one, other, found, tolerance_ns)):
            return None
        return found

    def _has_rival(self, pair: _Pair, tolerance_ns: int | None) -> bool:
        """Whether one of the two lanes also fits another one: streams are numbered by chance."""
        a, b = pair.rows
        first, second = (self.guessed[rank] for rank in pair.ranks)
        rivals = [(a, lane) for lane in second if lane is not b]
        rivals += [(lane, b) for lane in first if lane is not a]
        return any(self._between(*rival, True, tolerance_ns) is not None for rival in rivals)

    def _lanes(self, a: Int64, b: Int64) -> tuple[Lane, Lane]:
        return lane_of(self.rows, a), lane_of(self.rows, b)

    def clocks(self, pairs: Sequence[_Pair], found: Sequence[Pairing | None]) -> Clocks:
        """The clocks that follow from pairings."""
        ends = [
            ends
            for pair, pairing in zip(pairs, found)
            if pairing is not None and (ends := self._ends(pair, pairing)) is not None
        ]
        return find_clocks(len(self.hosts), ends, self.hosts)

    def _ends(self, pair: _Pair, pairing: Pairing) -> Ends | None:
        """The ends that tell clocks; None where they are not together under any offset."""
        one, other = self._lanes(*pair.rows)
        shared = voting(one, other, pairing)
        a, b = one.end[pairing.one[shared]], other.end[pairing.other[shared]]
        if len(a) > 1 and scatter(b - a) > SAME_CLOCK_NS:
            return None
        firm = bool(one.synchronises[pairing.one[shared]].all())
        return Ends(pair.channel.reference, pair.rank, a, b, firm)


def _on_common_clock(rows: Rows, clocks: Clocks) -> Rows:
    start, end = (clocks.aligned(rows.rank, times) for times in (rows.start, rows.end))
    return replace(rows, start=start, end=end)


def _partners(
    rows: Rows,
    channels: Sequence[Channel],
    pairs: Sequence[_Pair],
    found: Sequence[Pairing | None],
) -> tuple[Int64, int]:
    partner = np.full(len(rows.rank), NONE)
    unclear = np.zeros(len(rows.rank), np.bool_)
    for channel in channels:
        own = channel.lanes[channel.reference]
        partner[own] = own
    for pair, pairing in zip(pairs, found):
        one, other = pair.rows
        if pairing is None:
            unclear[np.concatenate(list(pair.channel.lanes.values()))] = True
        else:
            partner[other[pairing.other]] = one[pairing.one]
    partner[unclear] = NONE
    return partner, int(unclear.sum())
