"""Tables of what each rank did: steps, ranks, causes, launches, kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from commscope.findings.model import Metric
from commscope.report.causes import CAUSES, by_cause
from commscope.report.html.reasons import Reasons, Row, Why
from commscope.report.html.tables import (
    Cell,
    Column,
    Table,
    count,
    decimal,
    part,
    present,
    share,
    table,
    time,
    word,
    words,
)
from commscope.report.model import Report, ReportTable
from commscope.units import span

_MOST_STEPS = 40
_MOST_RANKS = 128
_MOST_KERNELS = 20
_MOST_NAME = 110
OPEN_NOTE = "* open: nothing shows where it would have ended; it counts in no summary."


def run_tables(report: Report) -> list[Table]:
    """Steps and ranks with their parts, why communication was exposed, and how hosts kept up."""
    return present(
        _steps(report),
        ranks_table(report),
        causes_table(report),
        imbalance_table(report),
        launch_table(report),
    )


def _steps(report: Report) -> Table | None:
    """The steps with most exposed communication, in order of time."""
    if report.summary.step_source == "whole_trace":
        return None
    every = [row for row in report.steps if row["window_ns"] is not None]
    most = sorted(every, key=lambda row: -(row["exposed_comm_ns"] or 0))[:_MOST_STEPS]
    caption = f"Steps ({report.summary.step_source})"
    if len(most) < len(every):
        caption += f", the {len(most)} of {len(every):,} with most exposed communication"
    return table(
        "steps",
        caption,
        step_columns(report),
        sorted(most, key=lambda row: (row["step"], row["rank"])),
        note=OPEN_NOTE if any(row["open"] for row in most) else "",
    )


def step_columns(report: Report) -> list[Column]:
    """The columns of a table of steps by rank."""
    parts = _parts(report, Reasons.in_steps)
    return [Column("step", _step), Column("rank", count("rank")), *parts]


def _step(row: Row) -> Cell:
    return Cell(f"{row['step']}{'*' if row['open'] else ''}", row["step"])


def _parts(report: Report, why: Callable[[Reasons, Metric], Why]) -> list[Column]:
    """The parts of a window, each with its share."""
    reasons = Reasons(report.trust)
    overlap, idle = why(reasons, Metric.OVERLAP), why(reasons, Metric.IDLE)
    waits = [Column("of it waiting", time("exposed_wait_ns", overlap))]
    return [
        Column("window", time("window_ns")),
        Column("compute", part("compute_ns")),
        Column("exposed comm.", part("exposed_comm_ns", overlap)),
        *(waits if len(report.instances) else []),
        Column("exposed copy", part("exposed_copy_ns", overlap)),
        Column("idle", part("idle_ns", idle)),
        Column("overlap", share("overlap_ratio", overlap)),
    ]


def ranks_table(report: Report) -> Table | None:
    """The parts of each rank over its whole trace."""
    columns = [
        Column("rank", count("rank")),
        *_parts(report, Reasons.in_ranks),
        Column("kernels", count("kernels")),
        Column("collectives", count("collectives")),
    ]
    return table("ranks", "Ranks (whole trace)", columns, report.ranks, most=_MOST_RANKS)


def causes_table(report: Report) -> Table | None:
    """Exposed communication by cause."""
    rows = [asdict(found) for found in by_cause(report.gap_sums)]
    columns = [
        Column("cause", lambda row: Cell(CAUSES[row["cause"]]), is_number=False),
        Column("gaps", count("gaps")),
        Column("exposed", time("total_ns")),
        Column("share", share("share")),
        Column("most on rank", _most_on),
    ]
    caption = "Why communication was exposed (whole trace, all ranks together)"
    return table("causes", caption, columns, rows)


def _most_on(row: Row) -> Cell:
    return Cell(f"{row['rank']} ({span(row['rank_ns'])})", row["rank_ns"])


def imbalance_table(report: Report) -> Table | None:
    """How long ranks compute, each against its peers."""
    rows = [row for row in report.imbalance if row["ratio"] is not None]
    has_stages = any(row["stage"] is not None for row in rows)
    columns = [
        Column("rank", count("rank")),
        *([Column("stage", count("stage"))] if has_stages else []),
        Column("compute a step (median)", time("compute_p50_ns")),
        Column("its peers", time("peers_p50_ns")),
        Column("ratio", decimal("ratio", 3)),
    ]
    caption = "Compute of a rank, against the other ranks" + (" of its stage" * has_stages)
    return table("imbalance", caption, columns, rows, most=_MOST_RANKS)


def launch_table(report: Report) -> Table | None:
    """How the hosts kept up."""
    why = Reasons(report.trust).in_ranks(Metric.LAUNCH)
    columns = [
        Column("rank", count("rank")),
        Column("launch-bound", share("launch_bound_share", why)),
        Column("queue delay (median)", time("queue_delay_p50_ns", why)),
        Column("95 % within", time("queue_delay_p95_ns", why)),
        Column("queue depth (median)", count("queue_depth_p50", why)),
        Column("idle, host late", time("host_pause_ns", why)),
        Column("in graphs", share("graph_share")),
    ]
    caption = "Launches (launch-bound: the stream was empty when its kernel was launched)"
    return table("launches", caption, columns, report.launch, most=_MOST_RANKS)


def kernel_tables(report: Report) -> list[Table]:
    """Families and kernels by time; none where a rule withholds them."""
    overlap = Reasons(report.trust).anywhere(Metric.OVERLAP)
    families = (
        Column("family", words("family"), is_number=False),
        Column("activities", count("count")),
        Column("time", time("total_ns")),
        Column("share", share("share")),
    )
    kernels = (
        Column("kernel", lambda row: word(row["name"], _MOST_NAME), is_number=False),
        Column("family", words("family"), is_number=False),
        Column("count", count("count")),
        Column("total", time("total_ns")),
        Column("median", time("p50_ns")),
        Column("longest", time("max_ns")),
        Column("hidden", _hidden(overlap)),
    )
    return present(
        table("families", "Kernel families", families, report.families),
        table("kernels", "Kernels by time", kernels, report.kernels, most=_MOST_KERNELS),
    )


def _hidden(why: Why) -> Callable[[Row], Cell]:
    """What compute hid of a kernel of communication; of others nothing is asked."""
    show = share("hidden_share", why)
    return lambda row: show(row) if row["class"] == "communication" else Cell("")


def withheld_kernels(report: Report) -> str:
    """Why there are no tables of kernels; empty where there are."""
    return _withheld(report, report.families) or _withheld(report, report.kernels)


def _withheld(report: Report, of: ReportTable) -> str:
    says = (check.says for check in report.trust.checks if check.rule == of.withheld)
    return f"withheld ({of.withheld}): {next(says)}" if of.withheld else ""
