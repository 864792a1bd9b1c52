"""What the logs say, and what rules found in them, as JSON (docs/log.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from commscope.findings.log_warnings import rule_of_warning
from commscope.findings.model import Finding
from commscope.logs.hangs import hangs_to_dicts
from commscope.report.log_report import LogReport

SCHEMA = "commscope.log/1"


def log_dict(report: LogReport) -> dict[str, Any]:
    """The contract of docs/log.md."""
    document = report.summary.to_dict()
    warnings = [{**row, "rule": rule_of_warning(row["text"])} for row in document.pop("warnings")]
    return {
        "schema": SCHEMA,
        **document,
        "warnings": warnings,
        "findings": [log_finding_dict(finding) for finding in report.findings],
        "looked": [asdict(one) for one in report.looked],
        "hang_verdicts": hangs_to_dicts(report.hangs),
        "neighbors": report.neighbors and report.neighbors.to_dict(),
    }


def log_finding_dict(finding: Finding) -> dict[str, Any]:
    """A finding that rests on lines of logs: it has no times."""
    return {
        "id": finding.id,
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "title": finding.title,
        "says": finding.says,
        "rank": finding.rank,
        "measured": {n: {"value": m.value, "unit": m.unit} for n, m in finding.measured.items()},
        "quotes": [{"file": q.file, "line": q.line, "text": q.text} for q in finding.quotes],
        "advice": [{"do": a.do, "why": a.why, "source": a.source} for a in finding.advice],
    }
