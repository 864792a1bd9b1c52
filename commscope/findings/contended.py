"""O4 and O5: kernels slowed by the communication beside them, and whether overlap still pays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from commscope.columns import Int64, int64
from commscope.findings.case import Case
from commscope.findings.model import Advice, Measured
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule
from commscope.units import percent, span


def look_contention(case: Case, limits: Mapping[str, float]) -> Outcome:
    """O4: the same kernel takes longer under communication than alone."""
    table = _slowed(case, limits)
    if table is None:
        return Outcome(unable="no kernel ran often enough both beside communication and alone")
    if not table.num_rows:
        return NOTHING
    extra, hidden = _by_rank(case, table)
    worst = table.slice(0, 1).to_pylist()[0]
    a_step = _a_step(case, extra)
    net = _a_step(case, hidden) - a_step
    says = (
        f"kernels beside communication take up to {worst['stretch']:.2f} times as long as alone "
        f"({worst['name'][:60]}), {span(a_step)} a step in all; overlap hides "
        f"{span(_a_step(case, hidden))}, so that {span(abs(net))} are "
        f"{'won' if net >= 0 else 'lost'} by it"
    )
    measured = {
        "slowdown": Measured(a_step, "ns"),
        "stretch": Measured(worst["stretch"], "ratio"),
        "net_gain": Measured(net, "ns"),
    }
    return Outcome((Draft(says, _spread(case, extra), measured=measured, at_most="medium"),))


def look_harm(case: Case, limits: Mapping[str, float]) -> Outcome:
    """O5: overlap costs more than it hides."""
    table = _slowed(case, limits)
    if table is None:
        return Outcome(unable="no kernel ran often enough both beside communication and alone")
    if not table.num_rows:
        return NOTHING
    extra, hidden = _by_rank(case, table)
    lost = np.maximum(extra - hidden, 0)
    if not lost.any():
        return NOTHING
    share = float((extra - hidden).sum() / max(hidden.sum(), 1))
    says = (
        f"overlap costs {span(_a_step(case, lost))} a step more than it hides "
        f"({percent(share)} more): kernels are slowed for longer than communication takes"
    )
    measured = {"loss": Measured(_a_step(case, lost), "ns")}
    return Outcome((Draft(says, _spread(case, lost), measured=measured),))


def _slowed(case: Case, limits: Mapping[str, float]) -> pa.Table | None:
    """Kernels stretched by more than the limit; null where none can be compared."""
    table = case.analysis.contention
    least = limits["min_samples"]
    enough = (int64(table, "beside") >= least) & (int64(table, "alone") >= least)
    if not enough.any():
        return None
    stretch = np.asarray(table.column("stretch").to_numpy())
    return table.filter(pa.array(enough & (stretch > limits["min_stretch"])))


def _by_rank(case: Case, table: pa.Table) -> tuple[Int64, Int64]:
    """For each rank the extra time of its slowed kernels, and the communication it hides."""
    rank = case.analysis.timeline.index_of(int64(table, "rank"))
    extra = np.zeros(len(case.ranks), np.int64)
    np.add.at(extra, rank, int64(table, "extra_ns"))
    active = case.analysis.steps.column("start_ns").is_valid()
    hidden = int64(case.analysis.steps.filter(active), "hidden_comm_ns")
    return extra, case.analysis.windows.sums(hidden, len(case.ranks))


def _windows_of_rank(case: Case) -> Int64:
    return np.maximum(np.bincount(case.analysis.windows.rank, minlength=len(case.ranks)), 1)


def _a_step(case: Case, of_rank: Int64) -> int:
    """The mean over the steps of the rank with most."""
    return int((of_rank / _windows_of_rank(case)).max(initial=0))


def _spread(case: Case, of_rank: Int64) -> Int64:
    """The time of each rank, the same in each of its windows."""
    return (of_rank // _windows_of_rank(case))[case.analysis.windows.rank]


_LIMITS = {
    "min_stretch": Limit(1.25, "ratio", "length beside communication, over that alone"),
    "min_samples": Limit(10, "count", "runs of the kernel, of each sort"),
}
RULES = (
    Rule(
        "O5", "overlap", "Harmful overlap",
        "Does overlap slow compute by more than it hides?",
        look_harm,
        (
            Advice(
                "Let communication use fewer channels (NCCL_MAX_NCHANNELS), or overlap less.",
                "Channels take compute units and memory bandwidth from the kernels beside them.",
                "https://rocm.docs.amd.com/projects/rccl/en/latest/how-to/rccl-usage-tips.html",
            ),
        ),
        _LIMITS,
    ),
    Rule(
        "O4", "overlap", "Contention",
        "Do kernels run longer beside communication than alone?",
        look_contention,
        (
            Advice(
                "Try fewer channels (NCCL_MAX_NCHANNELS) and compare the step, or accept it.",
                "Both share compute units and memory; the step gains as long as more is hidden.",
                "https://rocm.docs.amd.com/projects/rccl/en/latest/how-to/rccl-usage-tips.html",
            ),
        ),
        _LIMITS,
    ),
)  # fmt: skip
