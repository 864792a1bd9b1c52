"""Which rows belong to the steps that the user chose."""

from __future__ import annotations

import numpy as np

from commscope.analysis.groups import rows_among
from commscope.columns import Bool, Int64, int64
from commscope.trace import Trace


def in_chosen_steps(trace: Trace, rank: Int64, step: Int64) -> Bool:
    """Which rows, each of a rank and a step, are of a chosen step; all, where none was chosen."""
    if trace.selection is None:
        return np.ones(len(rank), np.bool_)
    steps = trace.steps
    return rows_among([rank, step], [int64(steps, "rank"), int64(steps, "step")])
