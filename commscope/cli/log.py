"""``commscope log``: what do the logs of RCCL or NCCL say?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from commscope.cli.options import FORMAT, OUTPUT, PATHS, QUIET
from commscope.cli.output import check_output, emit
from commscope.cli.progress import reading_progress
from commscope.cli.reporting import THRESHOLD
from commscope.config import find_config
from commscope.engine.job_files import load_job_files
from commscope.engine.quotes import texts_of
from commscope.findings.limits import parse_limits, require_known
from commscope.findings.log_rules import lines_of, with_texts
from commscope.findings.plugins import every_rule
from commscope.report.log_report import build_log_report
from commscope.report.text_log import print_log, print_log_verdict


@click.command(short_help="What the logs of RCCL or NCCL say.")
@PATHS
@THRESHOLD
@FORMAT
@OUTPUT
@QUIET
@click.option("-v", "--verbose", is_flag=True, help="All findings, with all lines and advice.")
def log(  # noqa: PLR0917 - one argument an option
    paths: Sequence[str],
    thresholds: Sequence[str],
    style: str | None,
    output: Path | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Say what the logs of RCCL or NCCL (NCCL_DEBUG=INFO) tell of the state of a job.

    PATH is a log, a job's whole output, a folder of logs (one a process), a pattern, an archive,
    or - for standard input. Read too are results of rccl-tests, records of Inspector, dumps of
    PyTorch's Flight Recorder and reports of RAS. Traces next to them are passed over.
    """
    check_output(output, paths)
    limits = {**find_config().thresholds, **parse_limits(thresholds)}
    require_known(limits, every_rule())
    with reading_progress(quiet=quiet) as progress:
        loaded, neighbors = load_job_files(paths, progress)
    report = build_log_report(loaded, neighbors, limits)
    texts = texts_of(loaded.logs, lines_of(report.findings))
    report = replace(report, findings=with_texts(report.findings, texts))

    def draw(console: Console) -> None:
        if quiet:
            print_log_verdict(report, console)
        else:
            print_log(report, console, details=verbose)

    emit(report.to_dict, draw, style, output)
