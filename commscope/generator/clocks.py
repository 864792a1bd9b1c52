"""The clocks of hosts: from true time to what a trace says."""

from __future__ import annotations

from dataclasses import dataclass

#: True time 0 in a trace, so that clocks hours behind still give positive time stamps.
ORIGIN_NS = 30 * 24 * 3600 * 10**9


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock that was set wrong by an offset, and goes wrong by a drift in parts per 1e9.

    20 ppm are ``drift_ppb=20_000``. Both may be negative.
    """

    offset_ns: int = 0
    drift_ppb: int = 0

    def written_ns(self, true_ns: int) -> int:
        """What the clock shows: ``offset + true * (1 + drift)``, rounded down to 1 ns."""
        return ORIGIN_NS + self.offset_ns + true_ns + true_ns * self.drift_ppb // 10**9


TRUE_CLOCK = Clock()
