"""The report as JUnit XML, for a CI that shows tests.

Two suites: ``commscope.trust`` has a case a check of trust, ``commscope.findings`` one a rule. A
check that failed and a finding of high or medium severity are failures; what could not look is
skipped; a low finding passes, with its text as output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from commscope.findings.model import Check, Finding, Looked, Result
from commscope.report.log_report import LogReport
from commscope.report.model import Report
from commscope.sanitize import plain
from commscope.units import span


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a suite; ``says`` is why it failed or was skipped, or what it prints."""

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    says: str = ""
    details: str = ""


def report_junit(report: Report) -> str:
    """The report as a document of suites; equal bytes for equal input."""
    return junit_text(
        {
            "commscope.trust": [_of_check(check) for check in report.trust.checks],
            "commscope.findings": _of_rules(report.looked, report.findings),
        }
    )


def log_junit(report: LogReport) -> str:
    """The same of a report on logs, which has no checks of trust."""
    return junit_text({"commscope.findings": _of_rules(report.looked, report.findings)})


def junit_text(suites: dict[str, Sequence[Case]]) -> str:
    """Suites by name, as XML that holds no control character."""
    root = ElementTree.Element("testsuites", _counts([c for s in suites.values() for c in s]))
    for name, cases in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": name, **_counts(cases)})
        for case in cases:
            _add(suite, name, case)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, "unicode", xml_declaration=False) + "\n"


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    return {
        "tests": str(len(cases)),
        "failures": str(outcomes.count("failed")),
        "skipped": str(outcomes.count("skipped")),
        "errors": "0",
    }


def _add(suite: ElementTree.Element, name: str, case: Case) -> None:
    at = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": plain(case.name)})
    if case.outcome == "passed":
        if case.says:
            ElementTree.SubElement(at, "system-out").text = _lines(case.says, case.details)
        return
    kind = "failure" if case.outcome == "failed" else "skipped"
    child = ElementTree.SubElement(at, kind, {"message": plain(case.says)})
    child.text = _lines(case.details) or None


def _lines(*texts: str) -> str:
    """The texts, of which only the line ends that were put there are kept."""
    return "\n".join(plain(line) for text in texts if text for line in text.split("\n"))


def _of_check(check: Check) -> Case:
    outcome: dict[Result, Literal["passed", "failed", "skipped"]] = {
        Result.PASS: "passed",
        Result.FAIL: "failed",
        Result.NOT_CHECKED: "skipped",
    }
    withheld = "\n".join(f"withheld: {what}" for what in check.withheld)
    says = "" if check.result is Result.PASS else check.says
    return Case(f"{check.rule} {check.title}", outcome[check.result], says, withheld)


def _of_rules(looked: Sequence[Looked], findings: Sequence[Finding]) -> list[Case]:
    """A case a finding, and one for each rule that found nothing."""
    cases = []
    for rule in looked:
        name = f"{rule.rule} {rule.title}"
        if rule.result == "found":
            cases += [_of_finding(found) for found in findings if found.rule == rule.rule]
        elif rule.result == "nothing":
            cases.append(Case(name, "passed"))
        else:
            cases.append(Case(name, "skipped", rule.says))
    return cases


def _of_finding(found: Finding) -> Case:
    bound = [f"at most {span(found.bound_ns)} to win"] if found.bound_ns else []
    quotes = [f"{q.file}:{q.line}: {q.text}" for q in found.quotes if q.text is not None]
    details = "\n".join([*bound, *quotes, *(advice.do for advice in found.advice)])
    outcome: Literal["passed", "failed"] = "passed" if found.severity == "low" else "failed"
    return Case(f"{found.rule} {found.title}", outcome, found.says, details)
