"""What each matched collective cost its members, all of them together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64, int64, nullable
from commscope.report.model import Report


def instance_costs(report: Report) -> pa.Table:
    """``Report.instances`` with their ``number``, and what their members waited in all.

    ``wait_ns`` is the sum over the members, ``exposed_wait_ns`` what of it is exposed; both are
    null where that of a member is not known.
    """
    calls, every = report.calls.arrow, report.instances.arrow
    instance = int64(calls, "instance")
    known = instance != NONE
    found = every.append_column("number", pa.array(np.arange(every.num_rows)))
    for name in ("wait_ns", "exposed_wait_ns"):
        sums = _sums(instance[known], int64(calls, name)[known], every.num_rows)
        found = found.append_column(name, nullable(sums))
    return found


def _sums(instance: Int64, values: Int64, count: int) -> Int64:
    """The sum of the values of each instance; ``NONE`` where one is not known."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, instance, np.where(values == NONE, 0, values))
    sums[instance[values == NONE]] = NONE
    return sums


def worst_instances(report: Report, most: int) -> pa.Table:
    """Those of ``instance_costs`` in which their members waited longest, if they waited at all."""
    found = instance_costs(report)
    wait = int64(found, "wait_ns")
    order = np.argsort(-wait, kind="stable")[:most]
    return found.take(pa.array(order[wait[order] > 0]))
