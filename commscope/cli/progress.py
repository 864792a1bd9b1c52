"""A progress bar while files are read: on standard error, on a terminal only."""

from __future__ import annotations

import sys
import time
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

from commscope.engine.reading import RunProgress, silent
from commscope.sanitize import shortened

#: Reading that takes less is not worth a bar.
PATIENCE_S = 0.5


@contextmanager
def reading_progress(*, quiet: bool) -> Iterator[RunProgress]:
    """What is to be called as files are read; it draws a bar where somebody can see it."""
    console = Console(stderr=True)
    # Not console.is_terminal: FORCE_COLOR asks for colours, not for a bar in a log file.
    if quiet or not sys.stderr.isatty() or console.is_dumb_terminal:
        yield silent
        return
    bar = _Bar(console)
    try:
        yield bar.report
    finally:
        bar.close()


class _Bar:
    """A bar that appears once reading has taken a while, and leaves nothing behind."""

    def __init__(self, console: Console) -> None:
        self._begin = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("reading", total=None)
        self._number = 1

    def report(self, file: str, number: int, files: int, done: int, total: int | None) -> None:
        """Shows how many bytes of a file have been read."""
        if number != self._number:
            self._number = number
            self._progress.reset(self._task)  # the rate is that of the new file
        name = f"{shortened(file, 40)} ({number} of {files})"
        self._progress.update(self._task, description=name, completed=done, total=total)
        if not self._progress.live.is_started and time.monotonic() > self._begin + PATIENCE_S:
            self._progress.start()

    def close(self) -> None:
        """Wipes the bar off the terminal."""
        self._progress.stop()
