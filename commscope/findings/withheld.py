"""Which rows of a table trust withholds a group of numbers of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.columns import Bool, int64
from commscope.findings.model import WHOLE, Metric, Trust


def is_withheld(table: pa.Table, trust: Trust, metric: Metric) -> Bool:
    """Which rows, of a rank or of a rank's step, may not show a group of numbers."""
    rank = int64(table, "rank")
    step = int64(table, "step") if "step" in table.column_names else np.full(len(rank), WHOLE)
    hide = np.zeros(len(rank), np.bool_)
    for withheld in trust.withheld(metric):
        of_rank = (rank == withheld.rank) | (withheld.rank is None)
        hide |= of_rank & ((step == withheld.step) | (withheld.step is None))
    return hide
