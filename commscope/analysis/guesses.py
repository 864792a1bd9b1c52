"""Whether lanes that nothing but the number of their stream puts together belong together.

Without process groups, the streams of the ranks in their order stand for communicators. Ranks may
number them otherwise, and ranks that use as many streams need not be one group: groups that work
side by side, such as those of tensor parallelism, end almost together without waiting for each
other. What is not clearly of one communicator is left out.
"""

from __future__ import annotations

import numpy as np

from commscope.analysis.alignment import Lane, Pairing, voting
from commscope.analysis.clocks import fit
from commscope.columns import Int64

#: Within the time of the pairs, this share of the operations must have a partner.
_COMPLETE = 0.9
#: Who waits for each other begins less together than it ends, by this factor.
_WAITING = 3


def is_joint(one: Lane, other: Lane, pairing: Pairing, tolerance_ns: int | None) -> bool:
    """Whether operations of two lanes are of one communicator: complete, and they do wait.

    ``tolerance_ns`` is null where the lanes are not on one clock.
    """
    return _is_complete(pairing) and _waits(one, other, pairing, tolerance_ns is not None)


def _is_complete(pairing: Pairing) -> bool:
    spans = (int(rows[-1] - rows[0]) + 1 for rows in (pairing.one, pairing.other))
    return len(pairing.one) >= _COMPLETE * max(spans)


def _waits(one: Lane, other: Lane, pairing: Pairing, on_one_clock: bool) -> bool:
    shared = voting(one, other, pairing)
    i, j = pairing.one[shared], pairing.other[shared]
    start, end = other.start[j], other.end[j]
    if not on_one_clock:
        correction, _ = fit(end, one.end[i])
        start, end = correction.aligned(start), correction.aligned(end)
    return _apart(end, one.end[i]) * _WAITING < _apart(start, one.start[i])


def _apart(times: Int64, others: Int64) -> float:
    return float(np.abs(times - others).mean())
