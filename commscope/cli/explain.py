"""``commscope explain``: a metric, rule or finding in full, and what it is in a run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from commscope.cli.options import FORMAT, OUTPUT, QUIET, ways_of_reading
from commscope.cli.output import check_output, emit
from commscope.cli.reporting import THRESHOLD, analyze_as_set
from commscope.errors import UsageError
from commscope.findings.model import Check, Looked
from commscope.findings.plugins import every_rule
from commscope.findings.rule import AnyRule
from commscope.report.explained import explain_metric, findings_of, looked_of, metric_dict
from commscope.report.finding_json import finding_dict
from commscope.report.json import check_dict, rule_dict
from commscope.report.metrics import METRICS, Metric, metric_named
from commscope.report.model import Report
from commscope.report.text_explain import (
    print_check,
    print_explained,
    print_finding,
    print_looked,
    print_metric,
)
from commscope.report.text_findings import print_rule


@click.command(short_help="A metric, rule or finding in full, and what it is in a run.")
@click.argument("what", metavar="METRIC|RULE|FINDING")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@ways_of_reading
@THRESHOLD
@FORMAT
@OUTPUT
@QUIET
def explain(what: str, style: str | None, output: Path | None, quiet: bool, **reading: Any) -> None:
    """Say what a number means, how it is made, and what it leaves out; or what a rule asks.

    With a PATH, as commscope analyze takes it, also what it is in that run: values, the checks of
    trust that it rests on, the files it is from, or what was found and where it can be seen. The
    id of a finding, or a check such as Q1, needs a PATH.
    """
    check_output(output, reading["paths"], reading["config"])
    metric, rule = metric_named(what), _rule_named(what)
    if not reading["paths"]:
        if metric is None and rule is None:
            raise _unknown(what)
        _show_alone(metric, rule, style, output)
        return
    report = analyze_as_set(quiet=quiet, **reading)
    if metric is not None:
        explained = explain_metric(metric, report)
        draw = functools.partial(print_explained, explained)
        emit(explained.to_dict, draw, style, output)
    else:
        _show_rule(what, rule, report, style, output)


def _show_alone(
    metric: Metric | None, rule: AnyRule | None, style: str | None, output: Path | None
) -> None:
    if metric is not None:
        draw = functools.partial(print_metric, metric)
        emit(lambda: metric_dict(metric), draw, style, output)
    elif rule is not None:
        emit(lambda: rule_dict(rule), functools.partial(print_rule, rule), style, output)


def _show_rule(
    what: str, rule: AnyRule | None, report: Report, style: str | None, output: Path | None
) -> None:
    """A rule, a finding or a check of trust in the run."""
    found = findings_of(report, what)
    check = _check_named(report, what)
    rule = rule or (_rule_named(found[0].rule) if found else None)
    if rule is None and check is None:
        raise _unknown(what, [one.id for one in report.findings])
    looked = None if rule is None else looked_of(report.looked, rule.id)

    def document() -> dict[str, Any]:
        run = {
            "result": looked and looked.result,
            "says": looked and looked.says,
            "check": check and check_dict(check),
            "findings": [finding_dict(one) for one in found],
        }
        return {**({} if rule is None else rule_dict(rule)), "run": run}

    def draw(console: Console) -> None:
        if rule is not None:
            print_rule(rule, console)
        _print_outcome(looked, check, console)
        for one in found:
            print_finding(one, console)

    emit(document, draw, style, output)


def _print_outcome(looked: Looked | None, check: Check | None, console: Console) -> None:
    if looked is not None:
        print_looked(looked, console)
    if check is not None:
        print_check(check, console)


def _rule_named(wanted: str) -> AnyRule | None:
    name = wanted.strip().casefold()
    return next((rule for rule in every_rule() if rule.id.casefold() == name), None)


def _check_named(report: Report, wanted: str) -> Check | None:
    name = wanted.strip().casefold()
    return next((one for one in report.trust.checks if one.rule.casefold() == name), None)


def _unknown(what: str, findings: Sequence[str] = ()) -> UsageError:
    metrics = ", ".join(metric.name for metric in METRICS)
    rules = ", ".join(rule.id for rule in every_rule())
    found = f"; findings of this run: {', '.join(findings)}" if findings else ""
    return UsageError(f"no metric or rule {what}: metrics are {metrics}; rules are {rules}{found}")
