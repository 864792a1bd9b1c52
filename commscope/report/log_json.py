"""What the logs say, and what rules found in them, as JSON (docs/log.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from commscope.findings.log_warnings import rule_of_warning
from commscope.logs.hangs import hangs_to_dicts
from commscope.report.finding_json import finding_dict
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
        "findings": [finding_dict(finding) for finding in report.findings],
        "looked": [asdict(one) for one in report.looked],
        "hang_verdicts": hangs_to_dicts(report.hangs),
        "neighbors": report.neighbors and report.neighbors.to_dict(),
    }
