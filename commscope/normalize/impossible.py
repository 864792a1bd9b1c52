"""Time stamps that no activity of a GPU can have (rule Q4)."""

from __future__ import annotations

import numpy as np

from commscope.columns import NONE, Bool, Int64

#: No profile is this long: an activity further from the others has a damaged time stamp.
MAX_DISTANCE_NS = 7 * 86_400 * 10**9
#: No time is later, nor the base that is added to it (the year 2096 on the wall clock): their sum
#: and the end of what begins there stay within 64 bits.
LATEST_NS = 4 * 10**18
#: Nothing is recorded in the first second of a clock that stands at more than a quarter of an hour:
#: such a stamp was never written, or only in part.
_FIRST_NS = 10**9
_LATER_NS = 10**12
#: No clocks of one machine are so far apart, that an activity seems to run before its launch.
MOST_EARLY_NS = 10**9
#: If more of the activities are that early, it is the clocks, not the stamps (rule Q9).
_MOST_EARLY = 0.01


def is_impossible(start_ns: Int64, dur_ns: Int64) -> Bool:
    """Which activities start at zero or before, or too late, end before that, or lie far off."""
    broken = (start_ns <= 0) | (start_ns > LATEST_NS) | (dur_ns < 0) | (dur_ns > MAX_DISTANCE_NS)
    rest = start_ns[~broken]
    if len(rest):
        middle = np.partition(rest, len(rest) // 2)[len(rest) // 2]
        broken |= np.abs(start_ns - middle) > MAX_DISTANCE_NS
        if middle > _LATER_NS:
            broken |= start_ns < _FIRST_NS
    return np.asarray(broken)


def is_before_launch(start_ns: Int64, launch_ns: Int64) -> Bool:
    """Which activities start long before the host launched them, where only few do."""
    known = launch_ns != NONE
    early = known & (start_ns < np.where(known, launch_ns, 0) - MOST_EARLY_NS)
    few = early.sum() <= max(_MOST_EARLY * known.sum(), 1)
    return np.asarray(early & few)
