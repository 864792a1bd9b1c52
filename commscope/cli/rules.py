"""``commscope rules``: what commscope looks for, and from which threshold on."""

from __future__ import annotations

from pathlib import Path

import click

from commscope.cli.options import FORMAT, OUTPUT
from commscope.cli.output import chosen_style, show, write
from commscope.findings.plugins import every_rule
from commscope.report.json import rule_dict
from commscope.report.text_findings import print_rules
from commscope.sanitize import json_text


@click.command(short_help="What is looked for, and from which threshold on.")
@FORMAT
@OUTPUT
def rules(style: str | None, output: Path | None) -> None:
    """List the rules: what each asks, and its thresholds."""
    if chosen_style(style, output) == "json":
        write(json_text([rule_dict(rule) for rule in every_rule()]), output)
    else:
        show(lambda console: print_rules(every_rule(), console), output)
