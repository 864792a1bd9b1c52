"""Findings, gaps by cause and rules, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from commscope.findings.model import Finding
from commscope.findings.rule import AnyRule
from commscope.report.causes import CAUSES, by_cause
from commscope.report.model import Report
from commscope.report.text_quotes import MOST_QUOTES, quoted
from commscope.report.text_tables import (
    Cell,
    Row,
    count_of,
    share_of,
    text_of,
    text_table,
    time_of,
)
from commscope.sanitize import plain, shortened
from commscope.units import span

SEVERITY_STYLE = {"high": "bold red", "medium": "yellow", "low": "dim"}


def findings(report: Report, width: int) -> list[RenderableType]:
    """What was found, each with its bound and advice."""
    each = "in the trace" if report.summary.step_source == "whole_trace" else "a step"
    lines: list[RenderableType] = []
    for finding in report.findings:
        lines.append(_finding(finding, each))
        lines += quoted(finding.quotes[:MOST_QUOTES], width)
        lines += [Text(f"    {plain(advice.do)}", "dim") for advice in finding.advice]
    return lines


def _finding(finding: Finding, each: str) -> Text:
    bound = f" At most {span(finding.bound_ns)} {each} to win." if finding.bound_ns else ""
    return Text.assemble(
        (f"{finding.rule:>3} {plain(finding.title)}: ", SEVERITY_STYLE[finding.severity]),
        plain(finding.says + ("." if bound else "")),
        (bound, "bold"),
    )


def gap_causes(report: Report, most: int, width: int) -> RenderableType | None:
    """Exposed communication by cause; nothing where none is exposed."""
    rows = [asdict(found) for found in by_cause(report.gap_sums)]
    if not rows:
        return None
    cells = (
        Cell("cause", lambda row: CAUSES[row["cause"]], "left"),
        Cell("gaps", count_of("gaps")),
        Cell("exposed", time_of("total_ns")),
        Cell("share", share_of("share")),
        Cell("most on rank", lambda row: f"{row['rank']} ({span(row['rank_ns'])})", from_width=70),
    )
    title = "Exposed communication by cause (whole trace, all ranks together)"
    return text_table(title, cells, rows[:most], width)


def print_gaps(report: Report, console: Console, top: int) -> None:
    """The longest gaps with what shows their cause, and the sums by cause."""
    width = console.width
    sums = gap_causes(report, len(CAUSES), width)
    if sums is None:
        console.print(Text("No communication was exposed, or the trace cannot tell."))
        return
    cells = (
        Cell("rank", text_of("rank")),
        Cell("step", lambda row: "-" if row["step"] is None else str(row["step"])),
        Cell("start", time_of("start_ns")),
        Cell("length", time_of("dur_ns")),
        Cell("cause", _cause, "left"),
        Cell("collective", _collective, "left", from_width=90),
        Cell("next activity", lambda row: shortened(row["after"] or "none", 24), "left", 130),
        Cell("launched", _launched, from_width=120),
        Cell("host", lambda row: shortened(row["host"] or "", 24), "left", from_width=150),
    )
    shown = report.gaps.head(top)
    title = f"Gaps, the {len(shown)} longest of {len(report.gaps):,}"
    console.print(Group(sums, text_table(title, cells, shown, width)))
    if any(row["may_be_waiting"] for row in shown):
        says = "Where a rank's collectives are not matched, any of it may be waiting for others."
        console.print(Padding(Text(says), (1, 0, 0, 0)))


def _cause(row: Row) -> str:
    if row["straggler"] is not None:
        return f"waiting for rank {row['straggler']}"
    if row["missing"]:
        return f"not known: {shortened(row['missing'], 40)}"
    return CAUSES[row["cause"]] + (", same stream" if row["same_stream"] else "")


def _collective(row: Row) -> str:
    more = f" and {row['running'] - 1} more" if row["running"] > 1 else ""
    return shortened(f"{row['op'] or 'collective'} in {row['communicator']}", 28) + more


def _launched(row: Row) -> str:
    """When the next activity was launched, from the begin of the exposure on."""
    launched = row["after_launch_ns"]
    if launched is None:
        return "?"
    return f"{span(abs(launched))} {'before' if launched < 0 else 'after'}"


def print_rules(rules: Sequence[AnyRule], console: Console) -> None:
    """All rules: what each asks, and its thresholds."""
    for rule in rules:
        console.print(Text.assemble((f"{rule.id:>3} {rule.title}", "bold"), f"  ({rule.family})"))
        console.print(Text(f"    {rule.asks}"))
        for name, limit in rule.limits.items():
            console.print(Text(f"    {rule.id}.{name} = {limit.value:,.7g} {limit.says}", "dim"))


def print_rule(rule: AnyRule, console: Console) -> None:
    """One rule in full: question, thresholds, advice and where it is from."""
    console.print(Text.assemble((f"{rule.id} {rule.title}", "bold"), f"  ({rule.family})"))
    console.print(Text(plain(rule.asks)))
    for name, limit in rule.limits.items():
        line = f"  {rule.id}.{name} = {limit.value:,.7g} {limit.unit}: {limit.says}"
        console.print(Text(line))
    for advice in rule.advice:
        console.print(Text(f"Advice: {plain(advice.do)}"))
        console.print(Text(f"Why: {plain(advice.why)}"))
        console.print(Text(f"Source: {plain(advice.source)}"))
