"""``commscope rules``: what commscope looks for, and from which threshold on."""

from __future__ import annotations

from pathlib import Path

import click

from commscope.cli.options import FORMAT, OUTPUT
from commscope.cli.output import emit
from commscope.findings.plugins import every_rule
from commscope.report.json import rule_dict
from commscope.report.text_findings import print_rules


@click.command(short_help="What is looked for, and from which threshold on.")
@FORMAT
@OUTPUT
def rules(style: str | None, output: Path | None) -> None:
    """List the rules: what each asks, and its thresholds."""
    every = every_rule()
    emit(
        lambda: [rule_dict(rule) for rule in every],
        lambda console: print_rules(every, console),
        style,
        output,
    )
