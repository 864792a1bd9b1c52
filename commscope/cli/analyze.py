"""``commscope analyze``: the main job."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from commscope.cli import collected
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
    Of a folder of commscope run it says how the job ended, and writes report.html, .json and .md
    into it; with options of reading, only the traces in it are read.
    """
    check_output(output, reading["paths"], reading["config"])
    peer = reading.pop("peer")
    if peer is not None:
        analyze_as_peer(peer, style, output, quiet=quiet, **reading)
        return
    more = ("instances",) if instances else ()
    width = _UNWRAPPED if quiet else PLAIN_WIDTH
    folder = collected.collected_run(reading["paths"])
    if folder is not None:
        asked = collected.report_on_run(folder, quiet=quiet)
        shown = functools.partial(collected.draw, asked, quiet=quiet, details=verbose)
        emit(lambda: collected.document(asked, more), shown, style, output, width=width)
        return
    report = analyze_as_set(quiet=quiet, **reading)

    def draw(console: Console) -> None:
        if quiet:
            print_verdict(report, console)
        else:
            print_report(report, console, details=verbose)

    emit(lambda: report.to_dict(more=more), draw, style, output, width=width)
