"""Lines that GitHub shows at a pull request: annotations, by its workflow commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from commscope.findings.model import Finding, Grade
from commscope.report.log_report import LogReport
from commscope.report.model import Report
from commscope.sanitize import plain, shortened
from commscope.units import span

Kind = Literal["error", "warning", "notice"]

#: GitHub shows so many of each kind for a step, and cuts what is longer than 4 kB.
MOST_OF_A_KIND = 10
_MOST_CHARACTERS = 1000
_KINDS: dict[Grade, Kind] = {"high": "error", "medium": "warning", "low": "notice"}


class Annotation(NamedTuple):
    """What is shown at one place: how grave it is, what it is about, and what it says."""

    kind: Kind
    title: str
    says: str


def report_annotations(report: Report) -> str:
    """The verdict and the findings, the gravest first; failed checks of trust are among them."""
    verdict = Annotation("notice", "commscope", report.summary.verdict)
    return annotation_lines([verdict, *map(_of_finding, report.findings)])


def log_annotations(report: LogReport, verdict: str) -> str:
    """The same of a report on logs."""
    told = Annotation("notice", "commscope", verdict)
    return annotation_lines([told, *map(_of_finding, report.findings)])


def annotation_lines(given: Iterable[Annotation]) -> str:
    """The workflow commands, of each kind as many as are shown."""
    return "".join(map(_line, _shown(given)))


def _shown(given: Iterable[Annotation]) -> Iterator[Annotation]:
    seen: Counter[Kind] = Counter()
    for one in given:
        seen[one.kind] += 1
        if seen[one.kind] <= MOST_OF_A_KIND:
            yield one


def _line(one: Annotation) -> str:
    """One workflow command; no text in it can end it or begin another."""
    title, says = shortened(one.title, 120), shortened(one.says, _MOST_CHARACTERS)
    return f"::{one.kind} title={_property(title)}::{_data(says)}\n"


def _of_finding(finding: Finding) -> Annotation:
    bound = f". At most {span(finding.bound_ns)} to win." if finding.bound_ns else ""
    title = f"{finding.rule} {finding.title}"
    return Annotation(_KINDS[finding.severity], title, plain(finding.says) + bound)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
