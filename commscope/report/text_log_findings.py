"""What rules found in logs, with the lines that show it, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from commscope.findings.model import Finding, Looked
from commscope.report.text_findings import SEVERITY_STYLE
from commscope.report.text_quotes import MOST_QUOTES, indented, quoted
from commscope.sanitize import plain

#: So many are shown unless all are asked for.
_MOST_FINDINGS = 5


def log_findings(
    findings: Sequence[Finding], looked: Sequence[Looked], width: int, *, details: bool
) -> Iterator[RenderableType]:
    """The findings, the worst first; with details all of them, and which rules could not look."""
    shown = findings if details else findings[:_MOST_FINDINGS]
    if shown:
        yield Text()
    for finding in shown:
        yield from _finding(finding, width, details=details)
    left = len(findings) - len(shown)
    if left:
        yield indented(f"({left} more of severity {_severities(findings[-left:])}: -v shows them)")
    if details:
        yield Text()
        for rule in looked:
            if rule.result == "could_not_look":
                yield Text(
                    f"{rule.rule:>3} {plain(rule.title)}: not known, {plain(rule.says)}", "dim"
                )


def log_verdict(findings: Sequence[Finding]) -> Iterator[RenderableType]:
    """The worst finding in one line, where it is more than a hint."""
    for finding in findings[:1]:
        if finding.severity != "low":
            yield _headline(finding)


def _headline(finding: Finding) -> Text:
    return Text.assemble(
        (f"{finding.severity} ", SEVERITY_STYLE[finding.severity]),
        (f"{finding.rule} {plain(finding.title)}: ", "bold"),
        plain(finding.says) + ".",
    )


def _finding(finding: Finding, width: int, *, details: bool) -> Iterator[RenderableType]:
    yield _headline(finding)
    yield from quoted(finding.quotes if details else finding.quotes[:MOST_QUOTES], width)
    for advice in finding.advice if details else finding.advice[:1]:
        yield indented(f"Advice: {plain(advice.do)}")
        if details:
            yield indented(f"{plain(advice.why)} ({plain(advice.source)})")


def _severities(findings: Sequence[Finding]) -> str:
    return " and ".join(dict.fromkeys(finding.severity for finding in findings))
