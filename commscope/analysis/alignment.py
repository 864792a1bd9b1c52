"""How the collectives of two ranks correspond: their files begin and end at different operations.

Both ran the same operations in the same order, so they differ by a shift, or by several where a
file lacks some in its middle. All members of a synchronising operation end together. On one clock,
the partner of an operation is therefore the one that ends with it. On two clocks, the differences
of ends are one constant under the right shift, but for slow drift; under a wrong one they scatter
like the lengths of steps. Where two shifts fit alike, as in a job without any jitter, neither is
taken: what the wall clocks of two hosts say cannot be checked, so it does not decide either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.columns import NONE, Bool, Int64

#: Ranks whose raw ends agree this well share a clock (DEFINITIONS 5).
SAME_CLOCK_NS = 100_000
#: On two clocks, differences of ends change no more than this from one operation to the next,
STEADY_NS = 30_000
#: but for two clocks that go wrong in opposite directions, each by 25 ppm.
MOST_DRIFT = 50e-6
#: A shift is ambiguous if another one scatters less than this many times as much, even if only a
#: tenth of the operations take part in that one.
AMBIGUITY = 3
#: Fewer pairs fit by chance.
_MIN_PAIRS = 4
_MIN_RIVAL_PAIRS = 3
_MIN_RIVAL_OVERLAP = 0.1
#: Share of the shorter sequence that must take part.
MIN_OVERLAP = 0.5
#: On one clock, partners end closer together than operations follow each other, by this factor:
#: with any other shift the differences would be about a quarter of the time between operations.
_CLOSER = 8
#: Of long sequences the shift is looked for with some windows of the shorter one; the best are
#: refined. Of short ones every shift is looked at.
_SHORT = 400
_WINDOWS = 5
_WINDOW = 32
_REFINED = 12
#: Share of the changes of a difference that have to be small: the rest is another piece.
_SCATTER_PERCENTILE = 60
#: In a lane that repeats itself, so many of them: by chance, a few always agree.
_NEARLY_ALL = 90
#: How many neighbours tell the shift of an operation: one alone may miss its partner.
_NEIGHBOURS = 9


@dataclass(frozen=True, slots=True)
class Lane:
    """One rank's collectives of one communicator, in order of start.

    ``kind`` is equal for collectives that may be the same operation, -1 where that is not known.
    """

    start: Int64
    end: Int64
    kind: Int64
    synchronises: Bool
    seq: Int64

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Operation ``one[k]`` of a lane is operation ``other[k]`` of another."""

    one: Int64
    other: Int64


def find_pairing(one: Lane, other: Lane, tolerance_ns: int | None) -> Pairing | None:
    """Which operations of two lanes are the same, or None where that is not clear.

    ``tolerance_ns`` is how far ends of one operation may be apart where both lanes are on one
    clock; None: they are not.
    """
    found = _by_sequence(one, other)
    if found is not None:
        return found
    if tolerance_ns is None:
        return _by_scatter(one, other)
    return _by_clock(one, other, tolerance_ns)


def voting(one: Lane, other: Lane, pairing: Pairing) -> Bool:
    """Pairs that end together: those of synchronising operations, or all if there are none."""
    both = one.synchronises[pairing.one] & other.synchronises[pairing.other]
    return both if both.any() else np.ones(len(both), np.bool_)


def scatter(difference: Int64, percentile: float = _SCATTER_PERCENTILE) -> float:
    """How much a difference changes from one pair to the next: drift hardly shows in it."""
    if len(difference) < 2:
        return np.inf
    return float(np.percentile(np.abs(np.diff(difference)), percentile))


def _by_sequence(one: Lane, other: Lane) -> Pairing | None:
    """The operations with equal sequence numbers, where all have one of their own."""
    for lane in (one, other):
        if (lane.seq == NONE).any() or len(np.unique(lane.seq)) < len(lane):
            return None
    _, i, j = np.intersect1d(one.seq, other.seq, return_indices=True)
    return Pairing(i, j) if len(i) else None


def _by_clock(one: Lane, other: Lane, tolerance_ns: int) -> Pairing | None:
    """On one clock, the operation that ends together with each one is its partner."""
    i = _voters(one)
    if not len(i) or not len(other):
        return None
    order = np.argsort(other.end, kind="stable")
    j = order[_nearest(other.end[order], one.end[i])]
    apart = np.abs(other.end[j] - one.end[i])
    agree = (apart < tolerance_ns) & _fits(one.kind[i], other.kind[j])
    i, j, apart = i[agree], j[agree], apart[agree]
    if not len(i) or np.median(apart) * _CLOSER > _usual_gap(one, other):
        return None
    pairing = _without_doubles(one, other, _along(len(one), i, _smooth(j - i)), len(other))
    shared = voting(one, other, pairing)
    difference = other.end[pairing.other] - one.end[pairing.one]
    together = np.abs(difference) < tolerance_ns
    enough = len(pairing.one) >= MIN_OVERLAP * min(len(one), len(other))
    if not enough or together[shared].mean() <= 0.5:
        return None
    # Two whose partners were lost stand in the same place.
    kept = together | ~shared
    return Pairing(pairing.one[kept], pairing.other[kept])


def _voters(lane: Lane) -> Int64:
    """The operations whose ends tell the shift."""
    return np.flatnonzero(lane.synchronises) if lane.synchronises.any() else np.arange(len(lane))


def _usual_gap(one: Lane, other: Lane) -> float:
    """The time from one end to the next in the lane where it is shorter."""
    gaps = [np.median(np.diff(np.sort(lane.end))) for lane in (one, other) if len(lane) > 1]
    return float(min(gaps, default=np.inf))


def _nearest(ordered: Int64, times: Int64) -> Int64:
    right = np.clip(np.searchsorted(ordered, times), 0, len(ordered) - 1)
    left = np.maximum(right - 1, 0)
    closer = np.abs(ordered[left] - times) <= np.abs(ordered[right] - times)
    return np.where(closer, left, right)


def _smooth(shifts: Int64) -> Int64:
    """The median of each shift and its neighbours."""
    half = min(_NEIGHBOURS, len(shifts)) // 2
    padded = np.pad(shifts, half, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.partition(windows, half, axis=1)[:, half]


def _along(count: int, voters: Int64, shifts: Int64) -> Int64:
    """The partner of every operation: the shift of the voters around it, -1 where they differ."""
    every = np.arange(count)
    following = np.minimum(np.searchsorted(voters, every), len(voters) - 1)
    before = np.maximum(np.searchsorted(voters, every, side="right") - 1, 0)
    return np.where(shifts[before] == shifts[following], every + shifts[following], -1)


def _without_doubles(one: Lane, other: Lane, partner: Int64, count: int) -> Pairing:
    """Partners that exist; of two that claim the same one, the one that ends closer to it."""
    i = np.flatnonzero((partner >= 0) & (partner < count))
    j = partner[i]
    apart = np.abs(other.end[j] - one.end[i])
    order = np.lexsort((apart, j))
    kept = np.ones(len(order), np.bool_)
    kept[1:] = j[order][1:] != j[order][:-1]
    chosen = np.sort(order[kept])
    return Pairing(i[chosen], j[chosen])


def _fits(a: Int64, b: Int64) -> Bool:
    return np.asarray((a == b) | (a < 0) | (b < 0))


def is_refuted(one: Lane, other: Lane, pairing: Pairing) -> bool:
    """Whether some shift fits far better than a pairing by clock: then it is not one clock."""
    shared = voting(one, other, pairing)
    own = scatter((other.end[pairing.other] - one.end[pairing.one])[shared])
    least = MIN_OVERLAP * min(len(one), len(other))
    rivals = (_shifted(one, other, by) for by in _candidates(one, other))
    best = min((_scatter_of(one, other, rival, least) for rival in rivals), default=np.inf)
    return max(best, 1_000) * AMBIGUITY < own < np.inf


def _by_scatter(one: Lane, other: Lane) -> Pairing | None:
    """The shift with least scatter of those under which operations agree, if that is clear."""
    pairings = [_shifted(one, other, by) for by in _candidates(one, other)]
    least = max(_MIN_RIVAL_PAIRS, _MIN_RIVAL_OVERLAP * min(len(one), len(other)))
    ranked = sorted(
        (
            (_scatter_of(one, other, pairing, least), len(pairing.one), n)
            for n, pairing in enumerate(pairings)
        ),
    )
    if not ranked or ranked[0][0] > STEADY_NS + MOST_DRIFT * _usual_gap(one, other):
        return None
    best, count, number = ranked[0]
    if count < max(MIN_OVERLAP * min(len(one), len(other)), _MIN_PAIRS):
        return None
    limit = AMBIGUITY * max(best, 1_000)
    if len(ranked) > 1 and ranked[1][0] <= limit:
        return None
    return None if any(_repeats(lane, limit) for lane in (one, other)) else pairings[number]


def _repeats(lane: Lane, limit: float) -> bool:
    """Whether a lane looks like itself, later: then another shift may be the right one.

    It may have too few pairs in the files to be a rival, or none.
    """
    least = _MIN_PAIRS if len(lane) >= 2 * _MIN_PAIRS else 2
    found = _candidates(lane, lane) if len(lane) > _SHORT else range(len(lane) - 1)
    later = [_shifted(lane, lane, by) for by in found if by > 0]
    return any(_scatter_of(lane, lane, pairing, least, _NEARLY_ALL) <= limit for pairing in later)


def _candidates(one: Lane, other: Lane) -> list[int]:
    """Shifts under which a window of the shorter lane has about the same gaps between ends."""
    if len(one) + len(other) <= _SHORT:
        return list(range(_MIN_RIVAL_PAIRS - len(one), len(other) - _MIN_RIVAL_PAIRS + 1))
    if len(one) > len(other):
        return [-by for by in _candidates(other, one)]
    count = len(one) - 1
    if count < 1:
        return []
    width = max(min(_WINDOW, count // 2), 1)
    gaps = np.lib.stride_tricks.sliding_window_view(np.diff(other.end), width)
    own = np.diff(one.end)
    found: set[int] = set()
    for at in np.unique(np.linspace(0, count - width, _WINDOWS).astype(np.int64)).tolist():
        apart = np.abs(gaps - own[at : at + width])
        middle = np.partition(apart, width // 2, axis=1)[:, width // 2]
        best = np.argsort(middle, kind="stable")[:_REFINED]
        found.update((best - at).tolist())
    return sorted(found)


def _shifted(one: Lane, other: Lane, by: int) -> Pairing:
    """The pairs under a shift."""
    i = np.arange(max(0, -by), max(0, -by, min(len(one), len(other) - by)))
    return Pairing(i, i + by)


def _scatter_of(
    one: Lane,
    other: Lane,
    pairing: Pairing,
    least: float,
    percentile: float = _SCATTER_PERCENTILE,
) -> float:
    """The scatter of pairs; infinite where most operations differ or fewer than that take part."""
    fits = _fits(one.kind[pairing.one], other.kind[pairing.other])
    shared = voting(one, other, pairing)
    if fits.sum() <= len(fits) / 2 or shared.sum() < least:
        return np.inf
    return scatter((other.end[pairing.other] - one.end[pairing.one])[shared], percentile)
