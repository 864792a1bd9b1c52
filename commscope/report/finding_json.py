"""A finding as JSON, whether of a trace or of logs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from commscope.findings.model import Finding


def finding_dict(finding: Finding) -> dict[str, Any]:
    """What every finding has; one that rests on lines of logs has no times."""
    return {
        "id": finding.id,
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "title": finding.title,
        "says": finding.says,
        "rank": finding.rank,
        "measured": {name: asdict(measured) for name, measured in finding.measured.items()},
        "quotes": [asdict(quote) for quote in finding.quotes],
        "advice": [asdict(advice) for advice in finding.advice],
    }
