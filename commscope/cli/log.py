"""``commscope log``: what do the logs of RCCL or NCCL say?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from commscope.cli.options import FORMAT, OUTPUT, PATHS, QUIET
from commscope.cli.output import check_output, chosen_style, show, write
from commscope.cli.progress import reading_progress
from commscope.engine.logs import load_logs
from commscope.logs.summary import summarize
from commscope.report.text_log import print_log, print_log_verdict
from commscope.sanitize import json_text

SCHEMA = "commscope.log/1"


@click.command(short_help="What the logs of RCCL or NCCL say.")
@PATHS
@FORMAT
@OUTPUT
@QUIET
def log(paths: Sequence[str], style: str | None, output: Path | None, quiet: bool) -> None:
    """Say what the logs of RCCL or NCCL (NCCL_DEBUG=INFO) tell of the state of a job.

    PATH is a log, a job's whole output, a folder of logs (one a process), a pattern, an archive,
    or - for standard input. Traces next to the logs are passed over.
    """
    check_output(output, paths)
    with reading_progress(quiet=quiet) as progress:
        loaded = load_logs(paths, progress)
    summary = summarize(loaded.logs, loaded.notes)

    def draw(console: Console) -> None:
        (print_log_verdict if quiet else print_log)(summary, console)

    if chosen_style(style, output) == "json":
        write(json_text({"schema": SCHEMA, **summary.to_dict()}), output)
    else:
        show(draw, output)
