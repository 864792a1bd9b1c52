"""``commscope gaps``: every piece of exposed communication, with its cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commscope.cli.options import FORMAT, OUTPUT, QUIET, TOP, reading_options
from commscope.cli.output import check_output, emit
from commscope.cli.reporting import THRESHOLD, analyze_as_set
from commscope.report.text_findings import print_gaps


@click.command(short_help="Why each piece of communication was exposed.")
@reading_options
@THRESHOLD
@TOP
@FORMAT
@OUTPUT
@QUIET
def gaps(top: int, style: str | None, output: Path | None, quiet: bool, **reading: Any) -> None:
    """List the overlap gaps: how long, why compute did not cover them, and what shows it."""
    check_output(output, reading["paths"], reading["config"])
    report = analyze_as_set(quiet=quiet, **reading)
    emit(
        lambda: {"gap_sums": list(report.gap_sums), "gaps": report.gaps.head(top)},
        lambda console: print_gaps(report, console, top),
        style,
        output,
        width=150,
    )
