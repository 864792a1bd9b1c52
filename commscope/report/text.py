"""The report for a terminal: one screen with the verdict, then the tables."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from commscope.findings.model import Finding, Result
from commscope.report.model import Report
from commscope.report.units import percent, size, span
from commscope.sanitize import plain, shortened

_SEVERITY = {"high": "bold red", "medium": "yellow", "low": "dim"}
_MOST_ROWS = 12
_VERSIONS = {
    "rocm": "ROCm",
    "roctracer_version": "roctracer",
    "rocprofiler-sdk_version": "rocprofiler-sdk",
    "cuda_runtime_version": "CUDA",
    "cupti_version": "CUPTI",
    "nccl_version": "NCCL/RCCL",
}


def report_text(report: Report, width: int = 120) -> str:
    """The report without colours, as it is written to a file or a pipe."""
    return _captured(lambda console: print_report(report, console), width)


def kernels_text(report: Report, top: int, width: int = 160) -> str:
    """The table of kernels without colours."""
    return _captured(lambda console: print_kernels(report, console, top), width)


def _captured(draw: Callable[[Console], None], width: int) -> str:
    text = io.StringIO()
    draw(Console(file=text, width=width, color_system=None, highlight=False))
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def print_report(report: Report, console: Console, *, details: int = 0) -> None:
    """Prints the report; ``details`` 1 adds all checks of trust and longer tables."""
    rows = _MOST_ROWS if details == 0 else 10 * _MOST_ROWS
    sections = [
        _verdict(report),
        _numbers(report),
        *_findings(report.findings),
        _steps(report, rows),
        _ranks(report),
        _collectives(report, rows),
        _families(report, rows),
        _launch(report),
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


def _numbers(report: Report) -> RenderableType:
    """The six numbers."""
    summary = report.summary
    times, shares, bound = summary.step_times, summary.shares, summary.upper_bound
    pairs = [
        ("step (p50)", span(times.p50_ns) if times else "no closed step"),
        ("compute", percent(shares.compute if shares else None)),
        ("exposed comm", percent(shares.exposed_comm if shares else None)),
        ("idle", percent(shares.idle if shares else None)),
        ("overlap", "none" if summary.overlap_ratio is None else percent(summary.overlap_ratio)),
        ("to win at most", span(bound.exposed_hidden_ns) if bound else "?"),
    ]
    table = Table.grid(padding=(0, 3))
    for _ in pairs:
        table.add_column(justify="left", no_wrap=True)
    table.add_row(*(Text(name, "dim") for name, _ in pairs))
    table.add_row(*(Text(value, "bold") for _, value in pairs))
    return Padding(table, (1, 0, 1, 0))


def _findings(findings: Sequence[Finding]) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for finding in findings:
        lines.append(
            Text.assemble(
                (f"{finding.rule:>3} {plain(finding.title)}: ", _SEVERITY[finding.severity]),
                plain(finding.says),
            )
        )
        lines += [Text(f"    {plain(advice.do)}", "dim") for advice in finding.advice]
    return lines


_Cell = tuple[str, str, Callable[[dict[str, Any]], str]]


def _table(title: str, cells: Sequence[_Cell], rows: Iterable[dict[str, Any]]) -> RenderableType:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name, justify, _ in cells:
        table.add_column(name, justify=justify, no_wrap=True, header_style="dim")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(plain(show(row))) for _, _, show in cells))
    return Padding(table, (1, 0, 0, 0))


def _time(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: "?" if row[name] is None else span(row[name])


def _share(name: str) -> Callable[[dict[str, Any]], str]:
    def show(row: dict[str, Any]) -> str:
        if row[name] is None:
            return "?"
        return f"{span(row[name])} {percent(row[name] / max(row['window_ns'], 1)):>7}"

    return show


def _ratio(row: dict[str, Any]) -> str:
    return "-" if row["overlap_ratio"] is None else percent(row["overlap_ratio"])


_PARTITION_CELLS: tuple[_Cell, ...] = (
    ("compute", "right", _share("compute_ns")),
    ("exposed comm", "right", _share("exposed_comm_ns")),
    ("exposed copy", "right", _share("exposed_copy_ns")),
    ("idle", "right", _share("idle_ns")),
    ("overlap", "right", _ratio),
)


def _steps(report: Report, most: int) -> RenderableType | None:
    rows = [row for row in report.steps if row["window_ns"] is not None]
    silent = len(report.steps) - len(rows)
    if report.summary.step_source == "whole_trace":
        return None
    cells: tuple[_Cell, ...] = (
        ("rank", "right", lambda row: str(row["rank"])),
        ("step", "right", lambda row: f"{row['step']}{'*' if row['open'] else ''}"),
        ("window", "right", _time("window_ns")),
        *_PARTITION_CELLS,
    )
    shown = sorted(rows, key=lambda row: -(row["exposed_comm_ns"] or 0))[:most]
    shown.sort(key=lambda row: (row["rank"], row["start_ns"]))
    title = f"Steps ({report.summary.step_source}; * open: nothing shows where it would have ended)"
    if len(rows) > most:
        title += f", the {most} of {len(rows)} with most exposed"
    if silent:
        title += f", {silent} without GPU activity"
    return _table(title, cells, shown)


def _ranks(report: Report) -> RenderableType:
    cells: tuple[_Cell, ...] = (
        ("rank", "right", lambda row: str(row["rank"])),
        ("span", "right", _time("window_ns")),
        *_PARTITION_CELLS,
        ("kernels", "right", lambda row: f"{row['kernels']:,}"),
        ("collectives", "right", lambda row: f"{row['collectives']:,}"),
    )
    return _table("Ranks (whole trace)", cells, report.ranks)


def _collectives(report: Report, most: int) -> RenderableType | None:
    if not len(report.collectives):
        return None
    cells: tuple[_Cell, ...] = (
        ("collective", "left", lambda row: row["op"] or "unknown"),
        ("group", "left", _group),
        ("size", "right", lambda row: "?" if row["bytes"] is None else size(row["bytes"])),
        ("dtype", "left", lambda row: row["dtype"] or "?"),
        ("a step", "right", lambda row: f"{row['per_step']:.3g}"),
        ("in all", "right", lambda row: f"{row['count']:,}"),
        ("running", "right", _time("communication_ns")),
        ("hidden", "right", _time("hidden_ns")),
        ("exposed", "right", _time("exposed_ns")),
    )
    title = "Collectives (all ranks together)"
    if len(report.collectives) > most:
        title += f", the first {most} of {len(report.collectives)}"
    return _table(title, cells, list(report.collectives)[:most])


def _group(row: dict[str, Any]) -> str:
    name = row["description"] or row["communicator"]
    if name is None:
        return "unknown"
    return shortened(name, 20) + (f" x{row['group_size']}" if row["group_size"] else "")


def _families(report: Report, most: int) -> RenderableType:
    cells: tuple[_Cell, ...] = (
        ("family", "left", lambda row: row["family"]),
        ("activities", "right", lambda row: f"{row['count']:,}"),
        ("time", "right", _time("total_ns")),
        ("share", "right", lambda row: percent(row["share"])),
    )
    return _table("Kernel families", cells, list(report.families)[:most])


def _launch(report: Report) -> RenderableType | None:
    """How the host kept up; nothing where no rank has launches."""
    rows = [row for row in report.launch if row["queue_delay_p50_ns"] is not None]
    if not rows:
        return None
    cells: tuple[_Cell, ...] = (
        ("rank", "right", lambda row: str(row["rank"])),
        ("launch-bound", "right", lambda row: percent(row["launch_bound_share"])),
        ("queue delay p50", "right", _time("queue_delay_p50_ns")),
        ("p95", "right", _time("queue_delay_p95_ns")),
        ("queue depth p50", "right", lambda row: f"{row['queue_depth_p50']:,}"),
        ("p95", "right", lambda row: f"{row['queue_depth_p95']:,}"),
        ("idle, host late", "right", _time("host_pause_ns")),
        ("in graphs", "right", lambda row: percent(row["graph_share"])),
    )
    return _table("Launches (launch-bound: the stream was empty when its kernel came)", cells, rows)


def print_kernels(report: Report, console: Console, top: int) -> None:
    """The kernels that took most time."""
    width = max(console.width - 74, 20)
    cells: tuple[_Cell, ...] = (
        ("kernel", "left", lambda row: shortened(row["name"], width)),
        ("family", "left", lambda row: row["family"]),
        ("count", "right", lambda row: f"{row['count']:,}"),
        ("total", "right", _time("total_ns")),
        ("p50", "right", _time("p50_ns")),
        ("max", "right", _time("max_ns")),
        (
            "hidden",
            "right",
            lambda r: "" if r["hidden_share"] is None else percent(r["hidden_share"]),
        ),
    )
    shown = list(report.kernels)[:top]
    console.print(_table(f"Kernels, the first {len(shown)} of {len(report.kernels)}", cells, shown))


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
    if len(report.ranks) > 1:
        lines.append("waiting and transfer: collectives are not matched across ranks")
    if not lines:
        return None
    text = Text("Not measured, left out or guessed", "bold")
    for line in lines:
        text.append(f"\n  {plain(line)}", "not bold")
    return Padding(text, (1, 0, 0, 0))


def _environment(report: Report) -> RenderableType:
    versions = report.environment["versions"]
    known = [f"{label} {versions[key]}" for key, label in _VERSIONS.items() if key in versions]
    gpus = ", ".join(report.environment["gpus"]) or "unknown GPU"
    line = f"{gpus}; {', '.join(known) or 'the trace names no versions'}"
    return Padding(Text(plain(line), "dim"), (1, 0, 0, 0))
