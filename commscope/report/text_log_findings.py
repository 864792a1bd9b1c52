"""What rules found in logs, with the lines that show it, for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from commscope.findings.model import Finding, Looked, Quote
from commscope.report.text_findings import SEVERITY_STYLE
from commscope.sanitize import plain, shortened

#: So many are shown unless all are asked for, each with so many lines.
_MOST_FINDINGS, _MOST_QUOTES = 5, 2
#: A quoted line takes so many lines of the terminal.
_MOST_LINES = 2
_RAGGED = 20  #: room that breaks between words leave
_INDENT = 4
#: Process, thread and device of a record: the line tells them.
_HEAD = re.compile(r"(?<=\w):\d{1,10}:\d{1,10} (?:\[\d{1,4}\] )?(?:NCCL INFO )?")
#: A place in the sources of the library as it is built: only its end tells something.
_BUILD_PATH = re.compile(r"(?<= )/\S{20,}/(?=\S{1,80}:\d+ )")


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
        yield _indented(f"({left} more of severity {_severities(findings[-left:])}: -v shows them)")
    if details:
        yield Text()
        for rule in looked:
            if rule.result == "could_not_look":
                yield Text(
                    f"{rule.rule:>3} {plain(rule.title)}: not known, {plain(rule.says)}", "dim"
                )


def _finding(finding: Finding, width: int, *, details: bool) -> Iterator[RenderableType]:
    yield Text.assemble(
        (f"{finding.severity} ", SEVERITY_STYLE[finding.severity]),
        (f"{finding.rule} {plain(finding.title)}: ", "bold"),
        plain(finding.says) + ".",
    )
    quoted = finding.quotes if details else finding.quotes[:_MOST_QUOTES]
    for quote in quoted:
        yield _indented(_quote(quote, width - _INDENT))
    for advice in finding.advice if details else finding.advice[:1]:
        yield _indented(f"Advice: {plain(advice.do)}")
        if details:
            yield _indented(f"{plain(advice.why)} ({plain(advice.source)})")


def _quote(quote: Quote, room: int) -> str:
    where = f"{shortened(quote.file, 40)}:{quote.line}"
    if quote.text is None:
        return where
    text = _HEAD.sub(" ", _BUILD_PATH.sub(".../", quote.text), count=1)
    return shortened(f"{where}: {text}", _MOST_LINES * room - _RAGGED)


def _severities(findings: Sequence[Finding]) -> str:
    return " and ".join(dict.fromkeys(finding.severity for finding in findings))


def _indented(text: str) -> Padding:
    return Padding(Text(text, "dim"), (0, 0, 0, _INDENT))
