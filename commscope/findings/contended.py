"""O4 and O5: kernels slowed by the communication beside them, and whether overlap still pays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from commscope.analysis.groups import group_sums
from commscope.columns import Int64, int64, where_equal
from commscope.findings.case import Case
from commscope.findings.counted import counted_says, counted_share
from commscope.findings.model import Advice, Evidence, Measured
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule
from commscope.intervals import intersection, union
from commscope.sanitize import shortened
from commscope.units import span

_NAME = 60
_TOO_FEW = "no kernel ran often enough both beside communication and alone"


def look_contention(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """O4: the same kernel takes longer under communication than alone.

    Only as far as overlap still pays: what it costs beyond that is for O5.
    """
    table = _slowed(case, limits)
    if table is None:
        return Outcome(unable=_TOO_FEW)
    if not table.num_rows:
        return NOTHING
    extra, hidden = _a_step(case, table)
    worst, rank = table.slice(0, 1).to_pylist()[0], int(extra.argmax())
    net = int(hidden[rank] - extra[rank])
    says = (
        f"kernels run longer beside communication than alone, {case.spoken(extra[rank])} in all "
        f"(most {shortened(worst['name'], _NAME)}, {worst['stretch']:.2f} times as long); overlap "
        f"hides {span(hidden[rank])}, so that {span(abs(net))} are {'won' if net >= 0 else 'lost'}"
        f"{_counted(case, worst['name'], 'it')}"
    )
    measured = {
        "slowdown": Measured(int(extra[rank]), "ns"),
        "stretch": Measured(worst["stretch"], "ratio"),
        "net_gain": Measured(net, "ns"),
        **_reached(case, worst["name"]),
    }
    claimed = _in_windows(case, np.minimum(extra, hidden))
    shown = _beside(case, worst["name"])
    return Outcome((Draft(says, claimed, evidence=shown, measured=measured, at_most="medium"),))


def look_harm(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """O5: overlap costs more than it hides."""
    table = _slowed(case, limits)
    if table is None:
        return Outcome(unable=_TOO_FEW)
    if not table.num_rows:
        return NOTHING
    extra, hidden = _a_step(case, table)
    lost = np.maximum(extra - hidden, 0)
    rank, worst = int(lost.argmax()), table.column("name")[0].as_py()
    if not lost[rank]:
        return NOTHING
    says = (
        f"overlap costs {case.spoken(lost[rank])} more than it hides: kernels take "
        f"{span(extra[rank])} longer beside communication, of which {span(hidden[rank])} are hidden"
        f"{_counted(case, worst, shortened(worst, _NAME))}"
    )
    measured = {"loss": Measured(int(lost[rank]), "ns"), **_reached(case, worst)}
    shown = _beside(case, worst)
    return Outcome((Draft(says, _in_windows(case, lost), evidence=shown, measured=measured),))


def _counted(case: Case, name: str, what: str) -> str:
    """What hardware counters say of a kernel, as the end of a sentence that calls it so."""
    says = counted_says(case.counters.get(name), what)
    return f"; {says}" if says else ""


def _reached(case: Case, name: str) -> dict[str, Measured]:
    """The share of the roof that a kernel is nearest to, where its counters are known."""
    share = counted_share(case.counters.get(name))
    return {} if share is None else {"roof_share": Measured(share, "ratio")}


def _slowed(case: Case, limits: Mapping[str, float]) -> pa.Table | None:
    """Kernels stretched by more than the limit; null where none can be compared."""
    table = case.analysis.contention
    least = limits["min_samples"]
    enough = (int64(table, "beside") >= least) & (int64(table, "alone") >= least)
    if not enough.any():
        return None
    stretch = np.asarray(table.column("stretch").to_numpy())
    return table.filter(pa.array(enough & (stretch > limits["min_stretch"])))


def _a_step(case: Case, table: pa.Table) -> tuple[Int64, Int64]:
    """For each rank the extra time of its slowed kernels, and the communication hidden, a step."""
    rank = case.analysis.timeline.index_of(int64(table, "rank"))
    count, windows = len(case.ranks), case.analysis.windows
    extra = group_sums(rank, np.maximum(int64(table, "extra_ns"), 0), count)
    hidden = windows.sums(int64(case.analysis.active_steps, "hidden_comm_ns"), count)
    steps = np.maximum(np.bincount(windows.rank, minlength=count), 1)
    return extra // steps, hidden // steps


def _in_windows(case: Case, of_rank: Int64) -> Int64:
    """The time of each rank, in each of its windows."""
    return of_rank[case.analysis.windows.rank]


def _beside(case: Case, name: str) -> tuple[Evidence, ...]:
    """The longest runs of a kernel beside communication."""
    timeline = case.analysis.timeline
    named = where_equal(case.analysis.trace.events, "name", name)[timeline.activities.row]
    runs = union(*(times[named] for times in timeline.activities_on_axis()))
    no_gaps = np.zeros_like(case.usable)
    return case.evidence(no_gaps, intersection(runs, timeline.communication))


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
