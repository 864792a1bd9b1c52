"""``commscope kernels``: which kernels took the time."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click

from commscope.api import analyze as analyze_trace
from commscope.cli.options import FORMAT, OUTPUT, QUIET, TOP, read_trace, reading_options
from commscope.cli.output import check_output, emit
from commscope.report.text import print_kernels

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

    def document() -> list[Any] | None:
        rows = report.to_dict()["kernels"]
        return None if rows is None else rows[:top]

    draw = functools.partial(print_kernels, report, top=top)
    emit(document, draw, style, output, width=_WIDTH)
