"""Time stamps that no activity of a GPU can have (rule Q4)."""

from __future__ import annotations

import numpy as np

from commscope.columns import Bool, Int64

#: No profile is this long: an activity further from the others has a damaged time stamp.
MAX_DISTANCE_NS = 7 * 86_400 * 10**9
#: No time is later, nor the base that is added to it (the year 2096 on the wall clock): their sum
#: and the end of what begins there stay within 64 bits.
LATEST_NS = 4 * 10**18


def is_impossible(start_ns: Int64, dur_ns: Int64) -> Bool:
    """Which activities start at zero or before, or too late, end before that, or lie far off."""
    broken = (start_ns <= 0) | (start_ns > LATEST_NS) | (dur_ns < 0) | (dur_ns > MAX_DISTANCE_NS)
    rest = start_ns[~broken]
    if len(rest):
        middle = np.partition(rest, len(rest) // 2)[len(rest) // 2]
        broken |= np.abs(start_ns - middle) > MAX_DISTANCE_NS
    return np.asarray(broken)
