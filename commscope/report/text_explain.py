"""A metric, rule or finding with what it is in one run, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from commscope.findings.model import Check, Finding, Looked, Measured
from commscope.report.explained import MOST_VALUES, ExplainedMetric
from commscope.report.metrics import Metric, Unit, Value
from commscope.sanitize import plain
from commscope.units import percent, span


def print_metric(metric: Metric, console: Console) -> None:
    """The definition alone."""
    console.print(Text.assemble((metric.name, "bold"), f"  ({metric.unit})"))
    console.print(Text(metric.definition))
    console.print(Text(f"Formula: {metric.formula}."))
    console.print(Text(f"Inputs: {metric.inputs}."))
    if metric.leaves_out:
        console.print(Text(f"Leaves out: {'; '.join(metric.leaves_out)}."))
    console.print(Text(f"Rests on: {', '.join(metric.rests_on)}."))


def print_explained(found: ExplainedMetric, console: Console) -> None:
    """The definition, and what it is in the run."""
    print_metric(found.metric, console)
    for heading, lines in (
        ("In this run", _values(found.values, found.metric.unit)),
        ("Checks it rests on", map(_check, found.checks)),
        ("Left out in this run", found.leaves_out[len(found.metric.leaves_out) :]),
        ("Files", (f"{file.file}: {file.events:,} events" for file in found.inputs)),
    ):
        _print_lines(heading, list(lines), console)


def print_looked(looked: Looked, console: Console) -> None:
    """How a rule ended in the run."""
    says = {"nothing": "it looked and found nothing", "found": "it found something"}
    text = says.get(looked.result, f"it could not look: {looked.says}")
    _print_lines("In this run", [text], console)


def print_check(check: Check, console: Console) -> None:
    """How a check of trust ended in the run, and what it withholds."""
    withheld = [f"withheld: {what}" for what in check.withheld]
    _print_lines("In this run", [f"{check.result.value}: {check.says}", *withheld], console)


def print_finding(found: Finding, console: Console) -> None:
    """All that a finding holds: numbers, where to look, quotes."""
    console.print(Text(f"\n{found.id} ({found.severity}, confidence {found.confidence})", "bold"))
    console.print(Text(plain(found.says)))
    lines = [f"{name}: {_measured(name, one)}" for name, one in found.measured.items()]
    if found.bound_ns is not None:
        lines.append(f"at most to win: {span(found.bound_ns)}")
    _print_lines("Measured", lines, console)
    _print_lines("Evidence", [
        f"rank {e.rank}, {'outside of steps' if e.step is None else f'step {e.step}'}: "
        f"{span(e.t1_ns - e.t0_ns)}"
        for e in found.evidence
    ], console)  # fmt: skip
    quotes = [f"{q.file}:{q.line}: {q.text}" for q in found.quotes if q.text is not None]
    _print_lines("Lines of the logs", quotes, console)


def _print_lines(heading: str, lines: Sequence[str], console: Console) -> None:
    if lines:
        console.print(Text(f"{heading}:", "bold"))
        for line in lines:
            console.print(Text(f"  {plain(line)}"))


def _values(values: Sequence[Value], unit: Unit) -> Iterator[str]:
    for value in values[:MOST_VALUES]:
        yield f"{value.where}: {_shown(value.value, unit)}"
    if len(values) > MOST_VALUES:
        yield f"and {len(values) - MOST_VALUES} more"


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "not known, or withheld"
    if unit == "ns":
        return f"{span(value)} ({value:,.0f} ns)"
    if unit == "ratio":
        return f"{percent(value)} ({value:.6f})"
    return f"{value:,.3f} GB/s" if unit == "gbps" else f"{value:,.0f}"


def _measured(name: str, found: Measured) -> str:
    """A number of a finding; a speedup is a factor."""
    return f"{found.value:.2f} times" if name == "speedup" else _shown(found.value, found.unit)


def _check(check: Check) -> str:
    withheld = f"; withholds {', '.join(map(str, check.withheld))}" if check.withheld else ""
    return f"{check.rule} {check.result.value}: {check.says}{withheld}"
