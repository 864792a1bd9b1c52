"""``commscope kernels``: which kernels took the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commscope.api import analyze as analyze_trace
from commscope.cli.options import FORMAT, OUTPUT, QUIET, TOP, read_trace, reading_options
from commscope.cli.output import check_output, chosen_style, show, write
from commscope.report.text import print_kernels
from commscope.sanitize import json_text

#: Names of kernels are long: a file or a pipe gets more of them than of a report.
_WIDTH = 160


@click.command(short_help="Which kernels took most time.")
@reading_options
@TOP
@FORMAT
@OUTPUT
@QUIET
def kernels(
    top: int, style: str | None, output: Path | None, quiet: bool, **reading: Any
) -> None:  # fmt: skip
    """List the kernels and copies that took most time."""
    check_output(output, reading["paths"], reading["config"])
    report = analyze_trace(read_trace(quiet=quiet, **reading))
    if chosen_style(style, output) == "json":
        rows = report.to_dict()["kernels"]
        write(json_text(None if rows is None else rows[:top]), output)
    else:
        show(lambda console: print_kernels(report, console, top), output, width=_WIDTH)
