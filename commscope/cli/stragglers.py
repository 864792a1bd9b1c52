"""``commscope stragglers``: who arrived late, and who waited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commscope.cli.options import FORMAT, OUTPUT, QUIET, TOP, reading_options
from commscope.cli.output import check_output, emit
from commscope.cli.view import analyze_in_view
from commscope.report.text_across import print_stragglers

_SECTIONS = ("stragglers", "waiting", "straggler_verdicts", "imbalance", "pipeline")


@click.command(short_help="Who arrived late, and who waited.")
@reading_options
@TOP
@FORMAT
@OUTPUT
@QUIET
def stragglers(
    top: int, style: str | None, output: Path | None, quiet: bool, **reading: Any
) -> None:
    """List who arrived last at collectives, who waited for whom, and whose compute is longer.

    Here --rank N shows only what concerns this rank, and --role NAME only groups of this role;
    all ranks are matched all the same.
    """
    check_output(output, reading["paths"], reading["config"])
    report = analyze_in_view(quiet=quiet, **reading)

    def document() -> dict[str, Any]:
        whole = report.to_dict()
        return {name: whole[name][:top] for name in _SECTIONS}

    emit(document, lambda console: print_stragglers(report, console, top), style, output)
