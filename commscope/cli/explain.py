"""``commscope explain RULE``: a rule in full."""

from __future__ import annotations

from pathlib import Path

import click

from commscope.cli.options import FORMAT, OUTPUT
from commscope.cli.output import chosen_style, show, write
from commscope.errors import UsageError
from commscope.findings.plugins import every_rule
from commscope.findings.rule import AnyRule
from commscope.report.json import rule_dict
from commscope.report.text_findings import print_rule
from commscope.sanitize import json_text


@click.command(short_help="A rule in full.")
@click.argument("rule", metavar="RULE")
@FORMAT
@OUTPUT
def explain(rule: str, style: str | None, output: Path | None) -> None:
    """Say what a rule asks, its thresholds, its advice, and where they are from."""
    found = _rule(rule)
    if chosen_style(style, output) == "json":
        write(json_text(rule_dict(found)), output)
    else:
        show(lambda console: print_rule(found, console), output)


def _rule(wanted: str) -> AnyRule:
    named = [rule for rule in every_rule() if rule.id.casefold() == wanted.strip().casefold()]
    if not named:
        ids = ", ".join(rule.id for rule in every_rule())
        raise UsageError(f"no rule {wanted}: there are {ids}")
    return named[0]
