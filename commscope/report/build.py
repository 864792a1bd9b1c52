"""From the analysis to the report: units for people's eyes stay out, withheld numbers go."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope._version import __version__
from commscope.analysis.breakdown import PARTITION
from commscope.analysis.result import Analysis, analyse
from commscope.analysis.waiting import EXPOSED_PARTS
from commscope.columns import NONE, Bool, int64, nullable
from commscope.findings.model import WHOLE, Metric, Trust
from commscope.findings.quality import trust_of
from commscope.findings.trust_findings import findings_of
from commscope.report.across import (
    clock_of,
    collectives_table,
    instances_table,
    stragglers_table,
    verdicts_of,
    waiting_table,
)
from commscope.report.environment import disagreements, environment_of
from commscope.report.model import InputFile, Report, ReportTable
from commscope.report.summary import summarise, trust_line
from commscope.trace import Trace

TOOL = {"name": "commscope", "version": __version__}

#: Which numbers of a partition go when a group of numbers is withheld.
_RESTS_ON = {
    Metric.OVERLAP: (
        "hidden_comm_ns",
        "exposed_comm_ns",
        "exposed_copy_ns",
        "overlap_ratio",
        *EXPOSED_PARTS,
    ),
    Metric.IDLE: ("idle_ns",),
}
_LAUNCH_NUMBERS = (
    "launch_bound_share",
    "queue_delay_p50_ns",
    "queue_delay_p95_ns",
    "queue_depth_p50",
    "queue_depth_p95",
    "host_pause_ns",
)


def build_report(trace: Trace) -> Report:
    """Analyses a trace, judges how far it can be trusted, and puts the report together."""
    analysis = analyse(trace)
    trust = trust_of(analysis)
    origin = int(analysis.timeline.first_ns.min())
    steps = _steps(analysis, trust, origin)
    summary = summarise(analysis, steps, trust)
    return Report(
        inputs=tuple(_inputs(trace)),
        environment=environment_of(trace),
        clock=clock_of(analysis, origin),
        trust=trust,
        summary=summary,
        ranks=ReportTable(_ranks(analysis, trust)),
        steps=ReportTable(steps),
        collectives=ReportTable(collectives_table(analysis, _hides_overlap(analysis, trust))),
        calls=ReportTable(_calls(analysis, trust, origin)),
        instances=ReportTable(instances_table(analysis, origin)),
        waiting=ReportTable(waiting_table(analysis)),
        stragglers=ReportTable(stragglers_table(analysis)),
        verdicts=verdicts_of(analysis),
        kernels=_ranking(_kernels(analysis, trust), trust),
        families=_ranking(analysis.families, trust),
        launch=ReportTable(_launch(analysis, trust)),
        findings=findings_of(trust),
        notes=(*(note.says for note in trace.notes), *disagreements(trace)),
        trust_line=trust_line(analysis, trust, summary),
        origin_ns=origin,
    )


def _inputs(trace: Trace) -> list[InputFile]:
    return [InputFile(f.file, f.format, f.rank, f.sha256, f.bytes, f.events) for f in trace.files]


def _with_ratio(table: pa.Table) -> pa.Table:
    """PARTITION with ``overlap_ratio``, null where there was no communication."""
    communication, hidden = int64(table, "communication_ns"), int64(table, "hidden_comm_ns")
    none = (communication == NONE) | (communication == 0)
    ratio = hidden / np.where(none, 1, communication)
    return table.append_column("overlap_ratio", pa.array(ratio, mask=none))


def _withhold(table: pa.Table, trust: Trust) -> pa.Table:
    """A partition of ranks, or of steps, with nulls for what the trace cannot support."""
    for metric, names in _RESTS_ON.items():
        table = _blank(table, names, _is_withheld(table, trust, metric))
    return table


def _is_withheld(table: pa.Table, trust: Trust, metric: Metric) -> Bool:
    """Which rows, of a rank or of a rank's step, may not show a group of numbers."""
    rank = int64(table, "rank")
    step = int64(table, "step") if "step" in table.column_names else np.full(len(rank), WHOLE)
    hide = np.zeros(len(rank), np.bool_)
    for withheld in trust.withheld(metric):
        of_rank = (rank == withheld.rank) | (withheld.rank is None)
        hide |= of_rank & ((step == withheld.step) | (withheld.step is None))
    return hide


def _hides_overlap(analysis: Analysis, trust: Trust) -> bool:
    """Whether what is hidden cannot be told of some rank, and so of all together."""
    return bool(_is_withheld(analysis.ranks, trust, Metric.OVERLAP).any())


def _blank(table: pa.Table, names: tuple[str, ...], hide: Bool) -> pa.Table:
    for name in names if hide.any() else ():
        column = table.column(name)
        kept = pc.if_else(pa.array(hide), pa.scalar(None, column.type), column)
        table = table.set_column(table.column_names.index(name), name, kept)
    return table


def _ranks(analysis: Analysis, trust: Trust) -> pa.Table:
    facts = analysis.trace.ranks.select(["rank", "host", "device", "gpu", "backend", "file"])
    order = np.argsort(int64(facts, "rank"))
    table = facts.take(pa.array(order))
    for name in (*PARTITION, *EXPOSED_PARTS):
        table = table.append_column(name, analysis.ranks.column(name))
    table = _withhold(_with_ratio(table), trust)
    table = table.append_column("outside_steps_ns", pa.array(analysis.outside_ns))
    counts = [analysis.counts[rank] for rank in table.column("rank").to_pylist()]
    for name in ("kernels", "collectives", "copies"):
        table = table.append_column(name, pa.array([count[name] for count in counts], pa.int64()))
    return table


def _steps(analysis: Analysis, trust: Trust, origin: int) -> pa.Table:
    """Steps by rank with their partition, times since the origin."""
    steps = _withhold(_with_ratio(analysis.steps), trust)
    for name in ("start_ns", "end_ns", "host_start_ns", "host_end_ns"):
        times = int64(steps, name)
        moved = nullable(np.where(times == NONE, NONE, times - origin))
        steps = steps.set_column(steps.column_names.index(name), name, moved)
    return steps


def _calls(analysis: Analysis, trust: Trust, origin: int) -> pa.Table:
    """Every collective of every rank, by rank and start."""
    table = analysis.across.calls.drop_columns(["event"])
    start = pa.array(int64(table, "start_ns") - origin)
    table = table.set_column(table.column_names.index("start_ns"), "start_ns", start)
    hide = _is_withheld(table, trust, Metric.OVERLAP)
    return _blank(table, ("hidden_ns", "exposed_ns", "exposed_wait_ns"), hide)


def _kernels(analysis: Analysis, trust: Trust) -> pa.Table:
    """Kernels by total time, with the share of communication that compute hid."""
    table = analysis.kernels
    total, hidden = int64(table, "total_ns"), int64(table, "hidden_ns")
    unknown = (hidden == NONE) | (total == 0) | _hides_overlap(analysis, trust)
    share = pa.array(hidden / np.maximum(total, 1), mask=unknown)
    return table.drop_columns(["hidden_ns"]).append_column("hidden_share", share)


def _ranking(table: pa.Table, trust: Trust) -> ReportTable:
    """A table by time; without its rows where a rule says that it cannot be trusted."""
    for check in trust.checks:
        if any(withheld.metric == Metric.RANKINGS for withheld in check.withheld):
            return ReportTable(table.slice(0, 0), check.rule)
    return ReportTable(table)


def _launch(analysis: Analysis, trust: Trust) -> pa.Table:
    table = analysis.launch
    hide = _is_withheld(table, trust, Metric.LAUNCH)
    return _blank(table, _LAUNCH_NUMBERS, hide)
