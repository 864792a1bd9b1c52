"""A metric, rule or finding, explained for one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from commscope.findings.model import Check, Finding, Looked
from commscope.report.json import check_dict
from commscope.report.metrics import Metric, Value
from commscope.report.model import InputFile, Report

MOST_VALUES = 20


@dataclass(frozen=True, slots=True)
class ExplainedMetric:
    """A metric with its values in a run, the checks it rests on, and what the run leaves out."""

    metric: Metric
    values: tuple[Value, ...]
    checks: tuple[Check, ...]
    inputs: tuple[InputFile, ...]
    leaves_out: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As ``commscope explain --format json`` gives it."""
        return {
            **metric_dict(self.metric),
            "run": {
                "values": [asdict(value) for value in self.values],
                "checks": [check_dict(check) for check in self.checks],
                "inputs": [asdict(file) for file in self.inputs],
                "leaves_out": list(self.leaves_out),
            },
        }


def metric_dict(metric: Metric) -> dict[str, Any]:
    """A metric without a run."""
    return {
        "metric": metric.name,
        "unit": metric.unit,
        "definition": metric.definition,
        "formula": metric.formula,
        "inputs": metric.inputs,
        "leaves_out": list(metric.leaves_out),
        "rests_on": list(metric.rests_on),
    }


def explain_metric(metric: Metric, report: Report) -> ExplainedMetric:
    """What the metric is in this run, and what it rests on and leaves out there."""
    return ExplainedMetric(
        metric=metric,
        values=tuple(metric.values(report)),
        checks=tuple(check for check in report.trust.checks if check.rule in metric.rests_on),
        inputs=report.inputs,
        leaves_out=(*metric.leaves_out, *_left_out(report, metric)),
    )


def _left_out(report: Report, metric: Metric) -> list[str]:
    """What this run leaves out of the metric, with numbers."""
    said = []
    opened = sum(row["open"] for row in report.steps)
    if opened and metric.of_closed_steps:
        said.append(f"{opened:,} of {len(report.steps):,} steps of ranks in this run are open")
    calls = sum(row["count"] for row in report.collectives)
    unmatched = calls - sum(row["matched"] for row in report.collectives)
    if unmatched and "Q12" in metric.rests_on:
        said.append(f"{unmatched:,} of {calls:,} collectives of this run are not matched")
    unlinked = sum(row["unlinked"] for row in report.launch)
    if unlinked and "Q9" in metric.rests_on:
        kernels = sum(row["kernels"] for row in report.launch)
        said.append(f"{unlinked:,} of {kernels:,} kernels of this run have no launch in the files")
    return said


def findings_of(report: Report, wanted: str) -> list[Finding]:
    """The findings with this id, or of this rule."""
    name = wanted.casefold()
    by_id = [found for found in report.findings if found.id.casefold() == name]
    return by_id or [found for found in report.findings if found.rule.casefold() == name]


def looked_of(looked: Sequence[Looked], rule: str) -> Looked | None:
    """How a rule ended in the run; null where it was not asked."""
    return next((one for one in looked if one.rule.casefold() == rule.casefold()), None)
