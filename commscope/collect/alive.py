"""A sign of life for whoever watches the folder of a run: a job may write nothing for days."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

EVERY_S = 300.0


@contextlib.contextmanager
def signs_of_life(path: Path | None, every_s: float = EVERY_S) -> Iterator[None]:
    """Meanwhile the file is shown to be in use, without a change to it or to when it was written.

    This takes a thread: a file server that hangs must not hold up the signals of a job.
    """
    if path is None:
        yield
        return
    over = threading.Event()
    threading.Thread(target=_show, args=(path, over, every_s), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _show(path: Path, over: threading.Event, every_s: float) -> None:
    while not over.wait(every_s):
        with contextlib.suppress(OSError):
            was = path.stat()
            os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
