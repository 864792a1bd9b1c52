"""``commscope collectives``: what ran, and at what bandwidth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commscope.api import analyze as analyze_trace
from commscope.cli.options import FORMAT, OUTPUT, QUIET, TOP, read_trace, reading_options
from commscope.cli.output import check_output, chosen_style, show, write
from commscope.report.text import print_collectives
from commscope.sanitize import json_text


@click.command(short_help="What collectives ran, and at what bandwidth.")
@reading_options
@TOP
@FORMAT
@OUTPUT
@QUIET
def collectives(
    top: int, style: str | None, output: Path | None, quiet: bool, **reading: Any
) -> None:
    """List the collectives: how long, how much hidden, waiting, transfer and bandwidth."""
    check_output(output, reading["paths"], reading["config"])
    report = analyze_trace(read_trace(quiet=quiet, **reading))
    if chosen_style(style, output) == "json":
        write(json_text(report.to_dict()["collectives"][:top]), output)
    else:
        show(lambda console: print_collectives(report, console, top), output, width=150)
