"""``commscope collectives``: what ran, and at what bandwidth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commscope.cli.options import FORMAT, OUTPUT, QUIET, TOP, reading_options
from commscope.cli.output import check_output, emit
from commscope.cli.view import analyze_in_view
from commscope.report.text_collectives import print_collectives

_SECTIONS = ("collectives", "bandwidth", "roles", "all_to_all")


@click.command(short_help="What collectives ran, and at what bandwidth.")
@reading_options
@TOP
@FORMAT
@OUTPUT
@QUIET
def collectives(
    top: int, style: str | None, output: Path | None, quiet: bool, **reading: Any
) -> None:
    """List the collectives: how long, how much hidden, waiting, transfer and bandwidth.

    Here --rank N shows only what this rank ran, and --role NAME only groups of this role; all
    ranks are matched all the same.
    """
    check_output(output, reading["paths"], reading["config"])
    report = analyze_in_view(quiet=quiet, **reading)

    def document() -> dict[str, Any]:
        whole = report.to_dict()
        return {name: whole[name][:top] for name in _SECTIONS}

    emit(
        document, lambda console: print_collectives(report, console, top), style, output, width=150
    )
