"""The report for a terminal: one screen with the verdict, then the tables."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from commscope.findings.model import Result
from commscope.report.model import Report
from commscope.report.text_across import pipeline, roles, waiting
from commscope.report.text_collectives import collectives
from commscope.report.text_findings import findings, gap_causes
from commscope.report.text_paths import paths
from commscope.report.text_tables import (
    Cell,
    Row,
    count_of,
    partition_cells,
    share_of,
    text_of,
    text_table,
    time_of,
)
from commscope.sanitize import plain, shortened
from commscope.units import percent, span

_MOST_ROWS = 12
_VERSIONS = {
    "rocm": "ROCm",
    "roctracer_version": "roctracer",
    "rocprofiler-sdk_version": "rocprofiler-sdk",
    "cuda": "CUDA",
    "nccl_version": "NCCL/RCCL",
}


def report_text(report: Report, width: int = 120) -> str:
    """The report without colours, as it is written to a file or a pipe."""
    return drawn_text(lambda console: print_report(report, console), width)


def drawn_text(
    draw: Callable[[Console], None], width: int, colours: Literal["auto"] | None = None
) -> str:
    """What is drawn, as text whose lines are not padded; ``auto`` colours are the environment's."""
    text = io.StringIO()
    draw(Console(file=text, width=width, color_system=colours, highlight=False))
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def print_report(report: Report, console: Console, *, details: bool = False) -> None:
    """Prints the report; ``details`` adds all checks of trust and longer tables."""
    most = 10 * _MOST_ROWS if details else _MOST_ROWS
    width = console.width
    sections = [
        _verdict(report),
        _numbers(report, width),
        *findings(report, width),
        _steps(report, most, width),
        _ranks(report, width),
        gap_causes(report, most, width),
        waiting(report, most, width),
        roles(report, width),
        pipeline(report, most, width),
        collectives(report, most, width),
        paths(report, most, width),
        _families(report, most, width),
        _launch(report, width),
        *([_checks(report)] if details else []),
        _not_measured(report),
        _environment(report),
    ]
    console.print(Group(*(section for section in sections if section is not None)))


def print_verdict(report: Report, console: Console) -> None:
    """Prints the verdict and the line on trust alone."""
    console.print(_verdict(report))


def _verdict(report: Report) -> RenderableType:
    style = {"ok": "green", "limited": "yellow", "unusable": "red"}[report.trust.verdict]
    return Group(
        Text(plain(report.summary.verdict), "bold"),
        Text.assemble(("Trust ", "dim"), (plain(report.trust_line), style)),
    )


def _numbers(report: Report, width: int) -> RenderableType:
    """The six numbers, in two rows on a narrow terminal."""
    summary = report.summary
    times, shares, bound = summary.step_times, summary.shares, summary.upper_bound
    overlap = percent(summary.overlap_ratio)
    pairs = [
        ("step (p50)", span(times.p50_ns) if times else "no closed step"),
        ("compute", percent(shares.compute if shares else None)),
        ("exposed comm", percent(shares.exposed_comm if shares else None)),
        ("idle", percent(shares.idle if shares else None)),
        ("overlap", "none" if shares and summary.overlap_ratio is None else overlap),
        ("can win at most", span(bound.exposed_hidden_ns) if bound else "?"),
    ]
    in_a_row = 6 if width >= 80 else 3
    table = Table.grid(padding=(0, 3))
    for start in range(0, len(pairs), in_a_row):
        part = pairs[start : start + in_a_row]
        table.add_row(*(Text(name, "dim", no_wrap=True) for name, _ in part))
        table.add_row(*(Text(value, "bold", no_wrap=True) for _, value in part))
    return Padding(table, (1, 0, 1, 0))


def _steps(report: Report, most: int, width: int) -> RenderableType | None:
    if report.summary.step_source == "whole_trace":
        return None
    rows = [row for row in report.steps if row["window_ns"] is not None]
    cells = (
        Cell("rank", text_of("rank")),
        Cell("step", lambda row: f"{row['step']}{'*' if row['open'] else ''}"),
        Cell("window", time_of("window_ns")),
        *partition_cells(width, waits=len(report.instances) > 0),
    )
    shown = sorted(rows, key=lambda row: -(row["exposed_comm_ns"] or 0))[:most]
    shown.sort(key=lambda row: (row["rank"], row["start_ns"]))
    return text_table(_steps_title(report, len(rows), most), cells, shown, width)


def _steps_title(report: Report, active: int, most: int) -> str:
    title = f"Steps ({report.summary.step_source}; * open: nothing shows where it would have ended)"
    if active > most:
        title += f", the {most} of {active} with most exposed"
    silent = len(report.steps) - active
    return title + (f", {silent} without GPU activity" if silent else "")


def _ranks(report: Report, width: int) -> RenderableType:
    cells = (
        Cell("rank", text_of("rank")),
        Cell("span", time_of("window_ns")),
        *partition_cells(width, waits=len(report.instances) > 0),
        Cell("kernels", count_of("kernels"), from_width=110),
        Cell("collectives", count_of("collectives"), from_width=110),
    )
    return text_table("Ranks (whole trace)", cells, report.ranks, width)


def _families(report: Report, most: int, width: int) -> RenderableType:
    if report.families.withheld:
        return _withheld_table(report, "Kernel families", report.families.withheld)
    cells = (
        Cell("family", text_of("family"), "left"),
        Cell("activities", count_of("count")),
        Cell("time", time_of("total_ns")),
        Cell("share", share_of("share")),
    )
    return text_table("Kernel families", cells, report.families.head(most), width)


def _launch(report: Report, width: int) -> RenderableType | None:
    """How the host kept up; nothing where no rank has launches."""
    rows = [row for row in report.launch if row["queue_delay_p50_ns"] is not None]
    if not rows:
        return None
    cells = (
        Cell("rank", text_of("rank")),
        Cell("launch-bound", share_of("launch_bound_share")),
        Cell("queue delay p50", time_of("queue_delay_p50_ns")),
        Cell("p95", time_of("queue_delay_p95_ns"), from_width=70),
        Cell("queue depth p50", count_of("queue_depth_p50"), from_width=100),
        Cell("p95", count_of("queue_depth_p95"), from_width=100),
        Cell("idle, host late", time_of("host_pause_ns")),
        Cell("in graphs", share_of("graph_share"), from_width=110),
    )
    title = "Launches (launch-bound: the stream was empty when its kernel was launched)"
    return text_table(title, cells, rows, width)


def print_kernels(report: Report, console: Console, top: int) -> None:
    """The kernels that took most time."""
    if report.kernels.withheld:
        console.print(_withheld_table(report, "Kernels", report.kernels.withheld))
        return
    width = console.width
    name = max(width - (76 if width >= 100 else 40), 16)
    cells = (
        Cell("kernel", lambda row: shortened(row["name"], name), "left"),
        Cell("family", text_of("family"), "left", from_width=100),
        Cell("count", count_of("count")),
        Cell("total", time_of("total_ns")),
        Cell("p50", time_of("p50_ns")),
        Cell("max", time_of("max_ns"), from_width=100),
        Cell("hidden", _hidden, from_width=100),
    )
    title = f"Kernels, the first {min(top, len(report.kernels))} of {len(report.kernels)}"
    console.print(text_table(title, cells, report.kernels.head(top), width))


def _withheld_table(report: Report, title: str, rule: str) -> RenderableType:
    """What stands in the place of a table that a rule of trust withholds."""
    says = next(check.says for check in report.trust.checks if check.rule == rule)
    text = Text.assemble((f"{title}: withheld ({rule})", "bold"), f"\n{plain(says)}")
    return Padding(text, (1, 0, 0, 0))


def _hidden(row: Row) -> str:
    return "" if row["hidden_share"] is None else percent(row["hidden_share"])


def _checks(report: Report) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    style = {Result.PASS: "green", Result.FAIL: "yellow", Result.NOT_CHECKED: "dim"}
    for check in report.trust.checks:
        table.add_row(
            Text(check.rule), Text(check.result.value, style[check.result]), Text(plain(check.says))
        )
    return Padding(table, (1, 0, 0, 0))


def _not_measured(report: Report) -> RenderableType | None:
    withheld = {str(w): check.rule for check in report.trust.checks for w in check.withheld}
    lines = [f"{what} ({rule})" for what, rule in withheld.items()]
    lines += list(report.notes)
    if not lines:
        return None
    text = Text("Not measured, left out or guessed", "bold")
    for line in lines:
        text.append(f"\n  {plain(line)}", "not bold")
    return Padding(text, (1, 0, 0, 0))


def _environment(report: Report) -> RenderableType:
    versions = report.environment.versions
    known = [f"{label} {versions[key]}" for key, label in _VERSIONS.items() if key in versions]
    gpus = ", ".join(report.environment.gpus) or "unknown GPU"
    line = f"{gpus}; {', '.join(known) or 'the trace names no versions'}"
    return Padding(Text(plain(line), "dim"), (1, 0, 0, 0))
