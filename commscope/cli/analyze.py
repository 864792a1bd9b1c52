"""``commscope analyze``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from commscope.cli.as_peer import AS, analyze_as_peer
from commscope.cli.options import FORMAT, OUTPUT, QUIET, reading_options
from commscope.cli.output import PLAIN_WIDTH, check_output, emit
from commscope.cli.reporting import THRESHOLD, analyze_as_set
from commscope.report.text import print_report, print_verdict

#: A script that asks for the verdict alone gets it in one line.
_UNWRAPPED = 10_000


@click.command(short_help="Which communication was exposed, and why.")
@reading_options
@THRESHOLD
@FORMAT
@OUTPUT
@QUIET
@AS
@click.option("--instances", is_flag=True, help="With JSON, also every matched collective.")
@click.option("-v", "--verbose", is_flag=True, help="All checks of trust, longer tables.")
def analyze(
    style: str | None,
    output: Path | None,
    quiet: bool,
    instances: bool,
    verbose: bool,
    **reading: Any,
) -> None:
    """Say which communication was exposed, step by step and rank by rank.

    PATH is a trace, a folder of them (one a rank), a pattern, an archive, or - for standard input.
    """
    check_output(output, reading["paths"], reading["config"])
    peer = reading.pop("peer")
    if peer is not None:
        analyze_as_peer(peer, style, output, quiet=quiet, **reading)
        return
    report = analyze_as_set(quiet=quiet, **reading)

    def draw(console: Console) -> None:
        if quiet:
            print_verdict(report, console)
        else:
            print_report(report, console, details=verbose)

    more = ("instances",) if instances else ()
    width = _UNWRAPPED if quiet else PLAIN_WIDTH
    emit(lambda: report.to_dict(more=more), draw, style, output, width=width)
