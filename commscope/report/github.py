"""Lines that GitHub shows at a pull request: annotations, by its workflow commands."""

from __future__ import annotations

from commscope.findings.model import Finding, Result
from commscope.report.model import Report
from commscope.sanitize import plain, shortened
from commscope.units import span

#: GitHub shows ten of a kind a step, and cuts what is longer than 4 kB.
MOST_ANNOTATIONS = 10
_MOST_CHARACTERS = 1000
_KINDS = {"high": "error", "medium": "warning", "low": "notice"}


def report_annotations(report: Report) -> str:
    """The verdict, what must not be trusted, and the findings, the gravest first."""
    lines = [annotation("notice", "commscope", report.summary.verdict)]
    lines += [
        annotation("warning", f"{check.rule} {check.title}", check.says)
        for check in report.trust.checks
        if check.result is Result.FAIL and check.withheld
    ]
    lines += [_of_finding(finding) for finding in report.findings]
    return "".join(lines[:MOST_ANNOTATIONS])


def annotation(kind: str, title: str, says: str) -> str:
    """One workflow command; neither text can end it or begin another."""
    message = shortened(says, _MOST_CHARACTERS)
    return f"::{kind} title={_property(shortened(title, 120))}::{_data(message)}\n"


def _of_finding(finding: Finding) -> str:
    bound = f" At most {span(finding.bound_ns)} to win." if finding.bound_ns else ""
    title = f"{finding.rule} {finding.title}"
    return annotation(_KINDS[finding.severity], title, plain(finding.says) + bound)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
