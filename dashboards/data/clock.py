"""From a rank's own clock to the common one and back; times are ns since the run's origin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.analysis.clocks import Correction
from commscope.columns import Int64

#: A clock gains some millionths: each round leaves so little of what the one before missed.
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class RankClock:
    """What to take off a rank's clock, see ``analysis.clocks.Correction``."""

    offset_ns: int
    drift: float
    drift_from_ns: int  #: since the origin

    @classmethod
    def of(cls, correction: Correction, origin_ns: int) -> RankClock:
        """The correction, for times since the origin."""
        return cls(correction.offset_ns, correction.drift, correction.origin_ns - origin_ns)

    def to_common(self, own: Int64) -> Int64:
        """Times of the rank on the common clock."""
        common = own - self.offset_ns
        return common - self._drifted(own) if self.drift else common

    def to_own(self, common: Int64) -> Int64:
        """Times of the common clock on that of the rank, which are least to be equal there."""
        own = common + self.offset_ns
        if self.drift:
            for _ in range(_ROUNDS):
                own = common + self.offset_ns + self._drifted(own)
        return own

    def own_time(self, common: int) -> int:
        """One time, as ``to_own``."""
        return int(self.to_own(np.array([common], np.int64))[0])

    def common_time(self, own: int) -> int:
        """One time, as ``to_common``."""
        return int(self.to_common(np.array([own], np.int64))[0])

    def _drifted(self, own: Int64) -> Int64:
        drifted: Int64 = np.rint((own - self.drift_from_ns) * self.drift).astype(np.int64)
        return drifted
