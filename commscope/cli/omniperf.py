"""``commscope omniperf``: what do hardware counters say of kernels?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from commscope.cli.options import FORMAT, OUTPUT, PATHS, QUIET, TOP
from commscope.cli.output import check_output, emit
from commscope.cli.progress import reading_progress
from commscope.counters import kernel_counters
from commscope.engine.counters import load_counters
from commscope.report.counters_json import counters_dict
from commscope.report.text_counters import print_counters, print_counters_verdict


@click.command(short_help="What hardware counters say of kernels.")
@PATHS
@TOP
@FORMAT
@OUTPUT
@QUIET
def omniperf(
    paths: Sequence[str], top: int, style: str | None, output: Path | None, quiet: bool
) -> None:
    """Say where kernels stand against the roofline, by hardware counters of AMD's profilers.

    PATH is the folder of a profile of omniperf or rocprof-compute (workloads/NAME/GPU), a database
    of rocprof-compute, what rocprofv3 --pmc wrote (csv, JSON or rocpd; of several passes the folder
    around them), a csv of rocprof, a folder or archive of these, or a pattern. Traces next to them
    are passed over.
    """
    check_output(output, paths)
    with reading_progress(quiet=quiet) as progress:
        loaded = load_counters(paths, progress)
    kernels = kernel_counters(loaded.tables)

    def draw(console: Console) -> None:
        if quiet:
            print_counters_verdict(loaded, kernels, console)
        else:
            print_counters(loaded, kernels, top, console)

    emit(lambda: counters_dict(loaded, kernels), draw, style, output)
