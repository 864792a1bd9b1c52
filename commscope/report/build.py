"""From the analysis to the report: units for people's eyes stay out, withheld numbers go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.analysis.breakdown import PARTITION
from commscope.analysis.contention import stretches
from commscope.analysis.result import Analysis, analyse
from commscope.analysis.waiting import EXPOSED_PARTS
from commscope.columns import NONE, Bool, Int64, int64, with_column
from commscope.counters.by_kernel import by_kernel
from commscope.findings.case import Beside
from commscope.findings.job_rules import not_repeated
from commscope.findings.limits import require_known
from commscope.findings.log_case import LogCase
from commscope.findings.log_rules import look_at_logs
from commscope.findings.model import SEVERITIES, Finding, Looked, Metric, Trust
from commscope.findings.plugins import all_log_rules, all_rules, every_rule
from commscope.findings.quality import trust_of
from commscope.findings.rules import look
from commscope.findings.trust_findings import findings_of
from commscope.findings.withheld import is_withheld
from commscope.joined.result import Joined, join
from commscope.logs.summary import summarize
from commscope.report.across import (
    clock_of,
    communicators_table,
    instances_table,
    since,
    stragglers_table,
    traffic_table,
    verdicts_of,
    waiting_table,
    with_names,
)
from commscope.report.collectives import bandwidth_table, collectives_table
from commscope.report.environment import disagreements, environment_of
from commscope.report.gaps import gap_sums, gap_table
from commscope.report.log_section import log_section
from commscope.report.model import InputFile, Report, ReportTable
from commscope.report.summary import summarise, trust_line
from commscope.report.view import EVERYTHING, View
from commscope.report.worst_step import worst_step
from commscope.trace import Trace

#: All thresholds as the rules set them.
NO_LIMITS: Mapping[str, float] = {}

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


def build_report(
    trace: Trace, view: View = EVERYTHING, limits: Mapping[str, float] = NO_LIMITS
) -> Report:
    """Analyses a trace, judges how far it can be trusted, and puts the report together.

    ``view`` limits the tables of collectives, bandwidth, waiting and stragglers; ``limits`` are
    thresholds of rules (``RULE.NAME``) other than the defaults. Raises UsageError where the trace
    has nothing of the view, or a threshold is not known.
    """
    require_known(limits, every_rule())
    return report_of(analyse(trace), view, limits)


def report_of(
    analysis: Analysis, view: View = EVERYTHING, limits: Mapping[str, float] = NO_LIMITS
) -> Report:
    """The same of what is analysed already, with thresholds that are known."""
    view.require(analysis)
    trace, trust = analysis.trace, trust_of(analysis)
    origin = int(analysis.timeline.first_ns.min())
    steps = _steps(analysis, trust, origin)
    joined = None if trace.logs is None else join(analysis, trace.logs, trace.topology)
    told, told_looked = _told_by_logs(joined, limits)
    names = analysis.kernels.column("name").to_pylist()
    beside = Beside(joined, told, by_kernel(names, trace.counters))
    findings, looked = look(analysis, trust, all_rules(), limits, beside)
    summary = summarise(analysis, steps, trust, findings)
    return Report(
        inputs=tuple(_inputs(trace)),
        environment=environment_of(trace),
        clock=clock_of(analysis, origin),
        trust=trust,
        summary=summary,
        steps=ReportTable(steps),
        **_across_ranks(analysis, trust, view, origin),
        **_of_ranks(analysis, trust, origin),
        verdicts=verdicts_of(analysis, view),
        findings=_gravest_first((*findings_of(trust), *findings, *not_repeated(told, findings))),
        looked=(*looked, *told_looked),
        worst_step=worst_step(analysis, steps, trust, origin),
        log=None if joined is None else log_section(analysis, trust, joined),
        notes=(*(note.says for note in trace.notes), *disagreements(trace)),
        trust_line=trust_line(analysis, trust, summary),
        origin_ns=origin,
    )


def _gravest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by severity; of one severity in the order in which they come."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def _told_by_logs(
    joined: Joined | None, limits: Mapping[str, float]
) -> tuple[tuple[Finding, ...], tuple[Looked, ...]]:
    """What the logs show by themselves, and how each rule on them ended; nothing of another run."""
    if joined is None or not joined.processes.found:
        return (), ()
    case = LogCase(joined.logs, summarize(joined.logs))
    return look_at_logs(case, all_log_rules(), limits)


def _across_ranks(
    analysis: Analysis, trust: Trust, view: View, origin: int
) -> dict[str, ReportTable]:
    """The tables that need several ranks, or sum over them."""
    hidden = _hides_overlap(analysis, trust)
    tables = {
        "communicators": communicators_table(analysis),
        "collectives": collectives_table(analysis, view, hide_overlap=hidden),
        "bandwidth": bandwidth_table(analysis, view),
        "roles": _roles(analysis, trust),
        "bubbles": _bubbles(analysis, trust),
        "imbalance": analysis.imbalance,
        "traffic": traffic_table(analysis),
        "instances": instances_table(analysis, origin),
        "waiting": waiting_table(analysis, view),
        "stragglers": stragglers_table(analysis, view),
    }
    return {name: ReportTable(table) for name, table in tables.items()}


def _of_ranks(analysis: Analysis, trust: Trust, origin: int) -> dict[str, ReportTable]:
    """The tables of what each rank did."""
    tables = {
        "ranks": _ranks(analysis, trust),
        "calls": _calls(analysis, trust, origin),
        "launch": _launch(analysis, trust),
        "gaps": gap_table(analysis, trust, origin),
        "gap_sums": gap_sums(analysis, trust),
    }
    shown = {name: ReportTable(table) for name, table in tables.items()}
    rankings = {"kernels": _kernels(analysis, trust), "families": analysis.families}
    return {**shown, **{name: _ranking(table, trust) for name, table in rankings.items()}}


def _inputs(trace: Trace) -> list[InputFile]:
    return [InputFile(f.file, f.format, f.rank, f.sha256, f.bytes, f.events) for f in trace.files]


def _with_ratio(table: pa.Table) -> pa.Table:
    """PARTITION with ``overlap_ratio``, null where there was no communication."""
    ratio = _share(int64(table, "hidden_comm_ns"), int64(table, "communication_ns"))
    return table.append_column("overlap_ratio", ratio)


def _share(part: Int64, whole: Int64) -> pa.Array:
    """The share of the whole that is the part; null where either is not known, or nothing."""
    unknown = (part == NONE) | (whole == NONE) | (whole == 0)
    return pa.array(part / np.where(unknown, 1, whole), mask=unknown)


def _withhold(table: pa.Table, trust: Trust) -> pa.Table:
    """A partition of ranks, or of steps, with nulls for what the trace cannot support."""
    for metric, names in _RESTS_ON.items():
        table = _blank(table, names, is_withheld(table, trust, metric))
    return table


def _hides_overlap(analysis: Analysis, trust: Trust) -> bool:
    """Whether what is hidden cannot be told of some rank, and so of all together."""
    return bool(is_withheld(analysis.ranks, trust, Metric.OVERLAP).any())


def _blank(table: pa.Table, names: tuple[str, ...], hide: Bool) -> pa.Table:
    for name in names if hide.any() else ():
        column = table.column(name)
        kept = pc.if_else(pa.array(hide), pa.scalar(None, column.type), column)
        table = with_column(table, name, kept)
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
        steps = since(steps, name, origin)
    return steps


def _calls(analysis: Analysis, trust: Trust, origin: int) -> pa.Table:
    """Every collective of every rank, by rank and start."""
    table = with_names(analysis, analysis.across.calls.drop_columns(["event"]))
    table = since(table, "start_ns", origin)
    hide = is_withheld(table, trust, Metric.OVERLAP)
    return _blank(table, ("hidden_ns", "exposed_ns", "exposed_wait_ns"), hide)


def _roles(analysis: Analysis, trust: Trust) -> pa.Table:
    """Exposed communication by role; null where a rank's overlap is withheld."""
    hide = is_withheld(analysis.roles, trust, Metric.OVERLAP)
    return _blank(analysis.roles, ("exposed_comm_ns", *EXPOSED_PARTS), hide)


def _bubbles(analysis: Analysis, trust: Trust) -> pa.Table:
    """The pipeline bubble; null where a rank's idle time is withheld."""
    hide = is_withheld(analysis.bubbles, trust, Metric.IDLE)
    table = _blank(analysis.bubbles, ("bubble_ns", "idle_ns"), hide)
    share = _share(int64(table, "bubble_ns"), int64(table, "window_ns"))
    return table.append_column("bubble_share", share)


def _kernels(analysis: Analysis, trust: Trust) -> pa.Table:
    """Kernels by total time: what communication beside them costs, and what compute hid of it."""
    table = analysis.kernels
    hide = np.full(table.num_rows, _hides_overlap(analysis, trust))
    table = _blank(table, ("hidden_ns",), hide)
    share = _share(int64(table, "hidden_ns"), int64(table, "total_ns"))
    slowed, names = stretches(analysis.contention), table.column("name").to_pylist()
    stretch = pa.array([slowed.get(name) for name in names], pa.float64())
    table = table.drop_columns(["hidden_ns"]).append_column("hidden_share", share)
    return table.append_column("stretch", stretch)


def _ranking(table: pa.Table, trust: Trust) -> ReportTable:
    """A table by time; without its rows where a rule says that it cannot be trusted."""
    for check in trust.checks:
        if any(withheld.metric == Metric.RANKINGS for withheld in check.withheld):
            return ReportTable(table.slice(0, 0), check.rule)
    return ReportTable(table)


def _launch(analysis: Analysis, trust: Trust) -> pa.Table:
    table = analysis.launch
    hide = is_withheld(table, trust, Metric.LAUNCH)
    return _blank(table, _LAUNCH_NUMBERS, hide)
