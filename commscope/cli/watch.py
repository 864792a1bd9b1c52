"""``commscope watch``: reports on runs as they end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from commscope.cli.options import QUIET
from commscope.sanitize import plain

_GRACE_S = 8.0
_FAILED = 1


@click.command(short_help="A report on every run that appears in a folder, once it is finished.")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--once", is_flag=True, help="Look once, then end: for cron and epilogs of Slurm.")
@click.option(
    "--interval", "interval_s", type=click.FloatRange(0.1, 86_400), default=30.0,
    show_default=True, metavar="S", help="Seconds between looks.",
)  # fmt: skip
@click.option(
    "--settle", "settle_s", type=click.FloatRange(0, 86_400), default=60.0,
    show_default=True, metavar="S", help="Seconds without a change after which files are finished.",
)  # fmt: skip
@click.option(
    "--lost", "lost_s", type=click.FloatRange(0, 31_536_000), default=1800.0,
    show_default=True, metavar="S",
    help="Seconds without a sign of life after which a job has died, or a copy has stopped.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
    help="Write reports here, not beside the runs: one folder a run.",
)  # fmt: skip
@QUIET
def watch(
    *,
    folder: Path,
    once: bool,
    interval_s: float,
    settle_s: float,
    lost_s: float,
    output: Path | None,
    quiet: bool,
) -> int:
    """Write report.html, report.json and report.md for every finished run in DIR.

    A run is a folder of commscope run, or any other folder in DIR that holds traces. It is
    finished when commscope run says so, or when nothing was written to it for a while and no trace
    is half written. A job under commscope run gives a sign of life every five minutes: one that
    says nothing for longer than --lost has died, and a half written trace that is older than that
    is not waited for. Of a run that cannot be analysed report.error says
    why. What has a report is left alone until its files change, whoever wrote the report.

    With --once the exit code is 1 where a run could not be analysed this time.
    """
    # What analyses takes a while to import.
    from commscope.automation.pause import until_told  # noqa: PLC0415
    from commscope.automation.watch import watch as watch_runs  # noqa: PLC0415

    def say(line: str) -> None:
        if not quiet:
            click.echo(plain(line))
            sys.stdout.flush()

    with until_told(_GRACE_S) as pause:
        came = watch_runs(
            folder, once=once, output=output, settle_s=settle_s, lost_s=lost_s,
            interval_s=interval_s, say=say, pause=pause,
        )  # fmt: skip
    if once:
        _say_waiting(came.waiting)
    return _FAILED if once and came.failed else 0


def _say_waiting(waiting: Sequence[str]) -> None:
    for name in waiting:
        click.echo(plain(f"not finished: {name}"), err=True)
