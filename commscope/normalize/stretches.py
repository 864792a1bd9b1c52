"""Where a stretch of numbers stands in a longer row of them.

Runs are compared by sums of random numbers, in 64 bits: training repeats itself, so comparing
number by number would take the product of both lengths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from commscope.columns import Bool, Int64

Words = npt.NDArray[np.uint64]
_NOWHERE = np.empty(0, np.int64)
#: Any number, in a stretch.
ANY = -1


#: About a second of them.
_MOST_COMPARISONS = 1 << 28


class Effort:
    """How many comparisons may still be made: where nothing tells, there are more than is useful.

    Once they are spent nothing fits any more.
    """

    def __init__(self, comparisons: int = _MOST_COMPARISONS) -> None:
        self._left = comparisons

    def allows(self, comparisons: int) -> bool:
        """Whether as many may be made; they are spent then."""
        self._left -= comparisons
        return self._left >= 0


class Stretches:
    """Numbers in a row, in which stretches are looked for."""

    def __init__(self, logged: Int64) -> None:
        self._logged = logged
        self._sums = _Sums.of(logged, int(logged.max(initial=0)) + 1)

    def places(self, shown: Int64, effort: Effort) -> Int64:
        """Where the whole stretch fits without a hole: nowhere if all of it is ``ANY``."""
        logged, known = self._logged, np.flatnonzero(shown != ANY)
        if not len(known) or len(logged) < len(shown) or shown.max() > logged.max():
            return _NOWHERE
        places = np.arange(len(logged) - len(shown) + 1)
        for first, last in _known_runs(shown):
            if not effort.allows(len(places)):
                return _NOWHERE
            places = places[self._sums.hold(shown[first:last], places + first)]
        if len(places) == 1 and not np.array_equal(logged[places[0] + known], shown[known]):
            return _NOWHERE
        return places


def whole_stretches(shown: Int64, logged: Int64) -> Int64:
    """The places in ``Stretches``, for one stretch only."""
    return Stretches(logged).places(shown, Effort())


def _known_runs(shown: Int64) -> list[tuple[int, int]]:
    """Runs without ``ANY``, the longest first."""
    edges = np.flatnonzero(
        np.diff(np.concatenate(([False], shown != ANY, [False])).astype(np.int8))
    )
    runs = list(zip(edges[::2].tolist(), edges[1::2].tolist()))
    return sorted(runs, key=lambda run: run[0] - run[1])


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums of the random numbers of calls, each times a power: of two equal runs they are equal.

    All is modulo 2**64.
    """

    numbers: Words  #: the random number of each kind of call
    powers: Words
    before: Words  #: the sum of all calls before each place

    @classmethod
    def of(cls, logged: Int64, kinds: int) -> _Sums:
        random = np.random.default_rng(0).integers(1, 1 << 63, kinds + 1, np.uint64)
        numbers, base = random[:-1], random[-1] | np.uint64(1)
        powers = np.full(len(logged) + 1, base, np.uint64)
        powers[0] = 1
        powers = np.cumprod(powers, dtype=np.uint64)
        before = np.zeros(len(logged) + 1, np.uint64)
        np.cumsum(numbers[logged] * powers[:-1], out=before[1:])
        return cls(numbers, powers, before)

    def hold(self, run: Int64, places: Int64) -> Bool:
        """At which of the places the run stands."""
        wanted = (self.numbers[run] * self.powers[: len(run)]).sum(dtype=np.uint64)
        found = self.before[places + len(run)] - self.before[places]
        return np.asarray(found == wanted * self.powers[places])
