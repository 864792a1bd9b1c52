"""A progress bar while files are read: on standard error, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from commscope.engine.load import Progress as Report
from commscope.engine.load import silent
from commscope.sanitize import shortened


@contextmanager
def reading_progress(*, quiet: bool) -> Iterator[Report]:
    """What is to be called as files are read; it draws a bar where somebody can see it."""
    console = Console(file=sys.stderr)
    if quiet or not console.is_terminal:
        yield silent
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("reading", total=None)

        def report(file: str, number: int, files: int, done: int, total: int | None) -> None:
            name = f"{shortened(file, 40)} ({number} of {files})"
            bar.update(task, description=name, completed=done, total=total)

        yield report
